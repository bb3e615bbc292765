#!/bin/sh
# Holds #include lines against the one-way dependencies of ARCHITECTURE.md: each folder, and what
# it may include besides the C library and other libraries.
set -eu
folders=
for folder in base isa findings lexer parser analyzer reports driver library cli include; do
    if [ -d $folder ]; then folders="$folders $folder"; fi
done
# shellcheck disable=SC2086 # the names hold no blanks
files=$(find $folders \( -name '*.[ch]' -o -name '*.re' -o -name '*.def' \) | sort)
# shellcheck disable=SC2086 # the names hold no blanks
awk '
BEGIN {
    may["base"] = "base"
    may["isa"] = "isa base"
    may["findings"] = "findings base"
    may["lexer"] = "lexer base"
    may["parser"] = "parser lexer isa findings base"
    may["analyzer"] = "analyzer parser isa findings base"
    may["reports"] = "reports findings base"
    may["driver"] = "driver analyzer parser isa findings base"
    may["include"] = "ptxvet"
    may["library"] = "library reports analyzer parser lexer isa findings base ptxvet"
    may["cli"] = "cli library driver reports analyzer parser lexer isa findings base ptxvet"
}
FNR == 1 { folder = FILENAME; sub("/.*", "", folder); facts = FILENAME ~ /^analyzer\/facts\// }
/^#include "[^"]*\// {
    split($0, quoted, "\""); split(quoted[2], part, "/")
    if (index(" " may[folder] " ", " " part[1] " ") == 0) {
        printf "%s includes %s; %s may use: %s\n", FILENAME, quoted[2], folder, may[folder]
        bad = 1
    }
}
facts && (/finding_add/ || /#include "analyzer\/(rules|launch)\//) {
    printf "%s:%d: facts compute and never report\n", FILENAME, FNR
    bad = 1
}
END { if (!bad) print "folders depend one way"; exit bad }
' $files
