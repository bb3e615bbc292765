"""Launches as rows: what the driver answered once, and the launch line that says it again.

A row is the JSON of facts/driver (its README names the fields): a kernel, dimensions, arguments,
and `out`, what the driver answered by phase.
"""
import json, os, subprocess, time

PHASES = (("load", "load"), ("get", "get-function"), ("set_optin", "set-attribute"),
          ("set_nonportable", "set-attribute"), ("launch", "launch"), ("sync", "run"))


def low_bit(n, most=256):
    return min(n & -n, most) if n else most


def argument(arg):
    """An argument of a row in the launch language; None when it has no words for it."""
    kind, value = arg[0], arg[1] if len(arg) > 1 else 0
    if kind == "buf":
        offset = arg[2] if len(arg) > 2 else 0
        return f"u8[{value - offset}]" + (f"@{low_bit(offset)}" if offset else "")
    if kind in ("guard", "guard_start"):
        return f"u8[{max(value, 16)}]@{low_bit(max(value, 16))}=0"
    if kind == "guardoff":
        return f"u8[{value}]@{low_bit((arg[2] - value) % 16, 16)}=0"
    if kind in ("null", "host"):
        return kind
    if kind == "bytes":
        return f"bytes[{value}]"
    if kind == "trunc32":
        return "0x7a000000"
    if kind in ("u32", "u64", "i32", "i64", "i8", "i16", "f32"):
        return f"{kind}({value})"
    return None


def launch_line(row, regs=False):
    args = [argument(a) for a in row["args"] or []]
    if None in args:
        return None
    triple = lambda d: "(" + ",".join(map(str, d)) + ")"
    line = f"{row['entry']}<<<{triple(row['grid'])}, {triple(row['block'])}, {row['smem']}>>>({', '.join(args)})"
    if row.get("cluster"):
        line += f" cluster={triple(row['cluster'])}"
    if row.get("optin") is not None:
        line += f" optin={row['optin']}"
    if row.get("coop"):
        line += " cooperative"
    if row.get("nonportable"):
        line += " nonportable"
    if "extra" in row:
        line += f" packed={row['extra']}"
    if row.get("pack") == "extra":
        line += " packed"
    known = row["out"].get("attrs", {}).get("regs")
    return line + (f" regs={known}" if regs and known is not None else "")


def recorded(out):
    """-> phase, result"""
    if out.get("hang"):
        return "run", "HANG"
    for key, phase in PHASES:
        if key in out and out[key] != "CUDA_SUCCESS":
            return phase, out[key]
    return "run", "CUDA_SUCCESS"


def row_name(row):
    return row.get("id") or f"{row.get('kernel')}/{row.get('variant')}"


def text_file(folder, text):
    """The path of a file that holds the text of a row."""
    import hashlib
    path = os.path.join(folder, hashlib.sha1(text.encode()).hexdigest()[:16] + ".ptx")
    if not os.path.exists(path):
        with open(path, "w", newline="") as f:
            f.write(text)
    return path


def run(exe, path, line, options=(), timeout=120):
    """-> exit status, the launch object or None, what else was said, seconds"""
    start = time.time()
    try:
        r = subprocess.run([exe, "run", path, line, "--format", "json", *options],
                           capture_output=True, text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        return 124, None, "no answer in time", time.time() - start
    try:
        launch = json.loads(r.stdout)["files"][0]["launches"][0]
    except (ValueError, KeyError, IndexError, TypeError):
        launch = None
    return r.returncode, launch, (r.stderr or "")[-300:], time.time() - start


def answer(launch, key):
    """-> phase, result of `predicted` or `actual`; None when it is not there"""
    part = (launch or {}).get(key)
    return (part["phase"], part["result"]) if part else None


def table(counts, head):
    """Lines of a table: what was predicted or recorded, what happened, how often."""
    for (left, right), n in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        mark = " " if left == right else "*"
        show = lambda x: "no answer" if x is None else f"{x[0]}: {x[1]}"
        yield f"{mark} {n:6}  {show(left):45} {show(right)}"
