#include "analyzer/rules/structure.h"

static struct place place_of(const struct checker *c, struct span span) {
    return (struct place){c->module->source, span};
}

__attribute__((format(printf, 4, 0))) static struct finding *
add(struct checker *c, enum rule rule, struct span span, const char *format, va_list args) {
    struct finding *finding = finding_add(c->findings, rule, place_of(c, span));
    finding->message = str_vformat(c->findings->arena, format, args);
    return finding;
}

struct finding *structure_report(struct checker *c, enum rule rule, struct span span,
                                 const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct finding *finding = add(c, rule, span, format, args);
    va_end(args);
    return finding;
}

struct finding *structure_report_as(struct checker *c, enum rule rule, enum severity severity,
                                    struct span span, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct finding *finding = add(c, rule, span, format, args);
    va_end(args);
    finding->severity = (uint8_t)severity;
    if (severity != SEVERITY_ERROR) finding->predicts.phase = PHASE_NONE;
    return finding;
}

void structure_help(struct checker *c, struct finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    finding->help = str_vformat(c->findings->arena, format, args);
    va_end(args);
}

void structure_note(struct checker *c, struct finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(c->findings->arena, format, args);
    va_end(args);
    finding_note(c->findings, finding, "%.*s", STR_ARG(text));
}

void structure_label(struct checker *c, struct finding *finding, struct span span,
                     const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(c->findings->arena, format, args);
    va_end(args);
    finding_label(c->findings, finding, place_of(c, span), "%.*s", STR_ARG(text));
}

struct str structure_name(const struct checker *c, name_id name) {
    return module_name(c->module, name);
}

struct declared *structure_declared(struct checker *c, name_id name) {
    while (c->names.n <= name) vec_push(c->arena, &c->names)->definition = NO_INDEX;
    return &c->names.at[name];
}

// ---- what features need -----------------------------------------------------------------------

// `.alias`; what is no word of the language stands as it is.
static struct str quoted(struct checker *c, struct str text) {
    bool word = text.len > 0 && text.data[0] == '.' && memchr(text.data, ' ', text.len) == NULL;
    return word ? str_format(c->findings->arena, "`%.*s`", STR_ARG(text)) : text;
}

static void needs_version(struct checker *c, const struct isa_feature_row *row, struct span span) {
    struct finding *finding = structure_report(
        c, RULE_DIRECTIVE_VERSION, span, "%.*s needs `.version` %u.%u; the file says %u.%u",
        STR_ARG(quoted(c, row->text)), row->version / 10u, row->version % 10u, c->version / 10u,
        c->version % 10u);
    structure_help(c, finding, "raise `.version` to %u.%u or later", row->version / 10u,
                   row->version % 10u);
    if (row->documented_version != row->version)
        structure_note(c, finding, "the PTX ISA manual asks for %u.%u; ptxas takes it from %u.%u",
                       row->documented_version / 10u, row->documented_version % 10u,
                       row->version / 10u, row->version % 10u);
}

static void needs_target(struct checker *c, const struct isa_feature_row *row, struct span span) {
    struct finding *finding = structure_report(
        c, RULE_DIRECTIVE_TARGET, span, "%.*s needs `.target` sm_%u or higher; the file says %.*s",
        STR_ARG(quoted(c, row->text)), row->target, STR_ARG(c->module->target));
    structure_help(c, finding, "raise `.target` to sm_%u or higher", row->target);
}

static void note_need(struct checker *c, const struct isa_feature_row *row, struct isa_floor floor,
                      struct span span) {
    if (row->version <= 10 && row->target <= 10) return;
    // One row a feature is enough: the first that needs it.
    for (uint32_t i = 0; i < c->required.n; i++)
        if (c->required.at[i].feature.data == row->text.data) return;
    *vec_push(c->arena, &c->required) = (struct required){floor, row->text, span};
}

bool structure_need(struct checker *c, enum isa_feature feature, struct span span) {
    const struct isa_feature_row *row = &isa_features[feature];
    bool met = true;
    if (c->version != 0 && row->gone != 0 && c->version >= row->gone) {
        struct finding *finding =
            structure_report(c, RULE_DIRECTIVE_REMOVED, span,
                             "%.*s is not supported from `.version` %u.%u on; the file says %u.%u",
                             STR_ARG(quoted(c, row->text)), row->gone / 10u, row->gone % 10u,
                             c->version / 10u, c->version % 10u);
        structure_help(c, finding, "take it out, or state a `.version` below %u.%u",
                       row->gone / 10u, row->gone % 10u);
        met = false;
    }
    if (c->version != 0 && c->version < row->version) {
        needs_version(c, row, span);
        met = false;
    }
    if (c->target.number != 0 && c->target.number < row->target) {
        needs_target(c, row, span);
        met = false;
    }
    note_need(c, row, isa_feature_floor(feature), span);
    return met;
}

static bool floor_raises(const struct isa_floor *had, const struct isa_floor *now) {
    return had->version != now->version || had->target != now->target || had->listed != now->listed;
}

static void require(struct checker *c, struct requirements *out, struct required row) {
    struct isa_floor both = isa_floor_both(out->floor, row.floor);
    if (!floor_raises(&out->floor, &both)) return;
    out->floor = both;
    *vec_push(c->arena, &out->rows) = row;
}

void structure_requirements(struct checker *c, struct requirements *out) {
    out->floor = (struct isa_floor){.version = 10, .target = 10};
    out->incomplete = c->not_checked;
    uint32_t count;
    const struct requirement *list = instruction_checker_requirements(c->instructions, &count);
    for (uint32_t i = 0; i < c->required.n; i++) require(c, out, c->required.at[i]);
    for (uint32_t i = 0; i < count; i++) {
        struct str text = c->module->forms.at[list[i].form].text;
        struct span span = {list[i].line_offset, list[i].line_offset + text.len};
        require(c, out, (struct required){list[i].floor, text, span});
    }
    // The target itself came with some version.
    enum isa_target_id target = isa_target_find(isa_floor_least_target(c->arena, &out->floor));
    if (target != TARGET_UNKNOWN && isa_targets[target].version > out->floor.version)
        out->floor.version = isa_targets[target].version;
}
