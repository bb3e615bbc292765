#!/bin/sh
# Holds #include lines against the one-way dependencies of ARCHITECTURE.md.
# Each row: a folder, and what it may include besides itself and the C library.
set -eu
status=0
check() {
    folder=$1 allowed=$2
    for file in $(find "$folder" -name '*.[ch]' -o -name '*.re' -o -name '*.def'); do
        for included in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
            good=no
            for prefix in $allowed; do
                case $included in "$prefix"/*) good=yes ;; esac
            done
            if [ $good = no ]; then
                echo "$file includes $included; $folder may use: $allowed"
                status=1
            fi
        done
    done
}
check base "base"
check isa "isa base"
check findings "findings base"
check lexer "lexer base"
check parser "parser lexer isa findings base"
check analyzer "analyzer parser isa findings base"
check reports "reports findings base"
check driver "driver analyzer parser isa findings base"
check include "ptxvet"
check library "library reports analyzer parser lexer isa findings base ptxvet"
check cli "cli library driver reports analyzer parser lexer isa findings base ptxvet"
for file in analyzer/facts/*.[ch] analyzer/facts/dryrun/*.[ch]; do
    if grep -n 'finding_add\|#include "analyzer/rules/\|#include "analyzer/launch/' "$file"; then
        echo "$file: facts compute and never report"
        status=1
    fi
done
[ $status -eq 0 ] && echo "folders depend one way"
exit $status
