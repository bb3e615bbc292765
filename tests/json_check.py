#!/usr/bin/env python3
"""What the program writes as JSON, held against docs/ptxvet.schema.json.

  json_check.py            by python3-jsonschema; skipped (77) where it is missing
  json_check.py structure  by a small reader of the schema here; always runs
"""
import json, os, subprocess, sys

PTXVET = os.environ["PTXVET"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPTQ = "corpus/triton2/gptq.ptx"
CALL = "(u8[8MiB], u8[512KiB], u8[64KiB], u8[16KiB], u8[64KiB], 4096)"
COMMANDS = [
    ["check", "corpus"], ["check", "-", "--stdin-filename", "x\xe9.ptx"], ["info", "corpus"],
    ["check", "no/such/file.ptx"], ["launch", GPTQ, "gptq<<<16384, 1024, 512>>>" + CALL],
    ["launch", GPTQ, "gptq<<<16384, 128, 512>>>" + CALL, "--gpu", "h200"],
    ["info", "corpus/triton/gptq_b1024.ptx", "--requires"],
    ["info", GPTQ, "--launch", "gptq<<<64, 128, 512>>>(ptr, ptr, ptr, ptr, ptr, 4096)"],
    ["launch", GPTQ, "nosuch<<<1, 1>>>"], ["launch", GPTQ, "gptq<<<"],
]
BROKEN = b'.version 8.0\n.target sm_80\n.address_size 64\n.entry k() { add.s32 %r1, "\xff\xfe", \x01; }\n'


def documents():
    for command in COMMANDS:
        done = subprocess.run([PTXVET, *command, "--format", "json"], cwd=ROOT, input=BROKEN,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode not in (0, 1, 2):
            sys.exit(f"{command}: exit {done.returncode}")
        try:
            yield command, json.loads(done.stdout.decode("utf-8")), done.returncode
        except ValueError as error:
            sys.exit(f"{command}: no JSON: {error}: {done.stdout[:200]!r} {done.stderr[:200]!r}")


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}


def fits(value, schema, root, path):
    """-> list of what does not fit; the keywords that the schema uses, and no others"""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].split("/")[-1]], root, path)
    known = {"$schema", "$defs", "title", "type", "properties", "required", "additionalProperties", "items",
             "anyOf", "enum", "const", "minimum", "minItems", "maxItems", "pattern"}
    assert set(schema) <= known, set(schema) - known
    if "anyOf" in schema:
        tries = [fits(value, s, root, path) for s in schema["anyOf"]]
        return [] if any(not t for t in tries) else min(tries, key=len)
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        return [f"{path}: {value!r}"]
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(isinstance(value, TYPES[n]) and not (n in ("integer", "number") and isinstance(value, bool))
                   for n in names):
            return [f"{path}: {value!r} is none of {names}"]
    import re
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        return [f"{path}: {value!r} does not match {schema['pattern']}"]
    bad = []
    if isinstance(value, (int, float)) and value < schema.get("minimum", value):
        bad.append(f"{path}: {value} is below {schema['minimum']}")
    if isinstance(value, dict) and "properties" in schema:
        bad += [f"{path}: {k} is missing" for k in schema["required"] if k not in value]
        bad += [f"{path}: {k} is not in the schema" for k in value if k not in schema["properties"]]
        for k, v in value.items():
            bad += fits(v, schema["properties"].get(k, {}), root, f"{path}.{k}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            bad.append(f"{path}: {len(value)} items")
        for i, v in enumerate(value):
            bad += fits(v, schema.get("items", {}), root, f"{path}[{i}]")
    return bad


def consistent(command, document):
    """what a schema cannot say: the summary counts the findings"""
    found = []
    for f in document["files"]:
        found += f.get("findings", [])
        for launch in f.get("launches", []):
            found += launch["findings"]
    for word in ("error", "warning", "note"):
        n = sum(x["severity"] == word for x in found)
        assert n == document["summary"][word + "s"], (command, word, n, document["summary"])


def main():
    with open(os.path.join(ROOT, "docs", "ptxvet.schema.json")) as f:
        schema = json.load(f)
    structure, n, findings = "structure" in sys.argv, 0, 0
    if not structure:
        try:
            import jsonschema
        except ImportError:
            print("skipped: python3-jsonschema is not installed")
            return 77
        jsonschema.Draft202012Validator.check_schema(schema) if hasattr(jsonschema, "Draft202012Validator") else None
    for command, document, _ in documents():
        if structure:
            bad = fits(document, schema, schema, "$")
        else:
            validator = getattr(jsonschema, "Draft202012Validator", jsonschema.Draft7Validator)(schema)
            bad = [f"{list(e.path)}: {e.message[:200]}" for e in validator.iter_errors(document)]
        if bad:
            print(command, *bad[:10], sep="\n  ")
            return 1
        consistent(command, document)
        n += 1
        findings += sum(document["summary"].values())
    assert findings > 5, "the commands are meant to find something"
    print(f"{n} documents, {findings} findings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
