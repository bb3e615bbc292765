#!/bin/sh
# The checked-in output of re2c is what re2c makes of its source today.
set -eu
if ! command -v re2c >/dev/null; then echo "skipped: re2c not found"; exit 77; fi
status=0
for source in $(find lexer analyzer -name '*.re'); do
    fresh=$(mktemp)
    re2c -W -Werror -b -i --no-generation-date -o "$fresh" "$source"
    # re2c names its output file nowhere with -i, so the copies are comparable as they are
    if [ "${BLESS:-}" = 1 ]; then cp "$fresh" "$source.h"; fi
    if ! cmp -s "$fresh" "$source.h"; then
        echo "$source.h is not what re2c makes of $source: run BLESS=1 sh tests/generated.sh"
        [ "$(re2c --version)" = "re2c 3.0" ] && status=1 || echo "(made with another $(re2c --version))"
    fi
    rm -f "$fresh"
done
exit $status
