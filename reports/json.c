// JSON, version 1: docs/json.md and docs/ptxvet.schema.json say what each field means.
#include "reports/formats.h"
#include "reports/json_text.h"
#include "reports/plain.h"


static void set_known(json_t *object, const char *key, struct known_u64 value) {
    json_object_set_new(object, key, value.known ? json_text_integer(value.value) : json_null());
}

static void set_three(json_t *object, const char *key, bool known, const uint64_t value[3]) {
    json_t *three = known ? json_array() : json_null();
    for (int i = 0; i < 3 && known; i++) json_array_append_new(three, json_text_integer(value[i]));
    json_object_set_new(object, key, three);
}

static json_t *result_value(int result) {
    const char *name = result_text(result);
    return name == NULL ? json_null() : json_string(name);
}

static json_t *prediction_value(uint8_t phase, int result) {
    json_t *object = json_object();
    json_object_set_new(object, "phase", json_string(phase_text((enum phase)phase)));
    json_object_set_new(object, "result", result_value(result));
    return object;
}

static void set_region(struct json_text *json, json_t *object, struct region region,
                       struct str otherwise) {
    json_text_set(json, object, "path", region.known ? region.path : otherwise);
    struct known_u64 at[4] = {{region.known, region.begin.line}, {region.known, region.begin.column},
                              {region.known, region.end.line}, {region.known, region.end.column}};
    set_known(object, "line", at[0]);
    set_known(object, "column", at[1]);
    set_known(object, "endLine", at[2]);
    set_known(object, "endColumn", at[3]);
}

static json_t *labels_value(struct json_text *json, const struct finding *finding,
                            struct str path) {
    json_t *labels = json_array();
    for (uint32_t i = 0; i < finding->labels.n; i++) {
        struct finding as_finding = {.place = finding->labels.at[i].place};
        json_t *label = json_object();
        json_text_set(json, label, "message", finding->labels.at[i].text);
        set_region(json, label, finding_region(&as_finding), path);
        json_array_append_new(labels, label);
    }
    return labels;
}

static json_t *finding_value(struct json_text *json, const struct finding *finding,
                             struct str path) {
    const struct rule_info *rule = &rule_infos[finding->rule];
    json_t *object = json_object(), *notes = json_array();
    json_object_set_new(object, "code", json_string(rule->code));
    json_object_set_new(object, "name", json_string(rule->name));
    json_object_set_new(object, "severity",
                        json_string(severity_text((enum severity)finding->severity)));
    json_text_set(json, object, "message", finding->message);
    set_region(json, object, finding_region(finding), path);
    json_text_set_or_null(json, object, "help", finding->help);
    for (uint32_t i = 0; i < finding->notes.n; i++)
        json_array_append_new(notes, json_text_value(json, finding->notes.at[i]));
    json_object_set_new(object, "notes", notes);
    json_object_set_new(object, "labels", labels_value(json, finding, path));
    json_object_set_new(object, "confidence",
                        json_string(confidence_text((enum confidence)finding->confidence)));
    json_text_set_or_null(json, object, "kernel", finding->kernel);
    json_object_set_new(object, "predicts",
                        predicts_failure(finding) ? prediction_value(finding->predicts.phase,
                                                                     finding->predicts.result)
                                                  : json_null());
    json_text_set_or_null(json, object, "origin", finding->origin);
    json_text_set_or_null(json, object, "deployment", finding->deployment);
    return object;
}

static json_t *findings_value(struct json_text *json, const struct findings *findings,
                              struct str path) {
    json_t *array = json_array();
    for (uint32_t i = 0; findings != NULL && i < findings->list.n; i++)
        json_array_append_new(array, finding_value(json, findings->list.at[i], path));
    return array;
}

