#!/usr/bin/env python3
"""`ptxvet run` on a scripted libcuda (tests/fake_cuda): exit status, JSON, and what is said.

  run_fake.py FAKE_LIBCUDA
"""
import json, os, subprocess, sys, tempfile

PTXVET, FAKE = os.environ["PTXVET"], sys.argv[1]
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .b64 %a;
    .reg .b32 %r;
    ld.param.u64 %a, [p];
    ld.param.u32 %r, [n];
    st.global.u32 [%a], %r;
    ret;
}
"""
failures = []


def run(script, *args, libcuda=FAKE, command="run", fmt="json"):
    env = dict(os.environ, FAKE_CUDA=script)
    r = subprocess.run([PTXVET, command, *args, "--libcuda", libcuda, "--format", fmt, "--no-config"], env=env,
                       capture_output=True, text=True, timeout=60)
    doc = None
    if fmt == "json":
        try:
            doc = json.loads(r.stdout)
        except ValueError:
            pass
    return r, doc


def check(what, good):
    if not good:
        failures.append(what)
        print("failed:", what)


def first(doc):
    return doc["files"][0]["launches"][0]


def codes(launch):
    return [f["code"] for f in launch["findings"]]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "k.ptx")
    with open(path, "w") as f:
        f.write(PTX)
    good = "k<<<1, 32>>>(u32[16], 7)"
    layout = "params=0:8,8:4;regs=12;"

    r, doc = run(layout, path, good)
    launch = first(doc)
    check("a good launch is 0", r.returncode == 0)
    check("it agrees", launch["agrees"] is True and launch["actual"] == {"phase": "run", "result": "CUDA_SUCCESS"})
    check("the driver's registers", launch["driver"]["regs"] == 12 and launch["driver"]["device"] == "NVIDIA H200")
    check("parameters as the driver has them", launch["driver"]["params"] == [[0, 8], [8, 4]])
    check("nothing differs", codes(launch) == [])

    r, doc = run(layout + "cuCtxSynchronize#2=700", path, good)
    launch = first(doc)
    check("a disagreement is 1", r.returncode == 1 and launch["agrees"] is False)
    check("and says so", "PTX1102" in codes(launch))

    r, doc = run(layout + "cuLaunchKernel=1", path, "k<<<0, 32>>>(u32[16], 7)")
    launch = first(doc)
    check("a failure as predicted agrees", launch["agrees"] is True and "PTX1102" not in codes(launch))
    check("and is an error all the same", r.returncode == 1)

    r, doc = run(layout + "write=0:-2", path, good)
    check("canaries make an error", r.returncode == 1 and "PTX1103" in codes(first(doc)))

    r, doc = run("params=0:8,16:4;regs=12;shared=4", path, good)
    check("differences are warnings", r.returncode == 0 and codes(first(doc)).count("PTX1104") == 2)

    r, doc = run("cuModuleLoadDataEx=218;log=ptxas application ptx input|"
                 "ptxas application ptx input, line 10~ error   : Unknown symbol '%r'", path, good)
    finding = [f for f in first(doc)["findings"] if f["code"] == "PTX1101"]
    check("the JIT's log has a place", finding and finding[0]["line"] == 10 and finding[0]["column"] == 25)

    r, doc = run("cuInit=100", path, good)
    check("no device is 2", r.returncode == 2 and first(doc)["predicted"]["result"] == "CUDA_SUCCESS")
    check("with the verdict and no actual", first(doc)["actual"] is None and first(doc)["agrees"] is None)
    check("and said", "cuInit" in r.stderr or "cuInit" in json.dumps(doc))
    r, doc = run("", path, good, libcuda=os.path.join(folder, "none.so"))
    check("no driver is 2", r.returncode == 2 and first(doc)["verdict"] in ("ok", "unknown"))

    r, doc = run("cuCtxSynchronize#2=hang", path, good, "--timeout=0.3")
    check("a hang", first(doc)["actual"]["result"] == "HANG")
    r, doc = run("cuLaunchKernel=segv", path, good)
    check("a crash", first(doc)["actual"] == {"phase": "launch", "result": "CRASH"})

    r, doc = run(layout + "write=1:0", path, "k<<<1, 32>>>(u32[16])")
    launch = first(doc)
    check("too few arguments are not predicted", launch["predicted"]["result"] is None and launch["agrees"] is None)

    r, doc = run("regs=255", path, "k<<<1, 1024>>>(u32[16], 7)")
    check("registers of the driver count", first(doc)["predicted"] == {
        "phase": "launch", "result": "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "also": [],
        "confidence": first(doc)["predicted"]["confidence"]})

    r, doc = run(layout, path, "k<<<1, 32>>>(ptr, _)")
    check("what was left open is said", codes(first(doc)).count("PTX1105") == 2)

    manifest = os.path.join(folder, "all.launch")
    with open(manifest, "w") as f:
        f.write(f"k.ptx: {good}\nk.ptx: k<<<2, 32>>>(u32[16], 7)\nk.ptx: k<<<0, 1>>>(u32[16], 7)\n")
    r, doc = run(layout, manifest, fmt="text")
    check("a manifest has a table", "3 of 3 launches answered as predicted" in r.stdout)
    r, doc = run(layout + "cuLaunchKernel=701", manifest, fmt="text")
    check("a table of disagreements", r.returncode == 1 and "0 of 3 launches answered as predicted" in r.stdout)
    r, doc = run(layout, path, good, fmt="text")
    check("text says what the GPU did", "the GPU: CUDA_SUCCESS, as predicted" in r.stdout)
    check("and what the driver knows", "registers  12 per thread" in r.stdout)
    r, doc = run("print=hello;" + layout, path, good)
    check("what a kernel prints is not in the document", doc is not None)

    r, doc = run(layout, path, command="info")
    check("info without auto asks nobody", "driver" not in doc["files"][0]["kernels"][0])
    r, doc = run(layout, path, "--gpu=auto", command="info")
    check("info --gpu auto", doc["files"][0]["kernels"][0]["driver"]["regs"] == 12)
    r, doc = run("devices=0", path, "--gpu=auto", command="info")
    check("info --gpu auto without a device is 2", r.returncode == 2 and "no" in r.stderr)
    r, doc = run(layout, path, good, "--timeout=soon")
    check("a wrong option is 2", r.returncode == 2 and "timeout" in r.stderr)

print(f"{len(failures)} failures" if failures else "run agrees with its script")
sys.exit(bool(failures))
