// The least that a feature needs: a PTX version, and a set of targets.
//
// Targets are of three kinds (PTX ISA, "PTX Module Directives: .target"): `sm_N` (works from N up),
// `sm_Na` (that architecture only) and `sm_Nf` (its family). A feature of `sm_N` and up is had by
// every target whose number is N or more; an architecture-specific one only by listed targets.
#ifndef PTXVET_ISA_FLOOR_H
#define PTXVET_ISA_FLOOR_H

#include "base/str.h"

struct isa_floor {
    uint16_t version;      // 10 * major + minor
    uint16_t target;       // least number; 0 when only listed targets have it
    uint32_t listed;       // set of isa_special_target bits; counts only when target is 0
    // Rare: what was taken away, and what the oldest targets got later. 0: nothing.
    uint16_t last_version;  // last version that has it for targets of last_target and more
    uint16_t last_target;
    uint16_t late_version;  // least version for targets below late_target
    uint16_t late_target;
};

// The targets with a suffix, one bit each in isa_floor.listed.
enum isa_special_target {
#define SPECIAL_TARGET(id) SPECIAL_TARGET_##id,
#include "isa/special_targets.def"
    SPECIAL_TARGET_COUNT
};

// A target's number and suffix: {90, 'a'} for sm_90a and compute_90a; number 0 when it is none.
struct isa_target {
    uint16_t number;
    char suffix;  // 'a', 'f' or 0
};

struct isa_target isa_target_parse(struct str text);

// Whether a `.target` has the feature at some version.
bool isa_floor_has_target(const struct isa_floor *floor, struct isa_target target);

// Whether a file of this version and target may use the feature.
bool isa_floor_met(const struct isa_floor *floor, uint16_t version, struct isa_target target);

// The least version that has it on a target that has it.
uint16_t isa_floor_version_for(const struct isa_floor *floor, struct isa_target target);

// Whether a target had it in an earlier version and has it no more.
bool isa_floor_removed(const struct isa_floor *floor, uint16_t version, struct isa_target target);

// Both floors at once: the later version, the targets that both have.
struct isa_floor isa_floor_both(struct isa_floor a, struct isa_floor b);

// Reads "sm_80@7.0", "100a,100f@8.6", "sm_12@1.4<=6.3/70" (targets from 70 up had it until 6.3),
// "sm_89@7.8+8.1/90" (targets below 90 have it from 8.1). As a least version 1.4 stands for 1.4 or
// less, which was not measured; "1.4!" is exactly that. The text is a table's: a mistake in it is
// a bug (asserted). Reading stops at a blank, `|`, `}` or the end.
struct isa_floor isa_floor_parse(const char *text);

// "sm_80 or higher", "sm_100a, sm_100f or sm_103a"; at most three are named.
struct str isa_floor_targets_text(struct arena *arena, const struct isa_floor *floor);

// The least target that has the feature, as `.target` spells it: "sm_80", "sm_100a".
struct str isa_floor_least_target(struct arena *arena, const struct isa_floor *floor);

#endif
