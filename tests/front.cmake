# The front end against the assembler, where it is found.
ptxvet_script_test(front.probes ${Python3_EXECUTABLE} tests/front/probe.py)
# A few of the cases; all of them by hand: python3 tests/front/work.py
ptxvet_script_test(front.work ${Python3_EXECUTABLE} tests/front/work.py blocks members quotes)
