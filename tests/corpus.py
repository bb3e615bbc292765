#!/usr/bin/env python3
"""Judges every launch of corpus/index.tsv and holds the prediction against the answer written there.

  corpus.py [--rows FROM-TO]

Environment: PTXVET, the program's path. Exit status 0, 1 (a row differs, or a file of the corpus is in
no row of the index).
"""
import csv, json, os, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "corpus")


def predicted(row, program):
    command = [program, "launch", row["file"], row["launch"], "--format", "json", *row["options"].split()]
    done = subprocess.run(command, cwd=CORPUS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode not in (0, 1):
        return None, f"exit {done.returncode}: {done.stderr.decode().strip()}"
    launch = json.loads(done.stdout)["files"][0]["launches"][0]
    return launch, None


def differs(row, launch):
    """Why the answer is not the row's; None when it is."""
    got, want = launch["predicted"], (row["phase"], row["result"])
    if (got["phase"], got["result"]) != want:
        return f"predicted {got['phase']} {got['result']}, want {want[0]} {want[1]}"
    if want[1] == "CUDA_SUCCESS" and launch["verdict"] == "fails":
        return "a good launch has error findings: " + "; ".join(f["message"] for f in launch["findings"])
    if want[1] != "CUDA_SUCCESS" and launch["verdict"] != "fails":
        return f"verdict {launch['verdict']} for a launch that fails"
    return None


def unlisted(rows):
    listed = {row["file"] for row in rows}
    for folder, folders, files in os.walk(CORPUS):
        folders[:] = [name for name in folders if name != "rules"]  # examples of the rule pages
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), CORPUS)
            if path.endswith((".ptx", ".cubin")) and path not in listed:
                yield path


def main():
    program = os.path.abspath(os.environ.get("PTXVET", os.path.join(ROOT, "build/dev/ptxvet")))
    with open(os.path.join(CORPUS, "index.tsv"), newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    bad = 0
    for row in rows:
        launch, failure = predicted(row, program)
        why = failure or differs(row, launch)
        if why:
            bad += 1
            print(f"{row['file']}: {row['launch']}\n    {why}")
    for path in unlisted(rows):
        bad += 1
        print(f"{path}: in no row of index.tsv")
    print(f"{len(rows)} launches, {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
