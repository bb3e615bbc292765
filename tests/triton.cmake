# The corpus and the rule pages, held against the program.
if(Python3_FOUND)
  ptxvet_script_test(corpus.launches ${Python3_EXECUTABLE} tests/corpus.py)
  ptxvet_script_test(docs.pages ${Python3_EXECUTABLE} tests/pages.py)
endif()
