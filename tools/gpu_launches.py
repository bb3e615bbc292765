#!/usr/bin/env python3
"""Make launches of kernels whose right launch is known: right ones, and the neighbourhood of every
rule, at its limit and across it.

  gpu_launches.py PTXVET RIGHT.launch [--count N] [--seed S] [--pairs SHARE] > LAUNCHES.launch

RIGHT.launch is a manifest of right launches (`path.ptx: LAUNCH`). What each kernel needs is asked of
ptxvet itself: `info` for its directives and parameters, `launch` for how much of each buffer it
touches. Each line of the output is a launch, under a comment that names what was changed. The
launches are dealt evenly over kinds of change and kernels; SHARE of them have two changes at once.
"""
import argparse, collections, json, os, random, re, subprocess, sys

H200_SHARED = 232448  # static + dynamic with opt-in on compute capability 9.0
H200_SMS = 132


# --- the launch as parts ------------------------------------------------------------------------

def split(text, separator=","):
    """Parts between separators outside brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == separator and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    parts.append(text[last:].strip())
    return [p for p in parts if p] if len(parts) == 1 else parts


def dimension(text):
    text = text.strip()
    if text.startswith("dim3"):
        text = text[4:]
    if text.startswith("("):
        text = text[1:-1]
    values = [int(v, 0) for v in text.split(",")]
    return values + [1] * (3 - len(values))


class Launch:
    """k<<<grid, block, shared>>>(args) tail"""

    def __init__(self, text):
        m = re.match(r"\s*([^<\s]+)\s*<<<(.*?)>>>\s*(.*)$", text)
        chevrons = split(m.group(2))
        self.kernel, self.grid, self.block = m.group(1), dimension(chevrons[0]), dimension(chevrons[1])
        self.shared = int(chevrons[2], 0) if len(chevrons) > 2 else 0
        rest, depth, end = m.group(3), 0, 0
        for i, c in enumerate(rest):
            depth += (c == "(") - (c == ")")
            if depth == 0:
                end = i
                break
        self.args = split(rest[1:end])
        self.tail = rest[end + 1:].split()

    def copy(self):
        other = Launch.__new__(Launch)
        other.__dict__ = {k: list(v) if isinstance(v, list) else v for k, v in self.__dict__.items()}
        return other

    def word(self, name):
        for w in self.tail:
            if w.split("=")[0] == name:
                return w.split("=", 1)[1] if "=" in w else ""
        return None

    def set_word(self, name, value=None):
        self.tail = [w for w in self.tail if w.split("=")[0] != name]
        if value is not False:
            self.tail.append(name if value is None else f"{name}={value}")

    def __str__(self):
        triple = lambda d: "(" + ",".join(map(str, d)) + ")"
        head = f"{self.kernel}<<<{triple(self.grid)}, {triple(self.block)}, {self.shared}>>>"
        return f"{head}({', '.join(self.args)}) {' '.join(self.tail)}".rstrip()


BUFFER = re.compile(r"^(?:(\w+)=)?(\w+)\[(.+?)\](?:@(\d+))?(=.*)?$")
WIDTH = {"8": 1, "16": 2, "32": 4, "64": 8}


class Buffer:
    """type[N]@A=contents as bytes"""

    def __init__(self, text):
        m = BUFFER.match(text)
        self.ok = bool(m) and m.group(2) != "bytes" and m.group(3).isdigit()
        if self.ok:
            digits = re.sub(r"\D", "", m.group(2))
            self.size = int(m.group(3)) * WIDTH.get(digits, 1)
            self.contents = m.group(5) or ""

    def text(self, size=None, align=None):
        size = self.size if size is None else max(size, 0)
        align = align or (min(size & -size, 256) if size else 256)
        return f"u8[{size}]@{align}{self.contents}"


def number(text):
    """The integer that a scalar argument is, and how to write another in its place."""
    m = re.match(r"^((?:\w+=)?)(?:([iu]\d+)\()?(-?\d+)\)?$", text)
    if not m:
        return None, None
    kind = m.group(2)
    return int(m.group(3)), lambda v: m.group(1) + (f"{kind}({v})" if kind else str(v))


# --- changes ------------------------------------------------------------------------------------
# Each takes (launch, what is known of the kernel, random) and gives (what, changed launch) pairs.

def changed(launch, **fields):
    other = launch.copy()
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def grids(launch, known, rnd):
    for axis in range(3):
        for what, value in (("0", 0), ("plus1", launch.grid[axis] + 1), ("minus1", max(launch.grid[axis] - 1, 0)),
                            ("x2", launch.grid[axis] * 2), ("half", launch.grid[axis] // 2)):
            grid = list(launch.grid)
            grid[axis] = value
            yield f"grid.{'xyz'[axis]}.{what}", changed(launch, grid=grid)
    for axis, limit in ((0, 2147483647), (1, 65535), (2, 65535)):
        for over in (0, 1):
            if axis == 0 and not over:
                continue  # two thousand million blocks that do run
            grid = [1, 1, 1]
            grid[axis] = limit + over
            yield f"grid.{'xyz'[axis]}.limit+{over}", changed(launch, grid=grid)


def blocks(launch, known, rnd):
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    limit = known["threads"] or 1024
    for value in sorted({1, 31, 32, 33, threads // 2, threads - 1, threads + 1, threads + 32, 2 * threads,
                         4 * threads, limit - 1, limit, limit + 1, 1023, 1024, 1025, 0}):
        if value >= 0:
            yield f"block.{value - limit:+d}", changed(launch, block=[value, 1, 1])
    for block in ([1, threads, 1], [threads // 2, 2, 1], [2, threads // 2, 1], [threads // 4, 2, 2],
                  [1, 1, 64], [1, 1, 65], [2, 1, 64], [32, 32, 1], [32, 32, 2], [0, 1, 1], [1, 0, 1], [1, 1, 0]):
        yield f"block.{'x'.join(map(str, block))}", changed(launch, block=block)


def shared(launch, known, rnd):
    static, need = known["static"], known["shared_need"]
    values = {0, 1, launch.shared // 2, launch.shared - 1, launch.shared, launch.shared + 1, launch.shared - 128,
              launch.shared + 128, launch.shared + 4096, 49152 - static, 49153 - static, H200_SHARED - static,
              H200_SHARED - static + 1, 300000, 1 << 32, (1 << 32) - 1}
    if need:
        values |= {need - 129, need - 128, need - 4, need - 1, need, need + 1}
    for value in sorted(v for v in values if v >= 0):
        other = changed(launch, shared=value)
        yield f"shared.{value - launch.shared:+d}", other
        if value > 49152 - static or launch.word("optin") is not None:
            for what, optin in (("same", value), ("less", value - 1), ("most", H200_SHARED - static),
                                ("over", H200_SHARED - static + 1), ("none", None)):
                third = other.copy()
                third.set_word("optin", False if optin is None else max(optin, 0))
                yield f"shared.{value - launch.shared:+d}.optin-{what}", third


def clusters(launch, known, rnd):
    for size in ((1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 1), (8, 1, 1), (9, 1, 1), (16, 1, 1), (17, 1, 1), (1, 2, 1), (0, 1, 1)):
        for fits in (True, False):
            for free in (False, True):
                other = launch.copy()
                other.set_word("cluster", "(" + ",".join(map(str, size)) + ")")
                if free:
                    other.set_word("nonportable")
                if fits:
                    other.grid = [-(-g // max(c, 1)) * max(c, 1) for g, c in zip(launch.grid, size)]
                yield f"cluster.{'x'.join(map(str, size))}{'.fits' if fits else ''}{'.free' if free else ''}", other


def cooperative(launch, known, rnd):
    resident = (known["blocks_per_sm"] or 1) * H200_SMS
    for what, blocks_ in (("as-is", None), ("most", resident), ("over", resident + 1), ("one", 1)):
        other = launch.copy()
        other.set_word("cooperative")
        if blocks_ is not None:
            other.grid = [blocks_, 1, 1]
        yield f"cooperative.{what}", other


def buffers(launch, known, rnd):
    for i, text in enumerate(launch.args):
        buffer = Buffer(text)
        if not buffer.ok:
            continue
        need, align = known["need"].get(i, (0, 0))
        sizes = {buffer.size, buffer.size - 1, buffer.size - 4, buffer.size - 16, buffer.size // 2, buffer.size + 4, 0,
                 4, buffer.size // 4 * 3}
        if need:
            sizes |= {need, need - 1, need - 2, need - 4, need - 8, need - 16, need + 1}
        for size in sorted(s for s in sizes if s >= 0):
            yield f"arg.size.{size - (need or buffer.size):+d}", changed(launch, args=launch.args[:i] + [buffer.text(size)] + launch.args[i + 1:])
        for a in (1, 2, 4, 8, 16, 32, 128, align or 16, (align or 16) // 2 or 1):
            yield f"arg.align.{a}", changed(launch, args=launch.args[:i] + [buffer.text(align=a)] + launch.args[i + 1:])
        for other in ("null", "host", "0x1000", "ptr"):
            yield f"arg.{other}", changed(launch, args=launch.args[:i] + [other] + launch.args[i + 1:])
        j = rnd.randrange(len(launch.args))
        if Buffer(launch.args[j]).ok and j != i:
            args = list(launch.args)
            args[i], args[j] = args[j], args[i]
            yield "arg.swap", changed(launch, args=args)


def scalars(launch, known, rnd):
    for i, text in enumerate(launch.args):
        value, write = number(text)
        if value is None:
            continue
        for what, v in (("0", 0), ("1", 1), ("plus1", value + 1), ("minus1", value - 1), ("x2", value * 2),
                        ("half", value // 2), ("negative", -value), ("plus16", value + 16), ("x1000", value * 1000)):
            if -2**31 <= v < 2**31:
                yield f"scalar.{what}", changed(launch, args=launch.args[:i] + [write(v)] + launch.args[i + 1:])


def counts(launch, known, rnd):
    yield "args.none", changed(launch, args=[])
    yield "args.more", changed(launch, args=launch.args + ["null"])
    for drop in range(0, min(len(launch.args), 3) + 1):
        other = changed(launch, args=launch.args[:len(launch.args) - drop])
        other.set_word("packed")
        yield f"packed.minus{drop}", other
    end = known["param_bytes"]
    for size in (0, 1, 4, 8, end // 2, end - 8, end - 4, end - 1, end, end + 1, end + 4, end + 8, 4096):
        if size >= 0:
            other = launch.copy()
            other.set_word("packed", size)
            yield f"packed.{size - end:+d}", other


def names(launch, known, rnd):
    yield "kernel.unknown", changed(launch, kernel=launch.kernel + "_")
    other = launch.copy()
    other.set_word("pdl")
    yield "pdl", other


KINDS = (grids, blocks, shared, clusters, cooperative, buffers, scalars, counts, names)
WEIGHTS = {grids: 2, blocks: 3, shared: 3, clusters: 2, cooperative: 1, buffers: 6, scalars: 4, counts: 2, names: 0.3}


# --- what is known of a kernel ------------------------------------------------------------------

def ask(exe, *args):
    r = subprocess.run([exe, *args, "--format", "json"], capture_output=True, text=True, errors="replace")
    try:
        return json.loads(r.stdout)["files"][0]
    except (ValueError, KeyError, IndexError):
        sys.exit(f"ptxvet {' '.join(args)}: {r.stderr or 'no answer'}")


def know(exe, path, line, registers):
    launch = Launch(line)
    kernel = next((k for k in ask(exe, "info", path)["kernels"] if k["name"] == launch.kernel), None)
    if kernel is None:
        sys.exit(f"{path}: no kernel {launch.kernel}")
    regs = registers.get((os.path.basename(path), launch.kernel))
    if regs is not None:
        line += f" regs={regs}"
    judged = ask(exe, "launch", path, line, "--gpu", "h200")["launches"][0]
    bound = kernel.get("reqntid") or kernel.get("maxntid")
    known = {"threads": bound and bound[0] * bound[1] * bound[2], "static": kernel["shared"]["static"],
             "param_bytes": kernel["paramBytes"], "shared_need": 0, "need": {},
             "blocks_per_sm": (judged.get("occupancy") or {}).get("blocksPerSM")}
    for m in judged["memory"]:
        if m["param"] in ("shared", None):
            known["shared_need"] = m["sizeNeeded"] or 0
        else:
            known["need"][int(m["param"])] = (m["sizeNeeded"] or 0, m["alignNeeded"] or 0)
    return launch, known


def read_manifest(path):
    with open(path) as f:
        for line in f:
            line = line.strip()
            if line and not line.startswith("#") and ": " in line:
                ptx, launch = line.split(": ", 1)
                yield os.path.join(os.path.dirname(path), ptx), launch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxvet")
    parser.add_argument("right")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=float, default=0.15)
    parser.add_argument("--modules", help="rows with each kernel's registers (facts/driver/modules.jsonl)")
    parser.add_argument("--relative", default="", help="write paths relative to this folder")
    options = parser.parse_args()
    rnd = random.Random(options.seed)
    seen, pools = set(), collections.defaultdict(list)
    bases, registers = [], {}
    if options.modules:
        with open(options.modules) as f:
            for module in map(json.loads, f):
                for entry in module.get("entries", []):
                    registers[os.path.basename(module["file"]), entry["name"]] = entry["attrs"]["regs"]
    for path, line in read_manifest(options.right):
        launch, known = know(options.ptxvet, path, line, registers)
        if options.relative:
            path = os.path.relpath(path, options.relative)
        bases.append((path, launch, known))
        print(f"# right\n{path}: {launch}")
        seen.add((path, str(launch)))
        for kind in KINDS:
            found = list(kind(launch, known, rnd))
            rnd.shuffle(found)
            if found:
                pools[kind].append((path, known, found))
    made = len(bases)
    kinds = [k for k in KINDS if pools[k]]
    for attempt in range(options.count * 20):
        if made >= options.count:
            break
        kind = rnd.choices(kinds, [WEIGHTS[k] for k in kinds])[0]
        path, known, found = rnd.choice(pools[kind])
        what, launch = rnd.choice(found)
        if rnd.random() < options.pairs:
            more = list(rnd.choice([k for k in kinds if k is not kind])(launch, known, rnd))
            if more:
                also, launch = rnd.choice(more)
                what += "+" + also
        if (path, str(launch)) in seen:
            continue
        seen.add((path, str(launch)))
        print(f"# {what}\n{path}: {launch}")
        made += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
