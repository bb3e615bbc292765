// The commands that print tables and pages: explain, rules, gpus.
#include <jansson.h>
#include <unistd.h>

#include "cli/cli.h"
#include "findings/pages.h"
#include "isa/gpus.h"
#include "reports/plain.h"

enum { RANKED_MOST = 12 };

static bool json_wanted(const struct cli *cli) {
    return str_eq(option_text(&cli->options, OPTION_format, "text"), STR("json"));
}

static int print_json(struct cli *cli, json_t *value) {
    struct output out;
    char *text = json_dumps(value, JSON_INDENT(1));
    json_decref(value);
    output_init(&out, &cli->arena);
    if (text != NULL) output_text(&out, text);
    free(text);
    output_byte(&out, '\n');
    return print(&out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

static int print_out(const struct output *out) { return print(out) ? EXIT_CLEAN : EXIT_TROUBLE; }

static void explain_rule(struct output *out, enum rule rule) {
    const struct rule_info *info = &rule_infos[rule];
    struct str page = rule_page(rule);
    if (page.len != 0) {
        output_str(out, page);
        return;
    }
    output_format(out, "# %s %s\n\n%s, %s", info->code, info->name,
                  severity_text((enum severity)info->severity),
                  confidence_text((enum confidence)info->confidence));
    if (info->phase != PHASE_NONE) {
        struct prediction prediction = {info->phase, info->confidence, info->result};
        output_text(out, "; predicts ");
        plain_prediction(out, &prediction);
    }
    output_byte(out, '\n');
}

static void explain_result(struct cli *cli, struct output *out, int result) {
    struct ranking ranking = {0};
    rules_rank(result, NULL, &cli->arena, &ranking);
    output_format(out, "%s (%d)\n\nRules that predict it, likeliest first:\n\n", result_text(result),
                  result);
    for (uint32_t i = 0; i < ranking.rules.n && i < RANKED_MOST; i++) {
        const struct ranked_rule *ranked = &ranking.rules.at[i];
        const struct rule_info *info = &rule_infos[ranked->rule];
        output_format(out, "  %s  %-36s %s", info->code, info->name, phase_text((enum phase)info->phase));
        if (ranked->reports != 0) {
            output_text(out, ", ");
            plain_count(out, ranked->reports, "public report");
        }
        if (ranked->how != NULL) output_format(out, ", %s", ranked->how);
        output_byte(out, '\n');
    }
    if (ranking.rules.n == 0) output_text(out, "  none\n");
    output_text(out, "\n`ptxvet launch --error CURESULT FILE 'LAUNCH'` ranks them for one launch; "
                     "`ptxvet explain CODE` explains a rule.\n");
}

// The rule whose code or name is nearest to a misspelt one.
static enum rule nearest_rule(struct str text) {
    uint32_t best = 4;
    enum rule found = RULE_NONE;
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        uint32_t distance = str_distance(text, str_from(rule_infos[rule].name), best);
        if (distance < best) {
            best = distance;
            found = (enum rule)rule;
        }
    }
    return found;
}

int command_explain(struct cli *cli) {
    struct output out;
    output_init(&out, &cli->arena);
    if (cli->options.operands.n == 0) {
        complain("name a rule (PTX0603), or an error code (701, CUDA_ERROR_INVALID_VALUE)");
        return EXIT_TROUBLE;
    }
    for (uint32_t i = 0; i < cli->options.operands.n; i++) {
        struct str text = cli->options.operands.at[i];
        int result;
        enum rule rule = rule_find(text);
        if (i > 0) output_byte(&out, '\n');
        if (rule != RULE_NONE) explain_rule(&out, rule);
        else if (result_find(text, &result)) explain_result(cli, &out, result);
        else {
            enum rule nearest = nearest_rule(text);
            complain("`%.*s` is neither a rule nor a CUresult%s%s%s", STR_ARG(text),
                     nearest == RULE_NONE ? "" : "; did you mean `",
                     nearest == RULE_NONE ? "" : rule_infos[nearest].name,
                     nearest == RULE_NONE ? "" : "`?");
            return EXIT_TROUBLE;
        }
    }
    return print_out(&out);
}

static json_t *rule_json(const struct rule_info *info) {
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s, s:s, s:s}", "code", info->code, "name", info->name,
                     "phase", info->phase == PHASE_NONE ? NULL : phase_text((enum phase)info->phase),
                     "result", info->phase == PHASE_NONE ? NULL : result_text(info->result),
                     "severity", severity_text((enum severity)info->severity), "confidence",
                     confidence_text((enum confidence)info->confidence), "reports", info->reports);
}

