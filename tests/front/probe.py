#!/usr/bin/env python3
"""The probes of probes.txt against ptxas: `probe.py` compares a sample of the stored verdicts, `--all` all of
them, `--bless` stores them.

Needs ptxas 13.0; without it the test is skipped (exit status 77)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "probes.txt")
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
KERNEL = (".visible .entry k(.param .u32 x)\n{\n.reg .b32 a,b; .reg .b64 d; .reg .pred p; .reg .b32 r<5>;\n"
          "%s\nret;\n}\n")


def unescape(text):
    return re.sub(r"\\(x[0-9a-f]{2}|.)", lambda m: {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v",
                  "\\": "\\"}.get(m[1]) or chr(int(m[1][1:], 16)), text)


def whole(kind, text):
    if kind == "body":
        return HEADER + KERNEL % text
    return HEADER + text + "\n" + KERNEL % "" if kind == "module" else text


def read():
    probes = []
    for line in open(FILE, encoding="ascii"):
        found = re.match(r"(body|module|file) (\S+): ?(.*)$", line.rstrip("\n"))
        if found:
            probes.append([found[1], found[2], found[3], None])
        elif line.startswith("= "):
            probes[-1][3] = line[2:].strip()
    return probes


def ptxas(text):
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(text.encode("latin-1"))
        file.flush()
        done = subprocess.run(["ptxas", "-arch=compute_90", file.name, "-o", "/dev/null"], capture_output=True,
                              text=True, errors="replace", check=False)
    out = done.stdout + done.stderr
    if done.returncode == 0:
        return "ok"
    if done.returncode != 255:
        return "crash"
    fatal = re.search(r"line (\d+); fatal +: (Parsing error|Missing|Constant expression|Target arch)", out)
    if fatal:
        return "syntax " + fatal[1]
    fatal = re.search(r"(non-ASCII character|EOF) encountered on line (\d+)", out)
    if fatal:
        return "syntax " + fatal[2]
    if re.search(r"Unknown symbol|Duplicate definition|forward reference", out):
        return "symbol"
    return "other"


def main():
    if not shutil.which("ptxas"):
        print("skipped: ptxas not found")
        return 77
    probes = read()
    wrong = 0
    for probe in probes if len(sys.argv) > 1 else probes[::25]:
        verdict = ptxas(whole(probe[0], unescape(probe[2])))
        if verdict != probe[3]:
            wrong += 1
            print(f"{probe[0]} {probe[1]}: ptxas says {verdict}, stored is {probe[3]}")
        probe[3] = verdict
    if "--bless" in sys.argv:
        comment = [line for line in open(FILE, encoding="ascii") if line.startswith("#")]
        with open(FILE, "w", encoding="ascii") as file:
            file.writelines(comment)
            for kind, name, text, verdict in probes:
                file.write(f"{kind} {name}: {text}\n= {verdict}\n")
        return 0
    print(f"{wrong} differ")
    return wrong != 0


sys.exit(main())
