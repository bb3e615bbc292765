#!/usr/bin/env python3
"""Small PTX texts, each showing one thing, with the assembler's verdict: kept as data, run as tests.

  probes.py bless FILE...            ask ptxas again and rewrite verdict, line and message
  probes.py check [-v] [--least N] FILE...   run ptxvet on each and compare (N: percent, default 98)
  probes.py show FILE NAME           print one text as it is judged

A file is tab separated, `#` lines are comments: name, frame, version, target, verdict (accept,
reject, or full: only the full compile refuses), line (0: none given), ptxas's first message, text.
In the text `\\n`, `\\t`, `\\r`, `\\0` and `\\xNN` stand for bytes. Frames (where the text is put):
  module  after the header, before an entry      (line 4)
  after   after the header and an entry          (line 5)
  params  between the parentheses of an entry    (line 4)
  perf    between an entry's header and its body (line 5)
  body    inside an entry's body                 (line 5)
  full    the text is the whole file
ptxvet is run as `check -q --format json`; an error finding is a refusal.
Environment: PTXVET, the program; PTXAS. Exit status 0, 1, or 77 (nothing to run with).
"""
import argparse, json, os, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

FRAMES = {
    "module": "{head}{text}\n.entry k() {{ ret; }}\n",
    "after": "{head}.entry k() {{ ret; }}\n{text}\n",
    "params": "{head}.entry k({text})\n{{ ret; }}\n",
    "perf": "{head}.entry k()\n{text}\n{{\nret;\n}}\n",
    "body": "{head}.entry k() {{\n{text}\nret;\n}}\n",
    "full": "{text}\n",
}
FIELDS = ("name", "frame", "version", "target", "verdict", "line", "message", "text")


def unescape(text):
    out = re.sub(r"\\x([0-9a-fA-F]{2})|\\([ntr0\\])",
                 lambda m: chr(int(m[1], 16)) if m[1] else
                 {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}[m[2]], text)
    return out


def whole(probe):
    # .address_size came with 2.3; its line stays, so that lines keep their numbers.
    sized = "" if float(probe["version"]) < 2.3 else ".address_size 64"
    head = f".version {probe['version']}\n.target {probe['target']}\n{sized}\n"
    return FRAMES[probe["frame"]].format(head=head, text=unescape(probe["text"])).encode("latin-1")


def read(path):
    probes = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                probes.append(line)
                continue
            parts = line.split("\t")
            if len(parts) != len(FIELDS):
                sys.exit(f"{path}:{number}: {len(parts)} columns, {len(FIELDS)} expected")
            probes.append(dict(zip(FIELDS, parts)))
    return probes


def gpu_of(target):
    """The -arch that a target compiles for, as a suffix: sm_50 goes to 75, the oldest left."""
    number = re.sub(r"^(sm|compute)_", "", target.split(",")[0].strip())
    digits = re.match(r"\d+", number)
    if digits is None: return "90"
    if int(digits[0]) == 101: number = number.replace("101", "110" if number != "101" else "103")
    if int(digits[0]) == 82: number = "86"
    if int(digits[0]) > 121 or digits[0] in ("91", "107"): return "90"
    return number if int(digits[0]) >= 75 else "75"


