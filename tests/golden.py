#!/usr/bin/env python3
"""Runs the examples in case files, documentation and rule pages, and compares what is printed.

  golden.py [--bless] FILE|FOLDER...

A `.case` file is a list of examples; in a `.md` file they stand in fences marked `console`. An
example is a line `$ COMMAND` (run by sh in the repository's root, `ptxvet` being the program under
test), what it prints (stdout and stderr together), and, when the exit status is not 0, a last line
`[exit N]`. A line `...` stands for any number of lines. `--bless` rewrites the expected text.
Environment: PTXVET, the program's path. Exit status 0, 1 (a difference), 77 (nothing to run).
"""
import difflib, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, tools):
    env = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"], NO_COLOR="1", COLUMNS="100",
               LC_ALL="C.UTF-8")
    for name in ("CI", "GITHUB_ACTIONS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        env.pop(name, None)
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines + ([f"[exit {done.returncode}]"] if done.returncode else [])


def agrees(want, got):
    if "..." not in want:
        return want == got
    pattern = "".join("(?:.*\n)*" if w == "..." else re.escape(w) + "\n" for w in want)
    return re.fullmatch(pattern, "".join(g + "\n" for g in got)) is not None


def blocks(path, lines):
    """-> (first, last) line ranges that hold examples"""
    if not path.endswith(".md"):
        return [(0, len(lines))]
    found, start = [], None
    for i, line in enumerate(lines):
        if start is None and re.match(r"```console\b", line):
            start = i + 1
        elif start is not None and line.startswith("```"):
            found.append((start, i))
            start = None
    return found


def check(path, bless, tools):
    with open(path) as f:
        lines = f.read().splitlines()
    result, at, ran, bad = [], 0, 0, 0
    for first, last in blocks(path, lines):
        result += lines[at:first]
        at = i = first
        while i < last:
            if not lines[i].startswith("$ "):
                result.append(lines[i])
                i += 1
                continue
            command, j = lines[i][2:], i + 1
            while command.endswith("\\") and j < last:
                command = command[:-1] + lines[j].lstrip("> ")
                j += 1
            head = lines[i:j]
            i = j
            while i < last and not lines[i].startswith(("$ ", "# ")):
                i += 1
            end = i
            while end > j and lines[end - 1] == "":
                end -= 1
            want, got = lines[j:end], run(command, tools)
            while got and got[-1] == "":
                got.pop()
            ran += 1
            if not agrees(want, got):
                bad += 1
                if not bless:
                    print(f"{path}: $ {command}")
                    print("\n".join(difflib.unified_diff(want, got, "expected", "printed", lineterm="")))
            result += head + (got if bless and not agrees(want, got) else want) + lines[end:i]
        at = last
    result += lines[at:]
    if bless and bad:
        with open(path, "w") as f:
            f.write("\n".join(result) + "\n")
    return ran, bad


def main():
    args = [a for a in sys.argv[1:] if a != "--bless"]
    bless = "--bless" in sys.argv
    files = []
    for a in args:
        if os.path.isdir(a):
            files += sorted(os.path.join(d, f) for d, _, fs in os.walk(a) for f in fs
                            if f.endswith((".case", ".md")))
        elif os.path.exists(a):
            files.append(a)
    with tempfile.TemporaryDirectory() as tools:
        os.symlink(os.path.abspath(os.environ.get("PTXVET", "build/dev/ptxvet")), os.path.join(tools, "ptxvet"))
        counts = [check(f, bless, tools) for f in files]
    ran, bad = sum(c[0] for c in counts), sum(c[1] for c in counts)
    print(f"{ran} examples, {bad} differ" + (" (rewritten)" if bless and bad else ""))
    return 77 if not ran else int(bad > 0 and not bless)


if __name__ == "__main__":
    sys.exit(main())
