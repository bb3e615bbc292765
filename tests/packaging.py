#!/usr/bin/env python3
"""What is installed: packaging.py install|deb|tarball. Exit status 0, 1, 77 (skipped)."""
import os, shutil, subprocess, sys, tarfile, tempfile

BUILD = os.environ["PTXVET_BUILD"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAUNCH = "gptq<<<16384, 1024, 512>>>(u8[8MiB], u8[512KiB], u8[64KiB], u8[16KiB], u8[64KiB], 4096)"
PTX = os.path.join(ROOT, "corpus", "triton2", "gptq.ptx")


def sh(*command, status=0, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, **more)
    out = done.stdout.decode("utf-8", "replace")
    assert done.returncode == status, (command, done.returncode, out[-2000:])
    return out


def sanitized():
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        return any(l.startswith("PTXVET_SANITIZE:") and l.strip().split("=", 1)[1] for l in f)


def example_answers(program, env):
    out = sh(program, PTX, LAUNCH, env=env)
    assert "error[PTX0603]" in out and "CUDA_ERROR_INVALID_VALUE in phase launch" in out, out
    assert "kernel gptq: 6 parameters" in out, out
    assert sh(program, PTX, "gptq<<<", status=2, env=env)


def test_install(d):
    if sanitized():
        print("skipped: a build with sanitizers is not installed")
        return 77
    prefix = os.path.join(d, "prefix")
    sh("cmake", "--install", BUILD, "--prefix", prefix)
    found = {os.path.join(at, f)[len(prefix) + 1:] for at, _, fs in os.walk(prefix) for f in fs}
    for end in ("bin/ptxvet", "include/ptxvet/ptxvet.h", "pkgconfig/ptxvet.pc", "ptxvetConfig.cmake", "libptxvet.so.0",
                "libptxvet.a", "man1/ptxvet.1", "completions/ptxvet", "site-functions/_ptxvet", "vendor_completions.d/ptxvet.fish"):
        assert any(f.endswith(end) for f in found), (end, sorted(found))
    lib = os.path.dirname(next(os.path.join(prefix, f) for f in found if f.endswith("libptxvet.a")))
    # Nothing but the interface is visible, in either library.
    for command in (["nm", "-D", "--defined-only", lib + "/libptxvet.so"], ["nm", "-g", "--defined-only", lib + "/libptxvet.a"]):
        names = [l.split()[-1] for l in sh(*command).splitlines() if len(l.split()) == 3]
        with open(os.path.join(prefix, "include/ptxvet/ptxvet.h")) as f:
            header = f.read()
        assert names and all(n + "(" in header for n in names), names
        assert header.count("PTXVET_API ") - 1 == len(set(names)), (sorted(names), header.count("PTXVET_API "))
    # Through pkg-config, shared and static.
    env = dict(os.environ, PKG_CONFIG_PATH=lib + "/pkgconfig", LD_LIBRARY_PATH=lib)
    source, cc = os.path.join(ROOT, "docs/example/check.c"), os.environ.get("CC", "cc")
    with open(os.path.join(lib, "pkgconfig", "ptxvet.pc")) as f:
        pc = f.read().replace(next(l for l in pc_lines(f.name) if l.startswith("prefix=")), "prefix=" + prefix)
    with open(os.path.join(lib, "pkgconfig", "ptxvet.pc"), "w") as f:
        f.write(pc)
    flags = sh("pkg-config", "--cflags", "--libs", "ptxvet", env=env).split()
    sh(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", f"{d}/shared")
    example_answers(f"{d}/shared", env)
    flags = sh("pkg-config", "--static", "--libs", "ptxvet", env=env).split()
    flags = [lib + "/libptxvet.a" if f == "-lptxvet" else f for f in flags]
    sh(cc, source, f"-I{prefix}/include", *flags, "-o", f"{d}/static")
    example_answers(f"{d}/static", dict(os.environ))
    # The header alone is C++ too.
    if shutil.which("c++"):
        with open(f"{d}/x.cc", "w") as f:
            f.write('#include <ptxvet/ptxvet.h>\nint main() { return ptxvet_version() == nullptr; }\n')
        sh("c++", "-Wall", "-Wextra", "-Werror", f"-I{prefix}/include", f"{d}/x.cc", f"-L{lib}", "-lptxvet", "-o", f"{d}/cxx")
        sh(f"{d}/cxx", env=env)
    # Through the CMake package.
    with open(f"{d}/CMakeLists.txt", "w") as f:
        f.write("cmake_minimum_required(VERSION 3.25)\nproject(example C)\nfind_package(ptxvet 0.1 REQUIRED)\n"
                f"add_executable(example {source})\ntarget_link_libraries(example PRIVATE ptxvet::ptxvet)\n")
    sh("cmake", "-S", d, "-B", f"{d}/b", f"-DCMAKE_PREFIX_PATH={prefix}")
    sh("cmake", "--build", f"{d}/b")
    example_answers(f"{d}/b/example", env)
    # Memory that is refused is a status, not an end.
    if shutil.which("valgrind"):
        sh("valgrind", "-q", "--error-exitcode=9", "--leak-check=full", f"{d}/shared", PTX, env=env)
    return 0


def pc_lines(path):
    with open(path) as f:
        return f.read().splitlines()


def test_deb(d):
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        print("skipped: dpkg-dev is not installed")
        return 77
    if sanitized():
        print("skipped: a build with sanitizers is not packaged")
        return 77
    sh("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", d)
    deb = next(os.path.join(d, f) for f in os.listdir(d) if f.endswith(".deb"))
    fields = sh("dpkg-deb", "-f", deb)
    assert "Package: ptxvet" in fields and "libc6" in fields and "libjansson4" in fields, fields
    root = os.path.join(d, "root")
    sh("dpkg-deb", "-x", deb, root)
    program = os.path.join(root, "usr/bin/ptxvet")
    out = sh(program, "launch", PTX, LAUNCH, status=1)
    assert "error[PTX0603]" in out, out
    listing = sh("dpkg-deb", "-c", deb)
    assert "./usr/share/man/man1/ptxvet.1" in listing and os.path.expanduser("~") + "/" not in listing
    return 0


def test_tarball(d):
    if not os.path.exists(os.path.join(ROOT, ".git")) or not shutil.which("git"):
        print("skipped: not a git checkout")
        return 77
    names = []
    for folder in ("a", "b"):
        os.mkdir(os.path.join(d, folder))
        names.append(sh("sh", os.path.join(ROOT, "tools/make-tarball"), os.path.join(d, folder)).strip())
    with open(names[0], "rb") as a, open(names[1], "rb") as b:
        assert a.read() == b.read()
    with tarfile.open(names[0]) as tar:
        inside = tar.getnames()
        top = inside[0].split("/")[0]
        for path in ("CMakeLists.txt", "lexer/lexer.re.h", "include/ptxvet/ptxvet.h", "docs/ptxvet.schema.json"):
            assert f"{top}/{path}" in inside, path
        assert not any(n.startswith(f"{top}/build/") for n in inside)
        tar.extractall(d)
    # It configures with neither re2c nor CMocka.
    out = sh("cmake", "-S", os.path.join(d, top), "-B", f"{d}/build", "-DBUILD_TESTING=OFF", "-DRE2C_EXECUTABLE=NOTFOUND")
    assert "error" not in out.lower(), out
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit({"install": test_install, "deb": test_deb, "tarball": test_tarball}[sys.argv[1]](folder))
