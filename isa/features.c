#include "isa/features.h"

const struct isa_feature_row isa_features[FEATURE_COUNT] = {
#define FEATURE(id, text, version, target, gone, documented_version, documented_target)            \
    [FEATURE_##id] = {{text, sizeof(text) - 1}, version,          target, gone,                    \
                      documented_version,       documented_target},
#include "isa/directives.def"
};

struct isa_floor isa_feature_floor(enum isa_feature feature) {
    const struct isa_feature_row *row = &isa_features[feature];
    struct isa_floor floor = {.version = row->version, .target = row->target};
    if (row->gone != 0) floor.last_version = (uint16_t)(row->gone - 1);
    return floor;
}
