#!/usr/bin/env python3
"""Right launches of exported kernels, as a manifest for gpu_launches.py.

  gpu_right.py PTXVET FOLDER [--launches LAUNCHES.jsonl] [--each N] > RIGHT.launch

FOLDER holds PTX. Where LAUNCHES.jsonl (rows with `file`, `grid`, `args` with `kind`, `bytes` and
`value`) says how a kernel was launched, that is it. For the others a launch is made up: the block
that the PTX asks for, plausible numbers, and buffers of the size that the dry run says they need; what
ptxvet finds wrong with such a launch is not taken. --each takes at most N of a kind of file.
"""
import argparse, collections, json, os, subprocess, sys

SHARED_DEFAULT = 49152


def ask(exe, *args):
    r = subprocess.run([exe, *args, "--format", "json"], capture_output=True, text=True, errors="replace")
    try:
        return json.loads(r.stdout)["files"][0]
    except (ValueError, KeyError, IndexError):
        return None


def metadata(path):
    try:
        with open(path[:-4] + ".json") as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def low_bit(n):
    return min(n & -n, 256) if n else 256


def buffer(size, align=None):
    size = max(size, 16)
    return f"u8[{size}]@{align or low_bit(size)}=0"


def block_of(kernel):
    for key in ("reqntid", "maxntid"):
        if kernel.get(key):
            return kernel[key]
    return [128, 1, 1]


def text_of(kernel, grid, shared, args, cluster=None):
    triple = lambda d: "(" + ",".join(map(str, d)) + ")"
    line = f"{kernel['name']}<<<{triple(grid)}, {triple(block_of(kernel))}, {shared}>>>({', '.join(args)})"
    if cluster:
        line += f" cluster={triple(cluster)}"
    if shared + kernel["shared"]["static"] > SHARED_DEFAULT:
        line += f" optin={shared}"
    return line


def scalar(param, value):
    kinds = {"f32": "f32", "f64": "f64", "u8": "u8", "s8": "i8", "b8": "u8", "u16": "u16", "s16": "i16", "u64": "i64", "s64": "i64"}
    if param["kind"] == "bytes" or param["size"] not in (1, 2, 4, 8):
        return f"bytes[{param['size']}]"
    if param["kind"] == "tensormap":
        return "tensormap"
    if param["type"] in ("b16", "f16"):
        return "f16(1.5)"
    return f"{kinds.get(param['type'], {1: 'u8', 2: 'i16', 4: 'i32', 8: 'i64'}[param['size']])}({value})"


def described(arg):
    """A Triton tensor descriptor of f16: its map, then its shape and its strides."""
    shape, block = arg["shape"], arg["block"]
    box = block[:-1] + [min(block[-1], 64)]  # 128 bytes, the width of the swizzle
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    comma = lambda values: ", ".join(map(str, values))
    yield {"kind": "map", "text": f"tensormap(f16[{comma(shape)}], box=({comma(box)}), swizzle=128)"}
    for value in shape + strides:
        yield {"kind": "int", "value": value}


def known_args(kernel, row):
    """The arguments of a recorded launch, for the parameters that are the user's; the rest is null."""
    # Triton compiles an int of 1 into the kernel; past the end of the list are hidden parameters.
    args, given = [], []
    for arg in row["args"]:
        if arg["kind"] == "tensordesc":
            given += described(arg)
        elif arg["kind"] != "int" or arg["value"] != 1:
            given.append(arg)
    for param in kernel["params"]:
        arg = given.pop(0) if given else {"kind": "null"}
        if arg["kind"] == "ptr":
            args.append(buffer(arg["bytes"]))
        elif arg["kind"] == "float":
            args.append(f"f32({arg['value']})" if param["size"] == 4 else f"f64({arg['value']})")
        elif arg["kind"] == "map":
            args.append(arg["text"])
        elif arg["kind"] in ("int", "bool"):
            args.append(scalar(param, int(arg["value"])))
        else:
            args.append("null")
    return args


def made_up_args(exe, path, kernel, grid, shared, number):
    args = []
    for param in kernel["params"]:
        what = (param.get("what") or "") + (param.get("userName") or "")
        if param["role"] == "hidden" or "meminfo" in what or "parent" in what:
            args.append("null")
        elif param["kind"] == "pointer":
            args.append("ptr")
        elif param["kind"] == "tensormap":
            args.append("tensormap")
        elif "itemsize" in what or "stride" in what:
            args.append("i64(8)")
        else:
            args.append(scalar(param, 1.5 if param["type"] in ("f32", "f64") else number))
    line = text_of(kernel, grid, shared, args)
    judged = ask(exe, "launch", path, line, "--gpu", "h200")
    if not judged or not judged["launches"]:
        return None
    need = {m["param"]: m for m in judged["launches"][0]["memory"]}
    for i, arg in enumerate(args):
        if arg == "ptr":
            m = need.get(i) or need.get(str(i)) or {}
            args[i] = buffer(m.get("sizeNeeded") or 4096, None)
    return args


def right_launches(exe, path, kernel, row):
    shared = metadata(path).get("shared") or 0
    if row:
        if row["shared"] is not None:
            shared = row["shared"]
        yield text_of(kernel, row["grid"], shared, known_args(kernel, row))
        return
    for grid, number in (([4, 1, 1], 1000), ([2, 2, 1], 64), ([16, 1, 1], 4096)):
        args = made_up_args(exe, path, kernel, grid, shared, number)
        if args:
            yield text_of(kernel, grid, shared, args)


def small(line, most=64 << 20):
    import re
    return all(int(n) <= most for n in re.findall(r"u8\[(\d+)\]", line))


def acceptable(exe, path, line):
    judged = ask(exe, "launch", path, line, "--gpu", "h200")
    launch = judged and judged["launches"] and judged["launches"][0]
    return bool(launch) and small(line) and launch["predicted"]["result"] == "CUDA_SUCCESS"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxvet")
    parser.add_argument("folder")
    parser.add_argument("--launches")
    parser.add_argument("--each", type=int, default=1000)
    options = parser.parse_args()
    rows, taken = {}, collections.Counter()
    if options.launches:
        with open(options.launches) as f:
            rows = {r["file"]: r for r in map(json.loads, f) if "args" in r}
    for folder, _, names in sorted(os.walk(options.folder)):
        for name in sorted(n for n in names if n.endswith(".ptx")):
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, options.folder)
            group = os.path.dirname(relative)
            info = ask(options.ptxvet, "info", path)
            if not info or taken[group] >= options.each and relative not in rows:
                continue
            for kernel in info["kernels"][:2]:
                row = rows.get(relative)
                for line in right_launches(options.ptxvet, path, kernel, row):
                    if row or acceptable(options.ptxvet, path, line):
                        print(f"{relative}: {line}")
                        taken[group] += 1
                        break
    return 0


if __name__ == "__main__":
    sys.exit(main())
