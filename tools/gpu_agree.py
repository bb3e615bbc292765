#!/usr/bin/env python3
"""Make the launches of a manifest on the GPU, a process each, and count agreement by kind.

  gpu_agree.py PTXVET LAUNCHES.launch [--jobs N] [--out RESULTS.jsonl] [--seconds S]
  gpu_agree.py PTXVET --again RESULTS.jsonl [--ptx DIR]      predict again; no GPU is needed

LAUNCHES.launch is what gpu_launches.py writes: a comment above each launch names what was changed.
--again holds today's predictions against results that a GPU gave before. Exit status 0 when every
prediction agrees.
"""
import argparse, collections, concurrent.futures, json, os, subprocess, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu_rows


def read(path):
    what = ""
    with open(path) as f:
        for line in f:
            line = line.strip()
            if line.startswith("#"):
                what = line[1:].strip()
            elif ": " in line:
                ptx, launch = line.split(": ", 1)
                yield {"what": what, "path": ptx, "line": launch}


def launch_once(row, options, folder, deadline):
    if time.time() > deadline:
        return None
    status, launch, said, seconds = gpu_rows.run(options.ptxvet, os.path.join(folder, row["path"]), row["line"],
                                                 [f"--timeout={options.timeout}", *options.option])
    launch = launch or {}
    return {**row, "status": status, "actual": gpu_rows.answer(launch, "actual"),
            "predicted": gpu_rows.answer(launch, "predicted"),
            "also": (launch.get("predicted") or {}).get("also", []), "agrees": launch.get("agrees"),
            "confidence": (launch.get("predicted") or {}).get("confidence"), "verdict": launch.get("verdict"),
            "driver": launch.get("driver"), "said": said, "seconds": round(seconds, 3)}


def predict_again(row, options):
    line = row["line"]
    regs = (row.get("driver") or {}).get("regs")
    if regs is not None and " regs=" not in line:
        line += f" regs={regs}"
    r = subprocess.run([options.ptxvet, "launch", os.path.join(options.ptx, row["path"]), line, "--gpu", "h200",
                        "--driver", "580.159.04", "--format", "json", *options.option],
                       capture_output=True, text=True, errors="replace")
    try:
        launch = json.loads(r.stdout)["files"][0]["launches"][0]
    except (ValueError, KeyError, IndexError):
        launch = {}
    actual, predicted = tuple(row["actual"]), gpu_rows.answer(launch, "predicted")
    also = (launch.get("predicted") or {}).get("also", [])
    agrees = predicted == actual or actual[0] == "run" and actual[1] in also
    if predicted and predicted[1] is None:
        agrees = None
    return {**row, "predicted": predicted, "also": also, "agrees": agrees}


def report(rows, show):
    rows = [r for r in rows if r["actual"]]
    judged = [r for r in rows if r["agrees"] is not None]
    good = sum(r["agrees"] for r in judged)
    false_alarms = sum(1 for r in judged if not r["agrees"] and tuple(r["actual"])[1] == "CUDA_SUCCESS")
    print(f"{good} of {len(judged)} as the driver answered ({100 * good / max(len(judged), 1):.2f} %), "
          f"{false_alarms} false alarms, {len(rows) - len(judged)} not predicted (too few arguments)")
    tuples = lambda r, k: tuple(r[k]) if r[k] else None
    print("predicted and actual")
    for line in gpu_rows.table(collections.Counter((tuples(r, "predicted"), tuples(r, "actual")) for r in judged), ""):
        print(line)
    bad = collections.defaultdict(list)
    for r in judged:
        if not r["agrees"]:
            bad[tuples(r, "predicted"), tuples(r, "actual")].append(r)
    for key, group in sorted(bad.items(), key=lambda item: -len(item[1])):
        print(f"{len(group)} predicted {key[0]}, actual {key[1]}: "
              + ", ".join(sorted({r["what"] for r in group}))[:300])
        for r in group[:show]:
            print(f"  {r['path']}: {r['line']}")
    return len(judged) - good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxvet")
    parser.add_argument("launches", nargs="?")
    parser.add_argument("--again")
    parser.add_argument("--ptx", default=".")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no launch after this time")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--option", action="append", default=[], help="one more for ptxvet")
    parser.add_argument("--out")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.again:
            with open(options.again) as f:
                rows = [r for r in map(json.loads, f) if r["actual"]]
            rows = list(pool.map(lambda r: predict_again(r, options), rows))
        else:
            deadline, folder = time.time() + options.seconds, os.path.dirname(options.launches)
            todo = list(read(options.launches))
            out = open(options.out, "a") if options.out else None
            rows = []
            for row in pool.map(lambda r: launch_once(r, options, folder, deadline), todo):
                if row is None:
                    continue
                rows.append(row)
                if out:
                    out.write(json.dumps(row) + "\n")
                    out.flush()
            lost = [r for r in rows if not r["actual"]]
            print(f"{len(todo)} launches, {len(rows)} made, {len(lost)} without an answer")
            for r in lost[:10]:
                print(f"  {r['path']}: {r['line']}\n    {r['said']}")
    return int(report(rows, options.show) > 0)


if __name__ == "__main__":
    sys.exit(main())