static json_t *module_value(struct json_text *json, const struct record_module *module) {
    if (module == NULL) return json_null();
    json_t *object = json_object();
    json_text_set_or_null(json, object, "ptxVersion", module->ptx_version);
    json_text_set_or_null(json, object, "target", module->target);
    set_known(object, "addressSize", module->address_size);
    json_text_set_or_null(json, object, "generator", module->generator);
    json_text_set_or_null(json, object, "minimumDriver", module->minimum_driver);
    return object;
}

static json_t *param_value(struct json_text *json, const struct record_param *param) {
    json_t *object = json_object();
    json_text_number(object, "index", param->index);
    json_text_set_or_null(json, object, "name", param->name);
    json_text_set_or_null(json, object, "userName", param->user_name);
    json_text_set_or_null(json, object, "type", param->type);
    json_text_number(object, "offset", param->offset);
    json_text_number(object, "size", param->size);
    json_text_number(object, "align", param->align);
    json_text_set_or_null(json, object, "kind", param->kind);
    json_text_set_or_null(json, object, "space", param->space);
    json_text_set_or_null(json, object, "role", param->role);
    json_text_set_or_null(json, object, "access", param->access);
    set_known(object, "alignNeeded", param->align_needed);
    return object;
}

static json_t *shared_value(const struct record_kernel *kernel) {
    json_t *object = json_object();
    set_known(object, "static", kernel->shared_static);
    json_object_set_new(object, "dynamic", json_boolean(kernel->shared_dynamic));
    set_known(object, "dynamicAlign", kernel->dynamic_align);
    return object;
}

static json_t *occupancy_points(const struct record_kernel *kernel) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < kernel->occupancy.points.n; i++) {
        json_t *point = json_object();
        json_text_number(point, "block", kernel->occupancy.points.at[i].at);
        json_text_number(point, "blocksPerSM", kernel->occupancy.points.at[i].blocks_per_sm);
        json_text_number(point, "warpsPerSM", kernel->occupancy.points.at[i].warps_per_sm);
        json_array_append_new(array, point);
    }
    return array;
}

static json_t *range_value(bool any, uint64_t low, uint64_t high) {
    if (!any) return json_null();
    json_t *range = json_array();
    json_array_append_new(range, json_text_integer(low));
    json_array_append_new(range, json_text_integer(high));
    return range;
}

static json_t *gpu_params(const struct record_gpu *gpu) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < gpu->params.n; i++)
        json_array_append_new(array, range_value(true, gpu->params.at[i].offset, gpu->params.at[i].size));
    return array;
}

static json_t *gpu_value(struct json_text *json, const struct record_gpu *gpu) {
    json_t *object = json_object();
    json_text_set_or_null(json, object, "device", gpu->device);
    json_text_set_or_null(json, object, "computeCapability", gpu->capability);
    json_text_set_or_null(json, object, "cuda", gpu->cuda);
    set_known(object, "regs", gpu->registers);
    set_known(object, "shared", gpu->shared);
    set_known(object, "local", gpu->local);
    set_known(object, "const", gpu->constants);
    set_known(object, "maxThreads", gpu->max_threads);
    set_known(object, "blocksPerSM", gpu->blocks_per_sm);
    json_object_set_new(object, "params", gpu->has_params ? gpu_params(gpu) : json_null());
    json_object_set_new(object, "milliseconds",
                        gpu->has_time ? json_real(gpu->milliseconds) : json_null());
    return object;
}

