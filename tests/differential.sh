#!/bin/sh
# ptxvet against ptxas on a sample: real texts, and texts with one change each.
# Environment: PTXVET, the program; PTXVET_SHARED, the folder of sample texts.
set -eu
texts=${PTXVET_SHARED:-../shared}/ptx
[ -d "$texts/exported" ] || { echo "skipped: no sample texts ($texts)"; exit 77; }
command -v "${PTXAS:-ptxas}" >/dev/null || { echo "skipped: no ptxas"; exit 77; }
python3 tools/differential.py --sample 40 --full --least 97 --most-false 0 "$texts/exported" "$texts/public"
python3 tools/differential.py --mutate 1 --sample 80 --seed 7 --full --least 95 --most-false 8 "$texts/isa_bases" \
    "$texts/exported/numba"