static int rules_json(struct cli *cli) {
    json_t *array = json_array();
    for (int rule = 1; rule < RULE_COUNT; rule++)
        json_array_append_new(array, rule_json(&rule_infos[rule]));
    return print_json(cli, array);
}

int command_rules(struct cli *cli) {
    struct output out;
    if (json_wanted(cli)) return rules_json(cli);
    output_init(&out, &cli->arena);
    output_text(&out, "code     severity  phase          result                              name\n");
    for (int rule = 1; rule < RULE_COUNT; rule++) {
        const struct rule_info *info = &rule_infos[rule];
        bool predicts = info->phase != PHASE_NONE && info->result != RESULT_CUDA_SUCCESS;
        output_format(&out, "%-8s %-9s %-14s %-35s %s\n", info->code,
                      severity_text((enum severity)info->severity),
                      predicts ? phase_text((enum phase)info->phase) : "-",
                      predicts ? result_text(info->result) : "-", info->name);
    }
    return print_out(&out);
}

static json_t *gpu_json(const struct gpu *gpu) {
    const struct gpu_limits *limits = gpu->limits;
    json_t *object = json_object();
    json_object_set_new(object, "name", json_stringn(gpu->name.data, gpu->name.len));
    json_object_set_new(object, "class", json_string(gpu_class_text((enum gpu_class)gpu->class)));
    json_object_set_new(object, "computeCapability",
                        json_sprintf("%u.%u", gpu->capability / 10u, gpu->capability % 10u));
    json_object_set_new(object, "smCount", gpu->sm_count == 0 ? json_null() : json_integer(gpu->sm_count));
    struct { const char *name; uint32_t value; } rows[] = {
        {"blockThreads", limits->block_threads}, {"smWarps", limits->sm_warps},
        {"smBlocks", limits->sm_blocks}, {"smRegisters", limits->sm_registers},
        {"blockRegisters", limits->block_registers}, {"threadRegisters", limits->thread_registers},
        {"smShared", limits->sm_shared}, {"blockShared", limits->block_shared},
        {"optinShared", limits->optin_shared}, {"reservedShared", limits->reserved_shared},
        {"clusterPortable", limits->cluster_portable}, {"clusterMax", limits->cluster_max}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_object_set_new(object, rows[i].name, json_integer(rows[i].value));
    return object;
}

static void gpu_row(struct output *out, const struct gpu *gpu) {
    const struct gpu_limits *limits = gpu->limits;
    output_format(out, "%-28.*s %3u.%u ", STR_ARG(gpu->name), gpu->capability / 10u,
                  gpu->capability % 10u);
    if (gpu->sm_count != 0) output_format(out, "%5u", gpu->sm_count);
    else output_text(out, "    -");
    output_format(out, " %8u %9u %9u %9u %8u %8u %8u\n", limits->sm_warps, limits->sm_registers,
                  limits->block_shared, limits->optin_shared, limits->sm_shared, limits->sm_blocks,
                  limits->cluster_max);
}

// All rows, or those that the operands name.
static bool each_gpu(struct cli *cli, void (*each)(void *context, const struct gpu *gpu),
                     void *context) {
    const struct options *options = &cli->options;
    for (uint32_t i = 0; options->operands.n == 0 && i < isa_gpu_count; i++)
        each(context, &isa_gpus[i]);
    for (uint32_t i = 0; i < options->operands.n; i++) {
        const struct gpu *gpu = isa_gpu_find(options->operands.at[i]);
        if (gpu == NULL) {
            const struct gpu *nearest = isa_gpu_nearest(options->operands.at[i]);
            complain("unknown GPU `%.*s`%s%.*s%s", STR_ARG(options->operands.at[i]),
                     nearest == NULL ? "" : "; did you mean `",
                     nearest == NULL ? 0 : (int)nearest->name.len,
                     nearest == NULL ? "" : nearest->name.data, nearest == NULL ? "" : "`?");
            return false;
        }
        each(context, gpu);
    }
    return true;
}

static void add_json(void *context, const struct gpu *gpu) {
    json_array_append_new(context, gpu_json(gpu));
}

static void add_row(void *context, const struct gpu *gpu) { gpu_row(context, gpu); }

int command_gpus(struct cli *cli) {
    struct output out;
    if (json_wanted(cli)) {
        json_t *array = json_array();
        if (each_gpu(cli, add_json, array)) return print_json(cli, array);
        json_decref(array);
        return EXIT_TROUBLE;
    }
    output_init(&out, &cli->arena);
    output_text(&out, "                                         warps registers    shared    opt-in   shared"
                      "   blocks   blocks\n"
                      "name                           cc   SMs   per SM    per SM per block per block   "
                      "per SM   per SM /cluster\n");
    return each_gpu(cli, add_row, &out) ? print_out(&out) : EXIT_TROUBLE;
}
