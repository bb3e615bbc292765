#!/usr/bin/env python3
"""Predictions against what an H200 answered (driver 580.159, CUDA 13.0), for launches of the corpus.

tests/agreement/h200.jsonl: `path` (in corpus/), `line` with the registers that the driver told, `actual`
(phase, result), `what` was changed of a right launch. Made by tools/gpu_launches.py and gpu_agree.py.
Rows with `known` say why the prediction may differ; they are shown, and do not fail.
"""
import json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PTXVET = os.environ["PTXVET"]

with open(os.path.join(ROOT, "tests", "agreement", "h200.jsonl")) as f:
    rows = [json.loads(line) for line in f]
with tempfile.NamedTemporaryFile("w", suffix=".launch") as manifest:
    for row in rows:
        manifest.write(f"{os.path.join(ROOT, 'corpus', row['path'])}: {row['line']}\n")
    manifest.flush()
    r = subprocess.run([PTXVET, "launch", manifest.name, "--gpu", "h200", "--driver", "580.159.04", "--format", "json",
                        "--no-config", "--budget", "30"], capture_output=True, text=True, timeout=600)
launches = json.loads(r.stdout)["files"][0]["launches"]
bad = 0
if len(launches) != len(rows):
    sys.exit(f"{len(launches)} launches judged of {len(rows)}")
for row, launch in zip(rows, launches):
    predicted, actual = launch["predicted"], tuple(row["actual"])
    if (predicted["phase"], predicted["result"]) == actual or actual[0] == "run" and actual[1] in predicted["also"]:
        continue
    bad += "known" not in row
    print(row.get("known", ""), f"{row['what']}: predicted {predicted['phase']} {predicted['result']}, the GPU {actual}\n  {row['path']}: {row['line']}")
print(f"{len(rows) - bad} of {len(rows)} as the GPU answered")
sys.exit(bad > 0)
