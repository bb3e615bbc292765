#include "analyzer/rules/structure.h"

// `.version`, `.target` and `.address_size`; and what the GPU and driver named make of them.

static bool same_word(struct str a, const char *b) { return str_eq(a, str_from(b)); }

static const char *const target_options[] = {"texmode_unified", "texmode_independent", "debug",
                                             "map_f64_to_f32"};

static bool is_target_option(struct str name) {
    for (uint32_t i = 0; i < sizeof target_options / sizeof *target_options; i++)
        if (same_word(name, target_options[i])) return true;
    return false;
}

static void unknown_version(struct checker *c) {
    const struct version_row *near = isa_version_at_least(c->module->version);
    uint32_t newest = isa_versions[isa_version_count - 1].version;
    struct finding *finding = structure_report(c, RULE_VERSION_UNKNOWN, c->module->version_span,
                                               "there is no PTX version %u.%u",
                                               c->module->version / 10u, c->module->version % 10u);
    if (c->module->version > newest)
        structure_note(c, finding, "the newest version known is %u.%u", newest / 10u, newest % 10u);
    else
        structure_help(c, finding, "state `.version %u.%u`", near->version / 10u,
                       near->version % 10u);
}

static void version_not_checked(struct checker *c) {
    uint32_t newest = isa_version_newest_measured();
    struct finding *finding = structure_report(
        c, RULE_VERSION_NOT_CHECKED, c->module->version_span,
        "PTX %u.%u is newer than what is known here in full (%u.%u)", c->module->version / 10u,
        c->module->version % 10u, newest / 10u, newest % 10u);
    structure_note(c, finding, "instructions and targets that are not known here are not judged");
    structure_help(c, finding, "if the text uses nothing newer, state `.version %u.%u`",
                   newest / 10u, newest % 10u);
}

static void check_version(struct checker *c) {
    uint32_t version = c->module->version;
    if (version == 0) return;
    const struct version_row *row = isa_version_find(version);
    if (row == NULL) {
        unknown_version(c);
        return;
    }
    c->version = (uint16_t)version;
    c->not_checked = !row->measured;
    if (c->not_checked) version_not_checked(c);
}

static void unknown_target(struct checker *c, struct str name) {
    // A newer PTX may know targets that are not known here.
    if (c->not_checked) return;
    struct finding *finding = structure_report(c, RULE_TARGET_UNKNOWN, c->module->target_span,
                                               "there is no target `%.*s`", STR_ARG(name));
    enum isa_target_id near = isa_target_nearest(name);
    if (near != TARGET_UNKNOWN)
        structure_help(c, finding, "did you mean `%.*s`?", STR_ARG(isa_targets[near].text));
}

static void check_target_version(struct checker *c, enum isa_target_id target) {
    const struct target_row *row = &isa_targets[target];
    if (c->version == 0 || c->version >= row->version) return;
    struct finding *finding = structure_report(
        c, RULE_VERSION_BELOW_TARGET, c->module->target_span,
        "%.*s needs `.version` %u.%u; the file says %u.%u", STR_ARG(row->text), row->version / 10u,
        row->version % 10u, c->version / 10u, c->version % 10u);
    structure_help(c, finding, "raise `.version` to %u.%u or later", row->version / 10u,
                   row->version % 10u);
}

// Of several architectures the last one named counts (measured).
static void check_target_names(struct checker *c) {
    struct module *m = c->module;
    enum isa_target_id counting = TARGET_UNKNOWN;
    for (uint32_t i = 0; i < m->target_names.n; i++) {
        struct str name = m->target_names.at[i];
        if (is_target_option(name)) continue;
        enum isa_target_id target = isa_target_find(name);
        if (target == TARGET_UNKNOWN) {
            unknown_target(c, name);
            continue;
        }
        check_target_version(c, target);
        counting = target;
    }
    if (counting != TARGET_UNKNOWN) c->target = isa_target_parse(isa_targets[counting].text);
}

