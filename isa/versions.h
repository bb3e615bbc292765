// PTX versions with their CUDA and driver releases, targets with their families. Rows are in
// versions.def and targets.def, with their sources. What features need of both: isa/floor.h.
#ifndef PTXVET_ISA_VERSIONS_H
#define PTXVET_ISA_VERSIONS_H

#include "base/str.h"

enum isa_target_id {
#define TARGET(id, text, number, kind, family, version, documented) TARGET_##id,
#include "isa/targets.def"
    TARGET_COUNT,
    TARGET_UNKNOWN = TARGET_COUNT
};

enum target_kind { TARGET_GENERIC, TARGET_FAMILY, TARGET_ARCH };

struct target_row {
    struct str text;     // "sm_90a"
    uint16_t number;     // 90
    uint8_t kind;        // enum target_kind
    uint8_t family;      // 10 for sm_100 and sm_103; 0 where there is none
    uint16_t version;    // least PTX version with it, measured
    uint16_t documented; // the same as the manual has it; 0: not there
};

extern const struct target_row isa_targets[TARGET_COUNT];

// By text: "sm_90a", "compute_90a". TARGET_UNKNOWN when there is none.
enum isa_target_id isa_target_find(struct str text);

// The target whose text is nearest, or TARGET_UNKNOWN.
enum isa_target_id isa_target_nearest(struct str text);

// Whether PTX of that target runs on a GPU of that compute capability (10 * major + minor).
bool isa_target_runs_on(enum isa_target_id target, uint32_t compute_capability);

struct version_row {
    uint16_t version;               // 10 * major + minor
    uint16_t cuda_first, cuda_last; // 100 * major + minor; 0: no toolkit
    uint16_t branch;                // first number of the least driver; 0: not known
    struct str driver;              // as published; may be empty
    bool measured;                  // held against ptxas 13.0; else it is known from the manual
};

extern const struct version_row isa_versions[];
extern const uint32_t isa_version_count;

// The row of 87 for 8.7; NULL when there is no such version.
const struct version_row *isa_version_find(uint32_t version);

// The newest version that is known in full (9.0).
uint32_t isa_version_newest_measured(void);

// The nearest version that exists, at or above; else the newest.
const struct version_row *isa_version_at_least(uint32_t version);

// A driver as users name it: "550.54", "580" (a release of the driver), "12.4", "13" (the driver of
// that CUDA release). A first number of 100 or more is a driver.
struct driver_row {
    uint32_t driver; // major * 1000 + minor: 550054; 0 where only the CUDA release is known
    uint16_t reads;  // newest PTX version that it reads; 0: not known
};

// False when the text is neither.
bool isa_driver_find(struct str text, struct driver_row *out);

// The newest PTX version that a driver (550054) reads; 0: not known (too new or too old to say).
uint16_t isa_driver_reads(uint32_t driver);

// "550" or "550.54.14 (CUDA 12.4)": the least driver for a PTX version; empty when not known.
struct str isa_version_driver_text(struct arena *arena, uint32_t version);

#endif
