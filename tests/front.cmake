# The front end against the assembler, where it is found.
ptxvet_script_test(front.probes ${Python3_EXECUTABLE} tests/front/probe.py)
