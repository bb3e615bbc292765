#!/usr/bin/env python3
"""ptxvet against ptxas: both judge the same files, and where they differ is said by kind.

  differential.py [options] PATH...            files and folders of .ptx
  differential.py --mutate N [options] PATH... N changed texts of each file as well (one change each)
  differential.py --tsv mutants.tsv --dir D    recorded verdicts (tools that wrote them: mutate.py)

  --full        ask `ptxas -arch=sm_NN` (what only the full compile refuses counts); default: compute_NN
  --sample N    judge N of the texts only      --seed S    for --mutate and --sample
  --shrink      reduce one example of each kind of difference to few lines
  --least P     exit 1 below P percent of equal verdicts (default 0)
  --most-false P  exit 1 above P percent of accepted texts with an error (default 100)
  --show N      examples named for each kind (default 3)   --lines  name differing error lines too

An unresolved extern is a warning of ptxvet by design: where ptxas says nothing else, both agree.
Environment: PTXVET, the program; PTXAS. Exit status 0, 1, or 77 with the reason when one is missing.
"""
import argparse, collections, json, os, random, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probes import gpu_of

BATCH = 100


# ---- the two judges -----------------------------------------------------------------------------

def arch_of(text):
    found = re.search(rb"^[^\S\n]*\.target[^\S\n]+([^\n/]+)", text, re.M)
    if not found: return "90"
    names = [n.strip() for n in found[1].decode("latin-1").split(",")]
    names = [n for n in names if re.match(r"(sm|compute)_\d", n)]
    return gpu_of(names[-1]) if names else "90"


class Verdict:
    """accepted; line (0: none) and message of the first error; unsure: an oracle that died"""
    def __init__(self, accepted, line=0, message="", unsure=False, arch=None):
        self.accepted, self.line, self.message, self.unsure = accepted, line, message, unsure
        self.arch = arch  # the architecture it was asked for, where that was recorded


LINKER = re.compile(r"Unresolved extern|Cannot take address of function")


