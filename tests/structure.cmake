# Load checks: our own small texts with the assembler's verdicts, and, where it is found, the
# assembler itself on a sample of real texts and of changed ones.
foreach(kind header directives variables linking calls addresses sections)
  ptxvet_script_test(probes.${kind} ${Python3_EXECUTABLE} tools/probes.py check tests/probes/${kind}.tsv)
endforeach()
ptxvet_script_test(differential.sample sh tests/differential.sh)
