#include "cli/device.h"

#include "isa/gpus.h"
#include "isa/versions.h"

struct driver_request device_request(const struct device_settings *settings) {
    return (struct driver_request){.library = settings->library, .device = settings->device,
                                   .memory = settings->memory, .timeout = settings->timeout,
                                   .repeat = settings->repeat};
}

// A product that the tables know by name, else its architecture.
static const struct gpu *gpu_of(const struct driver_device *device) {
    uint32_t capability = (uint32_t)(10 * device->major + device->minor);
    const struct gpu *gpu = isa_gpu_find(str_from(device->name));
    return gpu != NULL && gpu->capability == capability ? gpu : isa_gpu_architecture(capability);
}

bool device_deployment(const struct device_settings *settings, struct arena *arena,
                       struct deployment *deployment, struct str *error) {
    struct driver_request request = device_request(settings);
    struct driver_outcome outcome;
    request.probe = true;
    driver_launch(&request, arena, &outcome);
    if (!outcome.has_device) {
        *error = str_format(arena, "--gpu auto: %.*s", STR_ARG(outcome.failure));
        return false;
    }
    const struct driver_device *device = &outcome.device;
    struct str name = str_from(device->name);
    *deployment = (struct deployment){.gpu = gpu_of(device), .gpu_text = str_copy(arena, name),
                                      .compute_capability = (uint32_t)(10 * device->major + device->minor)};
    struct driver_row row;
    struct str cuda = str_format(arena, "%d.%d", device->cuda / 1000, device->cuda % 1000 / 10);
    if (isa_driver_find(cuda, &row)) {
        deployment->driver = row.driver;
        deployment->reads = row.reads;
        deployment->driver_text = cuda;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------
// Records

static struct known_u64 attribute(const struct driver_outcome *outcome, enum driver_attribute which) {
    int value = outcome->attributes[which];
    return (struct known_u64){value >= 0, value >= 0 ? (uint64_t)value : 0};
}

struct record_gpu *device_record(const struct driver_outcome *outcome, struct arena *arena) {
    const struct driver_device *device = &outcome->device;
    struct record_gpu *gpu = arena_new(arena, struct record_gpu);
    if (outcome->has_device) {
        gpu->device = str_copy(arena, str_from(device->name));
        gpu->capability = str_format(arena, "%d.%d", device->major, device->minor);
        gpu->cuda = str_format(arena, "%d.%d", device->cuda / 1000, device->cuda % 1000 / 10);
    }
    gpu->registers = attribute(outcome, ATTRIBUTE_REGS);
    gpu->shared = attribute(outcome, ATTRIBUTE_SHARED);
    gpu->local = attribute(outcome, ATTRIBUTE_LOCAL);
    gpu->constants = attribute(outcome, ATTRIBUTE_CONST);
    gpu->max_threads = attribute(outcome, ATTRIBUTE_MAX_THREADS);
    if (outcome->has_occupancy && outcome->blocks_per_sm >= 0)
        gpu->blocks_per_sm = (struct known_u64){true, (uint64_t)outcome->blocks_per_sm};
    gpu->has_params = outcome->has_params;
    for (uint32_t i = 0; outcome->has_params && i < outcome->params.n; i++) {
        vec_push(arena, &gpu->params);
        gpu->params.at[i].offset = outcome->params.at[i].offset;
        gpu->params.at[i].size = outcome->params.at[i].size;
    }
    gpu->has_time = outcome->has_time;
    gpu->milliseconds = outcome->milliseconds;
    return gpu;
}

// ---------------------------------------------------------------------------------------------
// Kernels, as the driver sees them

static void row(struct record_kernel *record, struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void row(struct record_kernel *record, struct arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(arena, format, args);
    va_end(args);
    *vec_push(arena, &record->rows) = (struct record_row){"driver", text, {NULL, 0}};
}

static void block_of(const struct kernel *kernel, uint64_t block[3]) {
    const uint64_t any[3] = {256, 1, 1};
    const uint64_t *stated = kernel->has_reqntid ? kernel->reqntid : kernel->has_maxntid ? kernel->maxntid : any;
    memcpy(block, stated, 3 * sizeof *block);
}

static bool same_params(const struct kernel *kernel, const struct driver_outcome *outcome) {
    if (outcome->params.n != kernel->params.n) return false;
    for (uint32_t i = 0; i < kernel->params.n; i++)
        if (outcome->params.at[i].offset != kernel->params.at[i].offset ||
            outcome->params.at[i].size != kernel->params.at[i].size)
            return false;
    return true;
}

static void resource_rows(struct record_kernel *record, const struct kernel *kernel,
                          const struct driver_outcome *outcome, struct arena *arena) {
    const int *attributes = outcome->attributes;
    row(record, arena, "%d registers, at most %d threads per block", attributes[ATTRIBUTE_REGS],
        attributes[ATTRIBUTE_MAX_THREADS]);
    row(record, arena, "%d bytes static shared, %d local, %d constant", attributes[ATTRIBUTE_SHARED],
        attributes[ATTRIBUTE_LOCAL], attributes[ATTRIBUTE_CONST]);
    int shared = attributes[ATTRIBUTE_SHARED];
    if (shared >= 0 && (uint64_t)shared != kernel->shared_static)
        row(record, arena, "differs: static shared, %d bytes there, %llu here", shared,
            (unsigned long long)kernel->shared_static);
    if (outcome->has_params)
        row(record, arena, "%s", same_params(kernel, outcome) ? "parameters lie where they do here"
                                                              : "differs: the layout of the parameters");
}

// The query of one kernel. False: the driver is not there, and asking for others is no use.
static bool describe(const struct device_settings *settings, const struct record_file *file,
                     const struct kernel *kernel, struct arena *arena, struct record_kernel *record) {
    struct driver_request request = device_request(settings);
    struct driver_outcome outcome;
    request.query = true;
    request.ptx = file->source->text;
    request.ptx_size = file->source->size;
    request.kernel = str_copy(arena, kernel->name).data;
    block_of(kernel, request.block);
    driver_launch(&request, arena, &outcome);
    if (outcome.status == DRIVER_UNAVAILABLE) return false;
    if (outcome.status == DRIVER_FAILED) {
        row(record, arena, "%.*s", STR_ARG(outcome.failure));
        return true;
    }
    record->gpu = device_record(&outcome, arena);
    if (!outcome.has_attributes) {
        struct prediction answer = {.phase = outcome.phase, .result = outcome.result};
        const char *name = result_text(answer.result);
        row(record, arena, "%s answers %s (%d)", phase_call((enum phase)answer.phase),
            name != NULL ? name : "CUresult", answer.result);
        return true;
    }
    resource_rows(record, kernel, &outcome, arena);
    if (outcome.has_occupancy)
        row(record, arena, "%d blocks of (%llu, %llu, %llu) per SM", outcome.blocks_per_sm,
            (unsigned long long)request.block[0], (unsigned long long)request.block[1],
            (unsigned long long)request.block[2]);
    return true;
}

void device_describe(const struct device_settings *settings, struct record_file *file,
                     const struct module_facts *facts, struct arena *arena) {
    for (uint32_t i = 0; i < file->kernels.n; i++)
        for (uint32_t k = 0; k < facts->kernels.n; k++) {
            if (!str_eq(facts->kernels.at[k].name, file->kernels.at[i].name)) continue;
            if (!describe(settings, file, &facts->kernels.at[k], arena, &file->kernels.at[i])) return;
            break;
        }
}