def ptxas(path, full):
    with open(path, "rb") as f: text = f.read()
    command = [os.environ.get("PTXAS", "ptxas"), f"-arch={'sm' if full else 'compute'}_{arch_of(text)}", path,
               "-o", "/dev/null"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    except subprocess.TimeoutExpired:
        return Verdict(True, unsure=True)
    lines = [l for l in done.stdout.decode("latin-1").splitlines()
             if re.search(r"\b(error|fatal)\s*:", l) and "aborted due to errors" not in l]
    if done.returncode == 0: return Verdict(True)
    if done.returncode < 0 or done.returncode >= 128 and done.returncode != 255 or not lines:
        return Verdict(True, unsure=True)
    kept = [l for l in lines if not LINKER.search(l)]
    if not kept: return Verdict(True)
    found = re.search(r"line (\d+);\s*(?:error|fatal)\s*:\s*(.*)", kept[0])
    message = found[2] if found else re.sub(r"^ptxas\s*(error|fatal)\s*:\s*", "", kept[0])
    return Verdict(False, int(found[1]) if found else 0, message.strip())


class Ours:
    def __init__(self, findings):
        self.errors = [f for f in findings if f["severity"] == "error"]
        self.accepted = not self.errors

    def code(self):
        return self.errors[0]["code"] if self.errors else "-"


def ptxvet(paths, gpu=None):
    answers = {}
    options = ["--gpu", gpu] if gpu else []
    for at in range(0, len(paths), BATCH):
        done = subprocess.run([os.environ["PTXVET"], "check", "--format", "json", *options, *paths[at:at + BATCH]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            for file in json.loads(done.stdout)["files"]:
                answers[file["path"]] = Ours(file["findings"])
        except ValueError:
            print(f"ptxvet: exit {done.returncode}, no document for {paths[at]} ...: {done.stderr.decode()[:300]}")
    return answers


# ---- changed texts ------------------------------------------------------------------------------

TOKEN = re.compile(rb"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"|[%$\w.]+(?:::[\w.]+)*|\s+|.", re.S)


def classes(tokens):
    found = collections.defaultdict(list)
    for token in tokens:
        kind = b"." if token[:1] == b"." else b"%" if token[:1] in b"%$_" else b"0" if token[:1].isdigit() else \
            b"a" if token[:1].isalpha() else token
        if not token.isspace() and token[:2] not in (b"//", b"/*"): found[kind].append(token)
    return found


def mutate(text, rng):
    """One change: a token dropped, doubled, swapped with the next, or replaced by one of its class."""
    tokens = TOKEN.findall(text)
    places = [i for i, t in enumerate(tokens) if not t.isspace() and t[:2] not in (b"//", b"/*")]
    if len(places) < 4: return text
    i = rng.choice(places)
    way = rng.choice(("drop", "double", "swap", "replace", "replace", "part"))
    if way == "drop": tokens[i] = b""
    elif way == "double": tokens[i] = tokens[i] + b" " + tokens[i]
    elif way == "swap":
        later = [p for p in places if p > i]
        if later: tokens[i], tokens[later[0]] = tokens[later[0]], tokens[i]
    elif way == "part" and b"." in tokens[i][1:]:
        parts = tokens[i].split(b".")
        parts.pop(rng.randrange(1, len(parts)))
        tokens[i] = b".".join(parts)
    else:
        for kind, same in classes(tokens).items():
            if tokens[i] in same:
                tokens[i] = rng.choice(same)
                break
    return b"".join(tokens)


def write_mutants(paths, count, rng, folder):
    made = []
    for path in paths:
        with open(path, "rb") as f: text = f.read()
        for n in range(count):
            name = os.path.join(folder, f"{len(made)}_{os.path.basename(path)}")
            with open(name, "wb") as f: f.write(mutate(text, rng))
            made.append(name)
    return made


# ---- shrinking ----------------------------------------------------------------------------------

def differs(folder, lines, full, kind):
    path = os.path.join(folder, "shrink.ptx")
    with open(path, "wb") as f: f.write(b"\n".join(lines) + b"\n")
    ours = ptxvet([path]).get(path)
    if ours is None: return False
    oracle = ptxas(path, full)
    return not oracle.unsure and difference(oracle, ours)[:1] == kind[:1] and \
        (ours.accepted or ours.code() == kind[1]) and (oracle.accepted or message_class(oracle.message) == kind[2])


def shrink(path, full, kind, folder):
    with open(path, "rb") as f: lines = f.read().split(b"\n")
    size, tries = max(1, len(lines) // 2), 0
    while size >= 1 and tries < 300:
        at = 0
        while at < len(lines) and tries < 300:
            fewer = lines[:at] + lines[at + size:]
            tries += 1
            if differs(folder, fewer, full, kind): lines = fewer
            else: at += size
        size //= 2
    return b"\n".join(lines).decode("latin-1")


# ---- the comparison -----------------------------------------------------------------------------

def message_class(message):
    return re.sub(r"'[^']*'", "'...'", re.sub(r"\b\d[\d.x]*", "N", message))[:90]


def difference(oracle, ours):
    """-> (which way, our code, ptxas's message class), or None"""
    if oracle.accepted == ours.accepted: return None
    if oracle.accepted: return ("false error", ours.code(), ours.errors[0]["message"][:60])
    return ("missed", "-", message_class(oracle.message))


def collect(paths):
    found = []
    for path in paths:
        if os.path.isdir(path):
            found += sorted(os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if f.endswith(".ptx"))
        else: found.append(path)
    return found


def recorded(tsv, folder):
    with open(tsv, encoding="utf-8") as f:
        names = f.readline().rstrip("\n").split("\t")
        rows = [dict(zip(names, l.rstrip("\n").split("\t"))) for l in f]
    answers = {}
    for row in rows:
        path = os.path.join(folder, row["file"])
        if not os.path.exists(path) or row["verdict"] == "CRASH": continue
        accepted = row["verdict"] == "ACCEPT" or LINKER.search(row["first_error"]) is not None
        line = int(row["first_line"]) if row["first_line"].isdigit() else 0
        answers[path] = Verdict(accepted, line, row["first_error"], arch=row.get("arch"))
    return answers


def report(args, answers, ours, folder):
    groups, total, false, accepted, placed, elsewhere = collections.defaultdict(list), 0, 0, 0, 0, []
    for path, oracle in answers.items():
        if oracle.unsure or path not in ours: continue
        total += 1
        accepted += oracle.accepted
        kind = difference(oracle, ours[path])
        if kind:
            groups[kind].append(path)
            false += oracle.accepted
        elif not oracle.accepted and oracle.line:
            placed += 1
            if oracle.line not in [f["line"] for f in ours[path].errors]: elsewhere.append(path)
    for kind, paths in sorted(groups.items(), key=lambda g: -len(g[1])):
        print(f"{len(paths)} x {kind[0]}: {kind[1]} | {kind[2]}")
        for path in paths[:args.show]: print(f"    {path}")
        if args.shrink:
            text = shrink(paths[0], args.full, kind, folder)
            print("".join(f"    | {l}\n" for l in text.split("\n") if l.strip()), end="")
    if args.lines:
        for path in elsewhere[:40]:
            print(f"  line {answers[path].line}, not {ours[path].errors[0]['line']}: {path}: {answers[path].message[:60]}")
    equal = total - sum(map(len, groups.values()))
    share = 100.0 * equal / total if total else 0.0
    of_accepted = 100.0 * false / accepted if accepted else 0.0
    print(f"{total} texts, {equal} judged alike ({share:.2f} %); {accepted} accepted by ptxas, {false} with an error "
          f"here ({of_accepted:.2f} %); {placed} refused by both, {placed - len(elsewhere)} on the same line")
    return 0 if total and share >= args.least and of_accepted <= args.most_false else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--mutate", type=int, default=0)
    parser.add_argument("--tsv")
    parser.add_argument("--dir")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--least", type=float, default=0.0)
    parser.add_argument("--most-false", type=float, default=100.0)
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    if not os.environ.get("PTXVET"): print("skipped: PTXVET is not set"); return 77
    needs_ptxas = not args.tsv or args.shrink
    if needs_ptxas and not shutil.which(os.environ.get("PTXAS", "ptxas")):
        print("skipped: no ptxas here"); return 77
    paths = collect(args.paths)
    if not paths and not args.tsv: print("skipped: no files"); return 77
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        if args.tsv: answers = recorded(args.tsv, args.dir)
        else:
            if args.mutate and args.sample: paths = rng.sample(paths, min(len(paths), max(1, args.sample // args.mutate)))
            if args.mutate: paths = write_mutants(paths, args.mutate, rng, folder)
            elif args.sample: paths = rng.sample(paths, min(len(paths), args.sample))
            with ThreadPoolExecutor(2) as pool:
                answers = dict(zip(paths, pool.map(lambda p: ptxas(p, args.full), paths)))
        if args.tsv and args.sample:
            answers = dict(rng.sample(sorted(answers.items()), min(len(answers), args.sample)))
        by_arch = collections.defaultdict(list)
        for path, verdict in answers.items(): by_arch[verdict.arch].append(path)
        ours = {}
        for arch, paths in by_arch.items(): ours.update(ptxvet(paths, arch))
        return report(args, answers, ours, folder)


if __name__ == "__main__":
    sys.exit(main())
