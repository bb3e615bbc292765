#!/usr/bin/env python3
"""The program as its users meet it: cli_test.py NAME runs one group. Exit status 0, 1, 77 (skipped)."""
import json, os, re, resource, shutil, subprocess, sys, tempfile, time
import xml.etree.ElementTree as xml

PTXVET = os.path.abspath(os.environ["PTXVET"])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = HEAD + ".visible .entry k()\n{\n\tret;\n}\n"
BAD = HEAD + ".visible .entry k()\n{\n\t.reg .b32 %r<4>;\n\tmov.b32 %r1, %r9;\n\tret;\n}\n"


class Skip(Exception):
    pass


def run(*args, stdin=b"", cwd=None, env=None, check=None):
    whole = {k: v for k, v in os.environ.items()
             if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS")}
    whole.update(TERM="xterm", LC_ALL="C.UTF-8", **(env or {}))
    done = subprocess.run([PTXVET, *map(str, args)], input=stdin, cwd=cwd, env=whole, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if check is not None:
        assert done.returncode == check, (args, done.returncode, out[-500:], err[-500:])
    return done.returncode, out, err


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w" if isinstance(text, str) else "wb") as f:
        f.write(text)
    return path


def test_exit(d):
    good, bad = write(d, "good.ptx", GOOD), write(d, "bad.ptx", BAD)
    run(good, check=0)
    run("check", good, check=0)
    run(bad, check=1)
    run(bad, "--exit-zero", check=0)
    run(good, bad, check=1)
    run(good, os.path.join(d, "none.ptx"), check=2)
    run(bad, os.path.join(d, "none.ptx"), check=2)
    run("check", check=2)
    run("--no-such-option", good, check=2)
    run("--format", "nosuch", good, check=2)
    run("--fail-on", "sometimes", good, check=2)
    run("--gpu", "no such gpu", good, check=2)
    run("--select", "PTX77", good, check=2)
    run("-j0", good, check=2)
    run("-j1", good, check=0)
    run("-j", "2", good, check=0)
    run("--version", check=0)
    run("-", stdin=BAD.encode(), check=1)
    _, out, _ = run("-f", "concise", "-", "--stdin-filename", "sub/x.ptx", stdin=BAD.encode(), check=1)
    assert out.startswith("sub/x.ptx:7:"), out
    # Anything readable is judged: what is no PTX is an error finding, not trouble.
    for data in (b"", b"\0", b"hello\n", b"\x7fELF", bytes(range(256)), BAD.encode("utf-16")):
        status, out, _ = run("-f", "json", "-", stdin=data)
        assert status == 1 and json.loads(out)["summary"]["errors"] > 0, (data, status, out)
    _, out, err = run(good, check=0)
    assert out == "" and err == "", (out, err)
    run("check", d, "-q", check=1)
    assert run("check", d, "-q")[2] == ""


def test_help(d):
    _, out, _ = run("--help", check=0)
    commands = re.findall(r"^  (\w+) ", out.split("Commands")[1].split("Examples")[0], re.M)
    assert {"check", "info", "launch", "run", "explain", "rules", "gpus"} <= set(commands), commands
    for command in commands:
        _, out, _ = run(command, "--help", check=0)
        assert "Usage: ptxvet " + command in out and "Examples" in out, out
        assert all(len(line) <= 100 for line in out.splitlines()), max(out.splitlines(), key=len)
        assert run("help", command, check=0)[1] == out
    # Every option of the help is taken, and only these.
    for command in commands:
        options = re.findall(r"--[a-z][a-z-]+", run(command, "--help")[1].split("What is", 1)[-1])
        for option in set(options):
            _, _, err = run(command, option, check=None)
            assert "unknown option" not in err and "has no option" not in err, (command, option, err)
    assert "did you mean --format" in run("--formt", "x", check=2)[2]
    run("help", "nosuch", check=2)


def test_pages(d):
    """the man page and completions, by the tools that read them"""
    tried = []
    man = write(d, "ptxvet.1", run("help", "man", check=0)[1])
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", man], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, MANWIDTH="80", LC_ALL="C.UTF-8"))
        assert done.returncode == 0 and done.stderr == b"", done.stderr
        assert b"--write-baseline" in done.stdout
        tried.append("man")
    bash = write(d, "ptxvet.bash", run("help", "bash", check=0)[1])
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", bash], check=True)
        tried.append("shellcheck")
    script = f"source {bash}; COMP_WORDS=(ptxvet launch --ho); COMP_CWORD=2; _ptxvet; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split() == [b"--host"], done.stdout
    for shell, flag in (("zsh", "-n"), ("fish", "--no-execute")):
        page = write(d, "ptxvet." + shell, run("help", shell, check=0)[1])
        if shutil.which(shell):
            subprocess.run([shell, flag, page], check=True)
            tried.append(shell)
    print("read by bash and", *tried)
    if not tried:
        raise Skip("neither man nor shellcheck is here")


def test_colour(d):
    bad = write(d, "bad.ptx", BAD)
    coloured = lambda *args, **env: "\033[" in run(bad, *args, env=env)[1]
    assert not coloured()
    assert coloured("--color", "always")
    assert coloured(FORCE_COLOR="1") and coloured(CLICOLOR_FORCE="1")
    assert not coloured(FORCE_COLOR="0")
    assert not coloured(FORCE_COLOR="1", NO_COLOR="1")
    assert coloured("--color=always", NO_COLOR="1")
    assert not coloured("--color=never", FORCE_COLOR="1")
    import pty
    def in_terminal(term):
        pid, terminal = pty.fork()
        if pid == 0:
            for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CI"):
                os.environ.pop(name, None)
            os.environ["TERM"] = term
            os.execv(PTXVET, [PTXVET, bad])
        said = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            said += piece
        os.waitpid(pid, 0)
        return said
    assert b"\033[1;31merror" in in_terminal("xterm")
    assert b"\033[" not in in_terminal("dumb")
    # What a hostile file says does not steer the terminal.
    evil = write(d, "evil.ptx", BAD.replace("%r9", "\x1b[2J\u202e%r9\x9b"))
    _, out, _ = run(evil)
    assert "\x1b" not in out and "\u202e" not in out and "\x9b" not in out, repr(out)


def test_text(d):
    long = "\t" + " " * 3000 + "mov.b32 %r1, %r9;" + " " * 3000 + "\n"
    path = write(d, "t.ptx", BAD.replace("\tmov.b32 %r1, %r9;\n", "\t// 漢字 é\tx\n" + long))
    _, out, _ = run("launch", path, "漢字é<<<1, %%>>>()")
    path = write(d, "t.launch", "\tlet\t漢字 é = %r9\n")
    _, out, _ = run("launch", path, check=1)
    lines = out.splitlines()
    shown = next(i for i, l in enumerate(lines) if "漢字" in l)
    # The carets stand below the register: tabs are kept, wide characters take two columns.
    def column(text):
        columns = 0
        for c in text:
            columns += 8 - columns % 8 if c == "\t" else 2 if ord(c) > 0x2e80 else 1
        return columns
    first, last = lines[shown + 1].index("^"), lines[shown + 1].rindex("^") + 1
    marked = column(lines[shown + 1][:first]), column(lines[shown + 1][:last])
    starts = [column(lines[shown][:i]) for i in range(len(lines[shown]) + 1)]
    assert marked[0] in starts and marked[1] in starts, "\n".join(lines[shown:shown + 2])
    path = write(d, "t.ptx", BAD.replace("\tmov.b32 %r1, %r9;\n", long))
    _, out, _ = run(path, check=1)
    lines = out.splitlines()
    assert all(len(l) < 200 for l in lines), max(map(len, lines))
    assert any("..." in l and "%r9" in l for l in lines)


def test_outputs(d):
    bad, out = write(d, "bad.ptx", BAD), os.path.join(d, "out")
    os.mkdir(out)
    names = ["text", "concise", "json", "sarif", "github", "junit", "gitlab", "html"]
    args = [x for n in names for x in ("-o", f"{n}:{out}/{n}")]
    run(bad, *args, check=1)
    assert sorted(os.listdir(out)) == sorted(names)
    for n in names:
        with open(os.path.join(out, n)) as f:
            kept = f.read()
        assert kept == run(bad, "-f", n)[1], n
    mask = os.umask(0)
    os.umask(mask)
    assert os.stat(os.path.join(out, "json")).st_mode & 0o777 == 0o666 & ~mask
    # No half-written reports, and the old one stays where a new one cannot be written.
    if os.path.exists("/dev/full"):
        run(bad, "-o", "json:/dev/full", check=2)
        with open("/dev/full", "w") as full:
            done = subprocess.run([PTXVET, bad], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2 and b"cannot write standard output" in done.stderr, done
    run(bad, "-o", f"json:{d}/none/x", check=2)
    run(bad, "-o", f"json:{d}", check=2)
    run(bad, "-o", "nosuch:x", check=2)
    run(bad, "-o", "json", check=2)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([PTXVET, bad], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 2 and b"cannot write standard output" in done.stderr, done
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    target = write(d, "kept/report.json", "old\n")
    done = subprocess.run([PTXVET, bad, "-q", "-o", f"json:{target}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, preexec_fn=small)
    assert done.returncode == 2, done
    with open(target) as f:
        assert f.read() == "old\n"
    assert os.listdir(os.path.dirname(target)) == ["report.json"]


def test_selection(d):
    bad = write(d, "bad.ptx", BAD)
    codes = lambda *args: re.findall(r"\[(PTX\d+)\]", run(bad, "-f", "concise", *args)[1])
    all_codes = codes()
    assert len(all_codes) >= 1
    code = all_codes[0]
    assert codes("--ignore", code[:5]) == [] and codes("--select", "PTX99") == []
    assert codes("--select", code) == [code] and codes("--select", "PTX10") == []
    assert codes("--select", "PTX10", "--extend-select", code) == [code]
    assert codes("--ignore", "all", "--extend-select", code) == [code]
    run(bad, "--severity", f"{code}=warning", check=0)
    run(bad, "--severity", f"{code}=warning", "--fail-on", "warning", check=1)
    run(bad, "--severity", f"{code}=loud", check=2)
    run(bad, "--severity", f"{code}=off", check=0)


def test_suppression(d):
    line = "\tmov.b32 %r1, %r9;\n"
    code = re.search(r"PTX\d+", run("-", "-f", "concise", stdin=BAD.encode())[1]).group()
    def codes(text):
        return re.findall(r"\[(PTX\d+)\]", run("-", "-f", "concise", stdin=text.encode())[1])
    assert codes(BAD.replace(line, line[:-1] + f" // ptxvet: ignore[{code}] on purpose\n")) == []
    assert codes(BAD.replace(line, f"\t// ptxvet: ignore[{code}] on purpose\n" + line)) == []
    assert codes(BAD.replace(line, f"\t// ptxvet: ignore[{code}]\n\n\t// more\n" + line)) == []
    assert codes(f"// ptxvet: ignore-file[{code[:5]}] all\n" + BAD) == []
    assert codes(GOOD + f"// ptxvet: ignore[{code}] nothing here\n") == ["PTX1001"]
    assert codes(GOOD + "// ptxvet: ignore[PTX9999] nothing here\n") == ["PTX1012"]
    assert codes(GOOD + "// ptxvet: ignore everything\n") == ["PTX1012"]
    assert codes(GOOD + "// ptxvet-launch: k<<<1, 1>>>()\n") == []
    other = "PTX0101" if code != "PTX0101" else "PTX0102"
    assert sorted(codes(BAD.replace(line, f"\t// ptxvet: ignore[{other}]\n" + line))) == sorted([code, "PTX1001"])


def test_baseline(d):
    write(d, ".git/HEAD", "")
    path = write(d, "k.ptx", BAD.replace("\tret;", "\tbra $L__BB0_7;\n\tret;"))
    run("k.ptx", "--write-baseline", "base.json", cwd=d, check=0)
    run("k.ptx", "--baseline", "base.json", cwd=d, check=0)
    with open(path) as f:
        text = f.read()
    write(d, "k.ptx", "\n\n" + text.replace("%r9", "%r99").replace("BB0_7", "BB0_12").replace("\tmov", "    mov"))
    run("k.ptx", "--baseline", "base.json", cwd=d, check=0)
    os.mkdir(os.path.join(d, "sub"))
    run("../k.ptx", "--baseline", "../base.json", cwd=os.path.join(d, "sub"), check=0)
    write(d, "k.ptx", text.replace("\tret;", "\tmov.b32 %r1, %r77;\n\tret;"))
    run("k.ptx", "--baseline", "base.json", cwd=d, check=1)  # one more of the same kind is new
    write(d, "k.ptx", GOOD)
    run("k.ptx", "--baseline", "base.json", "--prune-baseline", cwd=d, check=0)
    with open(os.path.join(d, "base.json")) as f:
        assert json.load(f)["findings"] == []
    run("k.ptx", "--baseline", "none.json", cwd=d, check=2)
    write(d, "wrong.json", "[]")
    run("k.ptx", "--baseline", "wrong.json", cwd=d, check=2)
    run("k.ptx", "--prune-baseline", cwd=d, check=2)


def test_config(d):
    write(d, "a/bad.ptx", BAD)
    write(d, "a/b/bad.ptx", BAD)
    write(d, "a/build/bad.ptx", BAD)
    write(d, "a/.ptxvet.yaml", "exclude: [build]\nformat: concise\n")
    _, out, _ = run("a", cwd=d, check=1)
    assert out.count("error[") == out.count("\n") and "build" not in out, out
    run("a/build/bad.ptx", cwd=d, check=1)
    run("a/build/bad.ptx", "--force-exclude", cwd=d, check=0)
    write(d, "a/b/.ptxvet.yaml", "ignore: all\n")
    _, out, _ = run("a", cwd=d, check=1)
    assert "a/bad.ptx" in out and "a/b/" not in out
    run("a/b", cwd=d, check=0)
    run("a/b", "--no-config", cwd=d, check=1)
    run("bad.ptx", cwd=os.path.join(d, "a/b"), check=0)
    run("--config", "a/b/.ptxvet.yaml", "a/bad.ptx", cwd=d, check=0)
    shown = run("--show-config", "a", cwd=d, check=0)[1]
    assert 'exclude: ["build"]  # from the configuration' in shown, shown
    for text, what in (("selct: [x]\n", "did you mean `select`"), ("select: [\n", ":"), ("- a\n", "mapping"),
                       ("fail-on: loud\n", "must be one of"), ("help: true\n", "unknown key"),
                       ("format: [text]\n", "one value"), ("exit-zero: maybe\n", "true or false"),
                       ("ignore: PTX99\n", "names no rule"), ("gpu: nosuch\n", "unknown GPU")):
        write(d, "c/.ptxvet.yaml", text)
        write(d, "c/good.ptx", GOOD)
        _, _, err = run("c/good.ptx", cwd=d, check=2)
        assert what in err and "c/.ptxvet.yaml" in err, (text, err)
    write(d, "c/.ptxvet.yaml", "severity:\n  all: warning\nfail-on: warning\n")
    run("c/good.ptx", cwd=d, check=0)
    write(d, "c/.ptxvet.yaml", "")
    run("c/good.ptx", cwd=d, check=0)


def test_folders(d):
    write(d, "x/a.ptx", GOOD)
    write(d, "x/y/b.ptx", BAD)
    write(d, "x/y/c.txt", BAD)
    write(d, "x/.hidden/d.ptx", BAD)
    doc = json.loads(run("x", "-f", "json", cwd=d, check=1)[1])
    assert [f["path"] for f in doc["files"]] == ["x/a.ptx", "x/y/b.ptx"]
    many = os.path.join(d, "many")
    for i in range(300):
        write(many, f"{i:03}.ptx", BAD if i % 7 == 0 else GOOD)
    one, two = run(many, "-j1", check=1), run(many, "-j4", check=1)
    assert one == two
    assert one[1].count("error[") == 43


def sixteen_bit_hash(text):
    """primaryLocationLineHash of each line, straight from its definition"""
    units = []
    for i, c in enumerate(text):
        if c in " \t" or c == "\n" and i and text[i - 1] == "\r":
            continue
        b = ("\n" if c == "\r" else c).encode("utf-16-le")
        units += [int.from_bytes(b[k:k + 2], "little") for k in range(0, len(b), 2)]
    units.append(65535)
    starts = [0] + [i + 1 for i, u in enumerate(units) if u == 10]
    units += [0] * 100
    seen, result = {}, []
    for s in starts:
        h = 0
        for u in units[s:s + 100]:
            h = (h * 37 + u) % (1 << 64)
        key = f"{h:x}"
        seen[key] = seen.get(key, 0) + 1
        result.append(f"{key}:{seen[key]}")
    return result


def sarif_of(text):
    return json.loads(run("-", "-f", "sarif", "--stdin-filename", "k \xe9.ptx", stdin=text.encode())[1])


def test_sarif(d):
    text = BAD.replace("\tmov.b32 %r1, %r9;\n", "\tmov.b32 %r1, %r9;\n" * 3 + "\r\n \r\n") + "// 𝕏é\n"
    doc = sarif_of(text)
    assert doc["version"] == "2.1.0" and len(doc["runs"]) == 1
    one = doc["runs"][0]
    assert one["columnKind"] == "utf16CodeUnits"
    rules = {r["id"] for r in one["tool"]["driver"]["rules"]}
    hashes, lines = sixteen_bit_hash(text), text.split("\n")
    marked = []
    for r in one["results"]:
        assert r["ruleId"] in rules and r["level"] in ("error", "warning", "note") and r["message"]["text"]
        where = r["locations"][0]["physicalLocation"]
        assert where["artifactLocation"]["uri"].endswith("k%20%C3%A9.ptx"), where
        region = where["region"]
        assert r["partialFingerprints"]["primaryLocationLineHash"] == hashes[region["startLine"] - 1]
        units = lines[region["startLine"] - 1].encode("utf-16-le")
        marked.append(units[2 * region["startColumn"] - 2:2 * region["endColumn"] - 2].decode("utf-16-le"))
    assert marked == ["%r9", "𝕏é"], marked
    clean = sarif_of(GOOD)["runs"][0]
    assert clean["results"] == [] and clean["tool"]["driver"]["rules"] == []


def test_sarif_tool(d):
    """the SARIF multitool of npm: found as an installed package, or by SARIF_MULTITOOL"""
    tool = os.environ.get("SARIF_MULTITOOL") or shutil.which("sarif") or shutil.which("sarif-multitool")
    if not tool:
        raise Skip("the SARIF multitool is not installed (npm install @microsoft/sarif-multitool)")
    path = write(d, "bad.ptx", BAD)
    report, found = os.path.join(d, "r.sarif"), os.path.join(d, "v.sarif")
    run(path, "-o", f"sarif:{report}", check=1)
    done = subprocess.run([tool, "validate", report, "--output", found, "--log", "ForceOverwrite"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert os.path.exists(found), done.stdout.decode()
    with open(found, encoding="utf-8-sig") as f:
        errors = [r for r in json.load(f)["runs"][0].get("results", []) if r.get("level", "warning") == "error"]
    assert not errors, errors[:3]


def test_junit(d):
    write(d, "bad.ptx", BAD.replace("%r9", "%r9<&\"'\x01"))
    write(d, "good.ptx", GOOD)
    _, out, _ = run(".", "-f", "junit", cwd=d, check=1)
    root = xml.fromstring(out)
    assert root.tag == "testsuites"
    for suite in root:
        cases, failures = suite.findall("testcase"), suite.findall("testcase/failure")
        assert int(suite.get("tests")) == len(cases) >= 1, suite.attrib
        assert int(suite.get("failures")) == len({id(c) for c in cases if c.find("failure") is not None})
    assert [len(s.findall("testcase/failure")) > 0 for s in root] == [True, False]


def test_junit_schema(d):
    if not shutil.which("xmllint"):
        raise Skip("xmllint is not installed")
    write(d, "bad.ptx", BAD)
    write(d, "good.ptx", GOOD)
    run(".", "no.ptx", "-o", "junit:r.xml", cwd=d, check=2)
    schema = os.environ.get("JUNIT_XSD") or os.path.join(ROOT, "tests", "junit.xsd")
    done = subprocess.run(["xmllint", "--noout", "--schema", schema, "r.xml"], cwd=d, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()


def test_gitlab(d):
    text = BAD.replace("\tmov.b32 %r1, %r9;\n", "".join(f"\tmov.b32 %r1, %r{i};\n" for i in (9, 10, 11)))
    write(d, ".git/HEAD", "")
    write(d, "sub/bad.ptx", text)
    issues = json.loads(run("bad.ptx", "-f", "gitlab", cwd=os.path.join(d, "sub"), check=1)[1])
    assert len({i["fingerprint"] for i in issues}) == len(issues) >= 3
    for i in issues:
        assert i["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert i["location"]["path"] == "sub/bad.ptx" and i["location"]["lines"]["begin"] >= 1
        assert i["check_name"] and i["description"]
    assert json.loads(run("-", "-f", "gitlab", stdin=GOOD.encode(), check=0)[1]) == []


def test_github(d):
    write(d, "a,b:c.ptx", BAD)
    _, out, _ = run("a,b:c.ptx", "-f", "github", cwd=d, check=1)
    for line in out.splitlines():
        m = re.fullmatch(r"::(error|warning|notice) file=a%2Cb%3Ac\.ptx,line=(\d+),endLine=\d+"
                         r"(,col=\d+,endColumn=\d+)?,title=PTX\d+ [a-z0-9-]+::(.+)", line)
        assert m, line
    assert out


def test_many(d):
    """10,000 findings in one file: every format within a second, and valid"""
    body = "".join(f"\tmov.b32 %r1, %r{i + 9};\n" for i in range(10000))
    path = write(d, "many.ptx", BAD.replace("\tmov.b32 %r1, %r9;\n", body))
    slack = float(os.environ.get("PTXVET_SLACK", 1))  # of builds without optimisation, with sanitizers
    for name in ("text", "concise", "json", "sarif", "github", "junit", "gitlab", "html"):
        best = 99
        for _ in range(2):  # processor time, since tests share their machine
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            _, out, _ = run(path, "-f", name, "-q", check=1)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"{name}: {best:.2f} s, {len(out)} bytes")
        counts = {"text": lambda: out.count("error[PTX"), "concise": lambda: out.count("\n"),
                  "json": lambda: json.loads(out)["summary"]["errors"],
                  "sarif": lambda: len(json.loads(out)["runs"][0]["results"]),
                  "github": lambda: out.count("::error "), "gitlab": lambda: len(json.loads(out)),
                  "junit": lambda: len(xml.fromstring(out).findall(".//failure")),
                  "html": lambda: out.count('<article class="finding error">')}
        assert counts[name]() == 10000, (name, counts[name]())
        assert best < 1 * slack, (name, best)
    # SARIF holds at most 25,000 results in all.
    for i in range(2):
        write(d, f"more{i}.ptx", BAD.replace("\tmov.b32 %r1, %r9;\n", body))
    run_ = json.loads(run(d, "-f", "sarif", check=1)[1])["runs"][0]
    assert len(run_["results"]) == 25000
    assert "5000 more" in run_["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_limits(d):
    path = write(d, "k.ptx", BAD.replace("\tret;", "".join(f"\tmov.b32 %r1, %r{i};\n" for i in range(9, 60)) + "\tret;"))
    doc = json.loads(run(path, "-f", "json", "--max-findings", "10", check=1)[1])
    assert len(doc["files"][0]["findings"]) == 10
    assert "more finding" in run(path, "--max-findings", "10", check=1)[2]
    big = write(d, "big.ptx", HEAD + ".visible .entry k()\n{\n" + "\t.reg .b32 a0;\n" * 0 +
                "".join(f"\t.reg .b32 n{i};\n" for i in range(200000)) + "\tret;\n}\n")
    _, _, err = run(big, "--memory-limit", "1", check=2)
    assert "--memory-limit" in err, err


def test_html(d):
    path = write(d, "bad.ptx", BAD.replace("%r9", "%r9</pre><script>alert(1)</script>"))
    _, out, _ = run(path, "-f", "html", check=1)
    assert out.startswith("<!DOCTYPE html>") and out.rstrip().endswith("</html>")
    assert "<script" not in out and "http://" not in out and "https://" not in out and "url(" not in out
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        raise Skip("no chromium: the page was looked at as text only")
    report = write(d, "r.html", out)
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=400,900",
                           f"--user-data-dir={d}/profile", "--dump-dom", "file://" + report],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    dom = done.stdout.decode("utf-8", "replace")
    assert 'class="finding error"' in dom and "ptxvet report" in dom, dom[:300]


def test_precommit(d):
    if not shutil.which("pre-commit"):
        raise Skip("pre-commit is not installed")
    path = write(d, "repo/bad.ptx", BAD)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=os.path.dirname(path), check=True)
    done = subprocess.run(["pre-commit", "try-repo", ROOT, "ptxvet-system", "--files", "bad.ptx"],
                          cwd=os.path.dirname(path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, PATH=os.path.dirname(PTXVET) + os.pathsep + os.environ["PATH"],
                                   PRE_COMMIT_HOME=os.path.join(d, "home")), timeout=300)
    assert done.returncode == 1 and b"error[PTX" in done.stdout, done.stdout.decode()


def main():
    tests = {n[5:]: f for n, f in globals().items() if n.startswith("test_")}
    if sys.argv[1:] == ["list"]:
        print(*tests, sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as d:
        try:
            tests[sys.argv[1]](os.path.realpath(d))
        except Skip as why:
            print("skipped:", why)
            return 77
    print("as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