def ptxas(folder, index, probe):
    path = os.path.join(folder, f"{index}.ptx")
    with open(path, "wb") as f: f.write(whole(probe))
    gpu = gpu_of(probe["target"])
    found = {}
    for kind in ("compute", "sm"):
        done = subprocess.run([os.environ.get("PTXAS", "ptxas"), f"-arch={kind}_{gpu}", path, "-o", "/dev/null"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = [l for l in done.stdout.decode("latin-1").splitlines()
                 if re.search(r"error|fatal", l) and "aborted due to errors" not in l]
        first = re.sub(r"^ptxas\s*", "", lines[0]).replace(path, "FILE") if lines else ""
        m = re.search(r"line (\d+);\s*(?:error|fatal)\s*:\s*(.*)", first)
        found[kind] = (done.returncode, int(m[1]) if m else 0, (m[2] if m else re.sub(r"^\w+\s*:\s*", "", first)))
    if found["sm"][0] < 0 or found["sm"][0] == 139: verdict = "crash"
    elif found["sm"][0] == 0: verdict = "accept"
    else: verdict = "reject" if found["compute"][0] else "full"
    return verdict, found["sm"][1], found["sm"][2].strip().replace("\t", " ")


def bless(paths):
    for path in paths:
        probes = read(path)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            rows = [p for p in probes if isinstance(p, dict)]
            for p, answer in zip(rows, pool.map(lambda a: ptxas(folder, *a), enumerate(rows))):
                p["verdict"], p["line"], p["message"] = answer[0], str(answer[1]), answer[2]
        with open(path, "w", encoding="utf-8") as f:
            for p in probes:
                f.write((p if isinstance(p, str) else "\t".join(p[k] for k in FIELDS)) + "\n")
    return 0


def judged(folder, rows):
    """-> for each row the lines of ptxvet's error findings, in one run"""
    names = []
    for index, probe in enumerate(rows):
        names.append(os.path.join(folder, f"{index}.ptx"))
        with open(names[-1], "wb") as f: f.write(whole(probe))
    answers = {}
    for at in range(0, len(names), 200):
        done = subprocess.run([os.environ["PTXVET"], "check", "--format", "json", *names[at:at + 200]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode not in (0, 1):
            sys.exit(f"ptxvet: exit {done.returncode}\n{done.stderr.decode()[:2000]}")
        for file in json.loads(done.stdout)["files"]:
            answers[file["path"]] = file["findings"]
    return [answers[n] for n in names]


def check(paths, least, verbose):
    if not os.environ.get("PTXVET"): print("skipped: PTXVET is not set"); return 77
    total = wrong = 0
    for path in paths:
        rows = [p for p in read(path) if isinstance(p, dict) and p["verdict"] in ("accept", "reject", "full")]
        with tempfile.TemporaryDirectory() as folder:
            for probe, findings in zip(rows, judged(folder, rows)):
                errors = [f for f in findings if f["severity"] == "error"]
                # What only a linker would miss is a warning here, by design.
                linker = re.match(r"Unresolved extern|Cannot take address of function", probe["message"])
                # Versions after 9.0 exist; what is not known of them is no error.
                newer = re.match(r"Unsupported .version 9\.0?[1-5];", probe["message"])
                want = probe["verdict"] != "accept" and not linker and not newer
                total += 1
                place = want and probe["line"] != "0" and errors and \
                    int(probe["line"]) not in [f["line"] for f in errors]
                if bool(errors) != want:
                    wrong += 1
                    print(f"{os.path.basename(path)}: {probe['name']}: ptxas {probe['verdict']} "
                          f"(line {probe['line']}: {probe['message']}); ptxvet "
                          + ("; ".join(f"{f['line']}: {f['code']} {f['message']}" for f in errors[:2]) or "no error"))
                elif place and verbose:
                    print(f"{os.path.basename(path)}: {probe['name']}: line {probe['line']} ({probe['message']}), "
                          f"not {errors[0]['line']} ({errors[0]['message']})")
    share = 100.0 * (total - wrong) / total if total else 0
    print(f"{total} probes, {wrong} judged otherwise than ptxas ({share:.2f} % equal)")
    return int(share < least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("bless", "check", "show"))
    parser.add_argument("-v", action="store_true", dest="verbose")
    parser.add_argument("--least", type=float, default=98.0)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if args.command == "bless": return bless(args.files)
    if args.command == "show":
        for p in read(args.files[0]):
            if isinstance(p, dict) and p["name"] == args.files[1]: sys.stdout.buffer.write(whole(p))
        return 0
    return check(args.files, args.least, args.verbose)


if __name__ == "__main__":
    sys.exit(main())
