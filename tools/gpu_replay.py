#!/usr/bin/env python3
"""Make recorded launches again with `ptxvet run` and hold what happens against the record.

  gpu_replay.py PTXVET ROWS.jsonl... [--ptx DIR] [--jobs N] [--only PREFIX] [--every N] [--out FILE]
                [--seconds S]

ROWS are rows of facts/driver; --ptx is the folder that their `file` is relative to. Prints, for each
file, a table of recorded against actual and one of predicted against actual (`*` marks rows that
differ), and names every row that differs. Exit status 0 when every actual result is the recorded one.
"""
import argparse, collections, concurrent.futures, json, os, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu_rows


def make_again(row, options, folder, deadline):
    line = gpu_rows.launch_line(row, regs=True)
    if line is None or time.time() > deadline:
        return None
    path = gpu_rows.text_file(folder, row["ptx"]) if "ptx" in row else os.path.join(options.ptx, row["file"])
    kinds = {a[0] for a in row["args"] or []}
    # Rows of ordinary allocations show what those hide.
    extra = ["--memory=plain"] if kinds & {"buf"} and not kinds & {"guard", "guardoff"} else []
    timeout = row.get("timeout", 10)
    status, launch, said, seconds = gpu_rows.run(options.ptxvet, path, line,
                                                 [*extra, f"--timeout={timeout}", *options.option])
    return {"row": gpu_rows.row_name(row), "line": line, "recorded": gpu_rows.recorded(row["out"]),
            "actual": gpu_rows.answer(launch, "actual"), "predicted": gpu_rows.answer(launch, "predicted"),
            "also": ((launch or {}).get("predicted") or {}).get("also", []),
            "agrees": (launch or {}).get("agrees"), "status": status, "said": said, "seconds": seconds}


def report(name, results, show):
    differ = [r for r in results if tuple(r["recorded"]) != r["actual"]]
    print(f"== {name}: {len(results)} rows, actual equals recorded in {len(results) - len(differ)}; "
          f"predicted agrees in {sum(bool(r['agrees']) for r in results)}")
    print("recorded and actual")
    for line in gpu_rows.table(collections.Counter((tuple(r["recorded"]), r["actual"]) for r in results), ""):
        print(line)
    print("predicted and actual")
    for line in gpu_rows.table(collections.Counter((r["predicted"], r["actual"]) for r in results), ""):
        print(line)
    for r in differ[:show]:
        print(f"differs: {r['row']}: recorded {r['recorded']}, actual {r['actual']} {r['said']}\n  {r['line']}")
    for r in [r for r in results if not r["agrees"]][:show]:
        print(f"disagrees: {r['row']}: predicted {r['predicted']} also {r['also']}, actual {r['actual']}\n  {r['line']}")
    return len(differ)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxvet")
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--ptx", default=".")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no launch after this time")
    parser.add_argument("--option", action="append", default=[], help="one more for ptxvet run")
    parser.add_argument("--out", help="results, a row a line")
    options = parser.parse_args()
    deadline = time.time() + options.seconds
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in options.rows:
            with open(path) as f:
                rows = [json.loads(line) for line in f]
            rows = [r for r in rows if gpu_rows.row_name(r).startswith(options.only)][::options.every]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                results = list(pool.map(lambda r: make_again(r, options, folder, deadline), rows))
            done = [r for r in results if r]
            if len(done) < len(rows):
                print(f"{os.path.basename(path)}: {len(rows) - len(done)} rows not made again (no words for them, or no time)")
            different += report(os.path.basename(path), done, options.show)
            if options.out:
                with open(options.out, "a") as f:
                    f.writelines(json.dumps({"file": os.path.basename(path), **r}) + "\n" for r in done)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
