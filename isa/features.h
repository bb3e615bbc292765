// What directives and declarations need of `.version` and `.target`: the rows of directives.def.
#ifndef PTXVET_ISA_FEATURES_H
#define PTXVET_ISA_FEATURES_H

#include "isa/floor.h"

enum isa_feature {
#define FEATURE(id, text, version, target, gone, documented_version, documented_target)            \
    FEATURE_##id,
#include "isa/directives.def"
    FEATURE_COUNT
};

struct isa_feature_row {
    struct str text;
    uint16_t version, target; // least: 78 for 7.8, 90 for sm_90
    uint16_t gone;            // first version without it; 0: none
    uint16_t documented_version, documented_target;
};

extern const struct isa_feature_row isa_features[FEATURE_COUNT];

struct isa_floor isa_feature_floor(enum isa_feature feature);

#endif
