// The hash by which GitHub code scanning knows a line again: primaryLocationLineHash, as the
// fingerprints of its upload action are computed.
#ifndef PTXVET_REPORTS_LINE_HASH_H
#define PTXVET_REPORTS_LINE_HASH_H

#include "base/str.h"

struct line_hash {
    uint64_t hash;
    uint32_t count;   // how many lines up to this one have that hash
};

// One hash for each line of the text, line 1 at index 0; `count` is how many there are. Lines end
// in LF, CR or CR LF; a last line end starts one more line. Linear in the text.
struct line_hash *line_hashes(struct arena *arena, struct str text, uint32_t *count);

#endif
