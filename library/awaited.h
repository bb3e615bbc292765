// Parts of the library that may not stand yet, and what is done without them. Goes away with the
// last of them.
#ifndef PTXVET_CLI_AWAITED_H
#define PTXVET_CLI_AWAITED_H

#define HAVE_CHECK __has_include("analyzer/rules/check.c")
#define HAVE_FACTS __has_include("analyzer/facts/facts.c")
#define HAVE_JUDGE __has_include("analyzer/launch/judge.c")

#endif