static json_t *kernel_value(struct json_text *json, const struct record_kernel *kernel) {
    json_t *object = json_object(), *params = json_array();
    json_text_set(json, object, "name", kernel->name);
    json_text_set_or_null(json, object, "linkage", kernel->linkage);
    json_text_number(object, "line", kernel->line);
    for (uint32_t i = 0; i < kernel->params.n; i++)
        json_array_append_new(params, param_value(json, &kernel->params.at[i]));
    json_object_set_new(object, "params", params);
    json_text_number(object, "paramBytes", kernel->param_bytes);
    set_three(object, "maxntid", kernel->has_maxntid, kernel->maxntid);
    set_three(object, "reqntid", kernel->has_reqntid, kernel->reqntid);
    set_known(object, "minnctapersm", kernel->minnctapersm);
    set_known(object, "maxnreg", kernel->maxnreg);
    set_three(object, "cluster", kernel->has_cluster, kernel->cluster);
    json_object_set_new(object, "shared", shared_value(kernel));
    set_known(object, "constBytes", kernel->const_bytes);
    set_known(object, "localBytes", kernel->local_bytes);
    json_text_set_or_null(json, object, "launch", kernel->launch);
    json_text_set_or_null(json, object, "demangled", kernel->demangled);
    if (kernel->occupancy.points.n != 0)
        json_object_set_new(object, "occupancy", occupancy_points(kernel));
    if (kernel->gpu != NULL) json_object_set_new(object, "driver", gpu_value(json, kernel->gpu));
    return object;
}

static json_t *predicted_value(const struct record_launch *launch) {
    json_t *object = json_object(), *also = json_array();
    json_object_set_new(object, "phase",
                        json_string(phase_text((enum phase)launch->predicted.phase)));
    json_object_set_new(object, "result",
                        launch->result_unknown ? json_null()
                                               : result_value(launch->predicted.result));
    for (uint32_t i = 0; i < launch->also_count; i++)
        json_array_append_new(also, result_value(launch->also[i]));
    json_object_set_new(object, "also", also);
    json_object_set_new(
        object, "confidence",
        json_string(confidence_text((enum confidence)launch->predicted.confidence)));
    return object;
}

static json_t *occupancy_value(struct json_text *json, const struct record_launch *launch) {
    if (!launch->has_occupancy) return json_null();
    json_t *object = json_object();
    json_text_number(object, "blocksPerSM", launch->blocks_per_sm);
    json_text_number(object, "warpsPerSM", launch->warps_per_sm);
    json_text_set_or_null(json, object, "limiter", launch->limiter);
    return object;
}

