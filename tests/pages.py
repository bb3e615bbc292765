#!/usr/bin/env python3
"""Holds the rule pages (docs/rules) and the table of reports' rules (docs/reports-rules.md) against the
program's own rows.

  pages.py [--bless]

Every rule has a page and every page its rule; the line under a page's title is the row's; the example
under "## Bad" raises the rule and the one under "## Good" does not; a page without examples says why
under "## No example". Every reports' rule R01 to R95 stands in the table with codes that exist and whose
rows name it. `--bless` rewrites the lines under the titles.
Environment: PTXVET, the program's path. Exit status 0 or 1.
"""
import glob, json, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.abspath(os.environ.get("PTXVET", os.path.join(ROOT, "build/dev/ptxvet")))
OURS = ("HANG", "CRASH")  # results of results.def that are no CUresults


def read_results():
    with open(os.path.join(ROOT, "findings/results.def")) as f:
        return {name: code for code, name in re.findall(r"^RESULT\((\d+), (\w+)\)", f.read(), re.M)}


def title_line(rule, numbers):
    """The line under the title: severity, confidence, prediction, reports' rules."""
    line = f"{rule['severity']}, {rule['confidence']}"
    if rule["phase"] and rule["result"] != "CUDA_SUCCESS":
        number = "" if rule["result"] in OURS else f" ({numbers[rule['result']]})"
        line += f"; {rule['phase']}: {rule['result']}{number}"
    if rule["reports"]:
        plural = "s" if len(re.findall(r"R\d+", rule["reports"])) > 1 else ""
        line += f"; reports' rule{plural} {rule['reports']}"
    return f"*{line}*"


def section(text, name):
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1) if found else None


def check_examples(rule, text):
    """What the examples print is held by tests/golden.py; here, that it shows what it is there for."""
    bad, good = section(text, "Bad"), section(text, "Good")
    if bad is None or good is None:
        if section(text, "No example") is None:
            yield "has no bad and good example, and no section that says why"
        return
    mark = f"[{rule['code']}]"
    if mark not in bad:
        yield "its bad example does not raise it"
    if mark in good:
        yield "its good example raises it"
    for part in bad, good:
        if not re.search(r"^\$ .*ptxvet", part, re.M):
            yield "an example has no command"


def check_page(rule, path, numbers, bless):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = text.split("\n")
    want = title_line(rule, numbers)
    if lines[0] != f"# {rule['code']} {rule['name']}":
        yield f"its title is `{lines[0]}`"
    if len(lines) < 3 or lines[2] != want:
        if bless and len(lines) > 2:
            lines[0], lines[2] = f"# {rule['code']} {rule['name']}", want
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines))
        else:
            yield f"the line under its title should be {want}"
    for name in ("What the driver answers", "Source"):
        if not (section(text, name) or "").strip():
            yield f"it has no section `{name}`"
    yield from check_examples(rule, text)


TABLE = os.path.join(ROOT, "docs/reports-rules.md")
ROW = re.compile(r"^(\| R(\d\d) \|.*\| )([^|]*)( \|)$", re.M)


def check_reports(rules, bless):
    named = {}
    for rule in rules:
        for number in re.findall(r"R(\d+)", rule["reports"]):
            named.setdefault(f"{int(number):02}", set()).add(rule["code"])
    with open(TABLE) as f:
        text = f.read()
    if bless:
        text = ROW.sub(lambda m: m[1] + (", ".join(sorted(named.get(m[2], []))) or "-") + m[4], text)
        with open(TABLE, "w") as f:
            f.write(text)
    rows = {m[2]: set(re.findall(r"PTX\d{4}", m[3])) for m in ROW.finditer(text)}
    for number in (f"{n:02}" for n in range(1, 96)):
        codes, want = rows.get(number, set()), named.get(number, set())
        if not codes:
            yield f"R{number} has no code in docs/reports-rules.md"
        elif codes != want:
            yield f"R{number}: the table says {sorted(codes)}, findings/rules.def {sorted(want)}"


def main():
    bless = "--bless" in sys.argv
    rules = json.loads(subprocess.run([PROGRAM, "rules", "--format", "json"], stdout=subprocess.PIPE,
                                      check=True).stdout)
    pages = {os.path.basename(p)[:-3]: p for p in glob.glob(os.path.join(ROOT, "docs/rules/PTX*.md"))}
    numbers, bad = read_results(), []
    for rule in rules:
        if rule["code"] not in pages:
            bad.append(f"{rule['code']} {rule['name']} has no page")
            continue
        bad += [f"{rule['code']}: {why}"
                for why in check_page(rule, pages[rule["code"]], numbers, bless)]
    bad += [f"{code}.md is of no rule" for code in sorted(set(pages) - {r["code"] for r in rules})]
    bad += check_reports(rules, bless)
    print("\n".join(bad + [f"{len(rules)} rules, {len(bad)} complaints"]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
