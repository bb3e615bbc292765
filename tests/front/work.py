#!/usr/bin/env python3
"""Nasty texts cost work in proportion to their size: instructions executed by `ptxvet check` for one and for four
times the text, counted by valgrind. A case that is quadratic comes out near 16. Skipped without valgrind."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"


def body(text):
    return HEADER + ".visible .entry k()\n{\n.reg .b32 %r<5>;\n.reg .pred %p<3>;\n" + text + "ret;\n}\n"


CASES = {
    "labels": lambda n: body("".join(f"L{i}: bra L{i};\n" for i in range(n))),
    "forward": lambda n: body("".join(f"bra L{i};\n" for i in range(n)) + "".join(f"L{i}: ret;\n" for i in range(n))),
    "blocks": lambda n: body("{ .reg .b32 %r<3>; L: bra L; mov.u32 %r1, 5;\n}\n" * n),
    "ranges": lambda n: body("".join(f".reg .b32 x{i}; .reg .b32 y{i}_<3>;\n" for i in range(n))),
    "members": lambda n: body("".join(f".reg .b32 z{i};\n" for i in range(n)) + "{ .reg .b32 z<2>; }\n" * n),
    "unknown": lambda n: body("".join(f"mov.u32 %r1, u{i};\n" for i in range(n))),
    "opcodes": lambda n: body("".join(f"mov.u32.x{i} %r1, 5;\n" for i in range(n))),
    "quotes": lambda n: body(".pragma \"x;\n" * (n | 1)),
    "comments": lambda n: body("// \x80\n" * n),
    "braces": lambda n: HEADER + ".visible .entry k() {\n" * n,
    "closes": lambda n: HEADER + "}\n" * n,
    "words": lambda n: HEADER + "x y z;\n" * n,
    "vector": lambda n: body("mov.b64 %r1, {" + ", ".join(["%r1"] * n) + "};\n"),
    "sum": lambda n: body("mov.u32 %r1, " + "+".join(["1"] * n) + ";\n"),
    "token": lambda n: body("mov.u32 %r1, " + "x" * (n * 10) + ";\n"),
    "entries": lambda n: HEADER + "".join(f".entry k{i}(.param .u32 p) {{ ret; }}\n" for i in range(n)),
    "initializer": lambda n: HEADER + f".global .u32 a[{n}] = {{" + ",".join(["1"] * n) + "};\n",
}


def count(program, text):
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(text.encode("latin-1"))
        file.flush()
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "check", "-q",
                               "-j1", file.name], capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found and done.returncode in (0, 1, 2) else None


def main():
    program = os.environ.get("PTXVET", "build/dev/ptxvet")
    if not shutil.which("valgrind"):
        print("skipped: valgrind not found")
        return 77
    names = sys.argv[1:] or list(CASES)
    base = count(program, HEADER)
    if base is None:
        print("skipped: valgrind cannot run the program")
        return 77
    wrong = 0
    for name in names:
        small, large = (count(program, CASES[name](n)) for n in (500, 2000))
        if small is None or large is None:
            print(f"{name}: did not end")
            wrong += 1
            continue
        ratio = (large - base) / max(small - base, 1)
        print(f"{name}: {small - base} and {large - base} instructions, ratio {ratio:.1f}")
        wrong += ratio > 7
    return wrong != 0


sys.exit(main())