static void check_target_options(struct checker *c) {
    struct module *m = c->module;
    if (m->texmode_independent && m->texmode_unified) {
        struct finding *finding =
            structure_report(c, RULE_TARGET_OPTION, m->target_span,
                             "texmode_unified and texmode_independent exclude each other");
        structure_help(c, finding, "keep one");
    }
    if (m->map_f64_to_f32 && c->target.number >= 13) {
        struct finding *finding = structure_report(
            c, RULE_TARGET_OPTION, m->target_span,
            "map_f64_to_f32 is for targets below sm_13; this is sm_%u", c->target.number);
        structure_help(c, finding, "take map_f64_to_f32 out");
    }
}

static void check_address_size(struct checker *c) {
    struct module *m = c->module;
    if (m->address_size_span.end == 0) return;
    structure_need(c, FEATURE_ADDRESS_SIZE, m->address_size_span);
    if (m->address_size != 32) return;
    struct finding *finding =
        structure_report(c, RULE_ADDRESS_SIZE_32, m->address_size_span,
                         "addresses of 32 bits are supported by no assembler since CUDA 13");
    structure_help(c, finding, "compile again for 64 bits (`-m64`)");
}

static const char *skip_comment(const char *text) {
    if (text[0] != '/') return text;
    if (text[1] == '/') {
        while (*text != 0 && *text != '\n') text++;
        return text;
    }
    if (text[1] != '*') return text;
    for (text += 2; *text != 0; text++)
        if (text[0] == '*' && text[1] == '/') return text + 2;
    return text;
}

// ptxas takes a line marker (`# 1 "file"`) before `.version`; the driver takes such a text for no
// PTX at all (measured, driver 580).
static void check_first_byte(struct checker *c) {
    const char *text = c->module->source->text, *at = text, *before;
    do {
        before = at;
        while (*at == ' ' || (*at >= '\t' && *at <= '\r')) at++;
        at = skip_comment(at);
    } while (at != before);
    if (*at != '#' || !as_driver(c)) return;
    uint32_t offset = (uint32_t)(at - text);
    struct finding *finding = structure_report(c, RULE_NOT_PTX, (struct span){offset, offset + 1},
                                               "a line marker stands before `.version`");
    structure_help(c, finding, "take out the lines that begin with `#`");
}

void check_header(struct checker *c) {
    check_first_byte(c);
    check_version(c);
    check_target_names(c);
    check_target_options(c);
    check_address_size(c);
}

// ---- deployments ------------------------------------------------------------------------------

static struct str needed_version_help(struct checker *c, uint32_t reads) {
    struct requirements needs = {0};
    structure_requirements(c, &needs);
    if (needs.incomplete || needs.floor.version > reads) return (struct str){NULL, 0};
    return str_format(
        c->findings->arena, "what the file uses needs only %u.%u: state `.version %u.%u`",
        needs.floor.version / 10u, needs.floor.version % 10u, reads / 10u, reads % 10u);
}

static void check_driver(struct checker *c, const struct deployment *deployment) {
    uint32_t version = c->module->version;
    if (deployment->reads == 0 || version <= deployment->reads || isa_version_find(version) == NULL)
        return;
    struct finding *finding = structure_report(
        c, RULE_VERSION_ABOVE_DRIVER, c->module->version_span,
        "driver %.*s reads PTX up to %u.%u; the file is %u.%u", STR_ARG(deployment->driver_text),
        deployment->reads / 10u, deployment->reads % 10u, version / 10u, version % 10u);
    finding->deployment = deployment->driver_text;
    // Drivers before CUDA 11.1 answered INVALID_PTX.
    if (deployment->reads < 71) finding->predicts.result = RESULT_CUDA_ERROR_INVALID_PTX;
    struct str driver = isa_version_driver_text(c->findings->arena, version);
    struct str lower = needed_version_help(c, deployment->reads);
    if (lower.len > 0)
        finding->help = lower;
    else if (driver.len > 0)
        structure_help(c, finding, "use driver %.*s or later", STR_ARG(driver));
    if (lower.len > 0 && driver.len > 0)
        structure_note(c, finding, "driver %.*s or later reads it as it is", STR_ARG(driver));
}

