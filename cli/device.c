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