static json_t *memory_value(struct json_text *json, const struct record_launch *launch) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < launch->memory.n; i++) {
        const struct record_memory *memory = &launch->memory.at[i];
        json_t *object = json_object();
        if (memory->param_known) json_text_number(object, "param", memory->param);
        else json_object_set_new(object, "param", json_string("shared"));
        json_text_set_or_null(json, object, "name", memory->name);
        json_object_set_new(object, "readBytes",
                            range_value(memory->read, memory->read_low, memory->read_high));
        json_object_set_new(object, "writtenBytes",
                            range_value(memory->written, memory->written_low, memory->written_high));
        set_known(object, "sizeNeeded", memory->size_needed);
        set_known(object, "alignNeeded", memory->align_needed);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *coverage_value(const struct record_launch *launch) {
    if (!launch->has_coverage) return json_null();
    json_t *object = json_object();
    json_text_number(object, "blocks", launch->blocks);
    json_text_number(object, "blocksRun", launch->blocks_run);
    json_object_set_new(object, "complete", json_boolean(launch->complete));
    json_text_number(object, "unknownAddresses", launch->unknown_addresses);
    return object;
}

static json_t *launch_value(struct json_text *json, const struct report *report,
                            const struct record_launch *launch, struct str path) {
    json_t *object = json_object();
    json_text_set(json, object, "text", launch->text);
    set_known(object, "line", (struct known_u64){launch->line != 0, launch->line});
    json_text_set_or_null(json, object, "kernel", launch->kernel);
    json_text_set(json, object, "verdict", launch->verdict);
    json_object_set_new(object, "predicted", predicted_value(launch));
    json_object_set_new(object, "findings", findings_value(json, launch->findings, path));
    json_object_set_new(object, "occupancy", occupancy_value(json, launch));
    json_object_set_new(object, "memory", memory_value(json, launch));
    json_object_set_new(object, "coverage", coverage_value(launch));
    if (report->command != REPORT_RUN) return object;
    json_object_set_new(object, "actual",
                        launch->has_actual
                            ? prediction_value(launch->actual_phase, launch->actual_result)
                            : json_null());
    json_object_set_new(object, "agrees",
                        launch->agrees_known ? json_boolean(launch->agrees) : json_null());
    json_object_set_new(object, "driver", launch->gpu != NULL ? gpu_value(json, launch->gpu) : json_null());
    return object;
}

static json_t *requires_value(struct json_text *json, const struct record_requires *requires) {
    json_t *object = json_object(), *features = json_array();
    json_text_set_or_null(json, object, "ptxVersion", requires->ptx_version);
    json_text_set_or_null(json, object, "target", requires->target);
    json_text_set_or_null(json, object, "driver", requires->driver);
    json_object_set_new(object, "complete", json_boolean(requires->complete));
    for (uint32_t i = 0; i < requires->features.n; i++) {
        const struct record_required *required = &requires->features.at[i];
        json_t *feature = json_object();
        json_text_set(json, feature, "feature", required->feature);
        json_text_set_or_null(json, feature, "ptxVersion", required->ptx_version);
        json_text_set_or_null(json, feature, "target", required->target);
        json_text_number(feature, "line", required->line);
        json_array_append_new(features, feature);
    }
    json_object_set_new(object, "features", features);
    return object;
}

static json_t *file_value(struct json_text *json, const struct report *report,
                          const struct record_file *file) {
    json_t *object = json_object(), *array = json_array();
    json_text_set(json, object, "path", file->path);
    if (file->failure.len != 0) json_text_set(json, object, "failure", file->failure);
    bool launching = report->command == REPORT_LAUNCH || report->command == REPORT_RUN;
    if (launching) {
        for (uint32_t i = 0; i < file->launches.n; i++)
            json_array_append_new(array,
                                  launch_value(json, report, &file->launches.at[i], file->path));
        json_object_set_new(object, "launches", array);
        if (file->findings != NULL && file->findings->list.n != 0)  // of a manifest, or a launch's text
            json_object_set_new(object, "findings", findings_value(json, file->findings, file->path));
        return object;
    }
    for (uint32_t i = 0; i < file->kernels.n; i++)
        json_array_append_new(array, kernel_value(json, &file->kernels.at[i]));
    json_object_set_new(object, "module", module_value(json, file->module));
    json_object_set_new(object, "kernels", array);
    if (file->requires != NULL)
        json_object_set_new(object, "requires", requires_value(json, file->requires));
    json_t *launches = json_array();  // of info --launch
    for (uint32_t i = 0; i < file->launches.n; i++)
        json_array_append_new(launches,
                              launch_value(json, report, &file->launches.at[i], file->path));
    if (file->launches.n != 0) json_object_set_new(object, "launches", launches);
    else json_decref(launches);
    json_object_set_new(object, "findings", findings_value(json, file->findings, file->path));
    return object;
}

static void json_head(const struct report *report, struct output *out) {
    json_t *tool = json_object();
    struct json_text json;
    json_text_start(&json, out->arena);
    json_text_set(&json, tool, "name", STR("ptxvet"));
    json_text_set(&json, tool, "version", report->tool_version);
    output_text(out, "{\"version\":1,\"tool\":");
    json_text_dump(tool, out);
    output_text(out, ",\"files\":[");
}

static void json_file(const struct report *report, const struct record_file *file,
                      struct output *out) {
    struct json_text json;
    json_text_start(&json, out->arena);
    output_byte(out, '\n');
    json_text_dump(file_value(&json, report, file), out);
}

static void json_tail(const struct report *report, struct output *out) {
    output_format(out, "\n],\"summary\":{\"errors\":%u,\"warnings\":%u,\"notes\":%u}}\n",
                  report->totals.errors, report->totals.warnings, report->totals.notes);
}

const struct report_format report_json = {.name = "json", .machine = true, .kernels = true, .separator = ",",
                                          .head = json_head, .file = json_file, .tail = json_tail};