static struct finding *target_finding(struct checker *c, enum rule rule, const struct deployment *d,
                                      const struct target_row *row) {
    uint32_t cc = d->compute_capability;
    struct finding *finding;
    if (row->kind == TARGET_ARCH)
        finding = structure_report(c, rule, c->module->target_span,
                                   "%.*s loads on compute capability %u.%u only; %.*s is %u.%u",
                                   STR_ARG(row->text), row->number / 10u, row->number % 10u,
                                   STR_ARG(d->gpu_text), cc / 10, cc % 10);
    else if (row->kind == TARGET_FAMILY)
        finding = structure_report(
            c, rule, c->module->target_span,
            "%.*s loads on compute capability %u.%u and later of its family; %.*s is %u.%u",
            STR_ARG(row->text), row->number / 10u, row->number % 10u, STR_ARG(d->gpu_text), cc / 10,
            cc % 10);
    else
        finding = structure_report(c, rule, c->module->target_span,
                                   "%.*s needs compute capability %u.%u; %.*s is %u.%u",
                                   STR_ARG(row->text), row->number / 10u, row->number % 10u,
                                   STR_ARG(d->gpu_text), cc / 10, cc % 10);
    finding->deployment = d->gpu_text;
    return finding;
}

static void check_gpu(struct checker *c, const struct deployment *deployment) {
    uint32_t cc = deployment->compute_capability;
    if (cc == 0 || c->target.number == 0) return;
    struct str text = str_format(c->arena, "sm_%u%.1s", c->target.number,
                                 c->target.suffix != 0 ? &c->target.suffix : "");
    enum isa_target_id target = isa_target_find(text);
    if (target == TARGET_UNKNOWN || isa_target_runs_on(target, cc)) return;
    static const enum rule rules[] = {[TARGET_GENERIC] = RULE_TARGET_ABOVE_GPU,
                                      [TARGET_FAMILY] = RULE_TARGET_OF_FAMILY,
                                      [TARGET_ARCH] = RULE_TARGET_OF_ONE_GPU};
    const struct target_row *row = &isa_targets[target];
    struct finding *finding = target_finding(c, rules[row->kind], deployment, row);
    structure_note(c, finding,
                   "no binary is in PTX: the driver answers INVALID_PTX, not NO_BINARY_FOR_GPU");
    if (row->kind == TARGET_GENERIC)
        structure_help(c, finding, "compile for sm_%u or lower", cc);
    else
        structure_help(c, finding, "compile for this GPU, or for a target without the suffix");
}

// CUDA 13 dropped what is older than compute capability 7.5.
enum { CUDA_13_READS = 90, CUDA_13_OLDEST = 75 };

static void check_gpu_with_driver(struct checker *c, const struct deployment *d) {
    if (d->compute_capability == 0 || d->reads < CUDA_13_READS) return;
    if (d->compute_capability >= CUDA_13_OLDEST) return;
    struct finding *finding = structure_report_as(
        c, RULE_GPU_BELOW_DRIVER, SEVERITY_WARNING, c->module->target_span,
        "driver %.*s no longer compiles for compute capability %u.%u", STR_ARG(d->driver_text),
        d->compute_capability / 10, d->compute_capability % 10);
    finding->deployment = d->driver_text;
    structure_help(c, finding, "use a driver before 580 (CUDA 13)");
}

void check_deployments(struct checker *c) {
    for (uint32_t i = 0; i < c->options->deployment_count; i++) {
        const struct deployment *deployment = &c->options->deployments[i];
        check_driver(c, deployment);
        check_gpu(c, deployment);
        check_gpu_with_driver(c, deployment);
    }
}
