#include "driver/protocol.h"

#include "base/output.h"

#define MAGIC 0x70747876u  // "ptxv"
#define MAX_PARAMS 4096    // a kernel's parameters take at most 32764 bytes
#define MAX_LOG (1u << 20)

static uint64_t fnv(const unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t record_check(const struct record *record) {
    return fnv((const unsigned char *)record, offsetof(struct record, check));
}

void record_seal(struct record *record, uint32_t sequence) {
    record->magic = MAGIC;
    record->sequence = sequence;
    record->check = record_check(record);
}

void record_reader_init(struct record_reader *reader, struct driver_outcome *outcome,
                        struct arena *arena) {
    memset(reader, 0, sizeof *reader);
    reader->outcome = outcome;
    reader->arena = arena;
    output_init(&reader->error_log, arena);
    output_init(&reader->info_log, arena);
}

static struct str record_text(const struct record *record, struct arena *arena) {
    return str_copy(arena, (struct str){record->text, record->text_size});
}

static void take_device(struct driver_outcome *outcome, const struct record *record) {
    struct driver_device *device = &outcome->device;
    size_t size = record->text_size < sizeof device->name ? record->text_size : sizeof device->name - 1;
    memset(device->name, 0, sizeof device->name);
    memcpy(device->name, record->text, size);
    device->major = (int)record->values[0];
    device->minor = (int)record->values[1];
    device->processors = (int)record->values[2];
    device->cuda = (int)record->values[3];
    device->shared_optin = (int)record->values[4];
    outcome->has_device = true;
}

static void take_answer(struct record_reader *reader, const struct record *record) {
    struct driver_outcome *outcome = reader->outcome;
    outcome->phase = (uint8_t)driver_step_phase((enum driver_step)record->step);
    outcome->result = record->result;
    reader->answered = true;
}

static void take_failure(struct record_reader *reader, const struct record *record,
                         enum driver_status status) {
    reader->outcome->status = (uint8_t)status;
    reader->outcome->failure = record_text(record, reader->arena);
    reader->done = true;
}

static bool take_param(struct record_reader *reader, const struct record *record) {
    struct driver_outcome *outcome = reader->outcome;
    if (record->index != outcome->params.n || record->index >= MAX_PARAMS) return false;
    struct driver_param *param = vec_push(reader->arena, &outcome->params);
    *param = (struct driver_param){record->values[0], record->values[1]};
    return true;
}

static bool take_buffer(struct record_reader *reader, const struct record *record) {
    if (record->index >= MAX_PARAMS || reader->outcome->buffers.n >= MAX_PARAMS) return false;
    struct driver_buffer *buffer = vec_push(reader->arena, &reader->outcome->buffers);
    *buffer = (struct driver_buffer){.arg = record->index, .address = record->values[0],
                                     .size = record->values[1], .slack = record->values[2]};
    return true;
}

static bool take_canary(struct record_reader *reader, const struct record *record) {
    for (uint32_t i = 0; i < reader->outcome->buffers.n; i++) {
        struct driver_buffer *buffer = &reader->outcome->buffers.at[i];
        if (buffer->arg != record->index) continue;
        buffer->changed = record->values[0];
        buffer->first = (int64_t)record->values[1];
        return true;
    }
    return false;
}

static bool take_log(struct output *log, const struct record *record) {
    if (log->size + record->text_size > MAX_LOG) return false;
    output_bytes(log, record->text, record->text_size);
    return true;
}

// False when the record makes no sense where it stands.
static bool take(struct record_reader *reader, const struct record *record) {
    struct driver_outcome *outcome = reader->outcome;
    switch ((enum record_kind)record->kind) {
    case RECORD_STEP:
        if (reader->started && record->step < reader->step) return false;
        reader->started = true;
        reader->step = (enum driver_step)record->step;
        return true;
    case RECORD_RESULT:
        if (reader->answered || driver_step_phase((enum driver_step)record->step) == PHASE_NONE)
            return false;
        take_answer(reader, record);
        return true;
    case RECORD_FAILURE: take_failure(reader, record, DRIVER_FAILED); return true;
    case RECORD_UNAVAILABLE: take_failure(reader, record, DRIVER_UNAVAILABLE); return true;
    case RECORD_DEVICE: take_device(outcome, record); return true;
    case RECORD_ATTRIBUTE:
        if (record->index >= ATTRIBUTE_COUNT) return false;
        outcome->attributes[record->index] = (int)record->values[0];
        outcome->has_attributes = true;
        return true;
    case RECORD_PARAM: return take_param(reader, record);
    case RECORD_PARAMS_END:
        outcome->has_params = record->values[0] == outcome->params.n;
        return outcome->has_params;
    case RECORD_OCCUPANCY:
        outcome->blocks_per_sm = (int)record->values[0];
        outcome->has_occupancy = true;
        return true;
    case RECORD_BUFFER: return take_buffer(reader, record);
    case RECORD_CANARY: return take_canary(reader, record);
    case RECORD_TIME:
        memcpy(&outcome->milliseconds, &record->values[0], sizeof outcome->milliseconds);
        outcome->has_time = true;
        return true;
    case RECORD_ERROR_LOG: return take_log(&reader->error_log, record);
    case RECORD_INFO_LOG: return take_log(&reader->info_log, record);
    case RECORD_DONE: reader->done = true; return true;
    case RECORD_KINDS: break;
    }
    return false;
}

static bool record_valid(const struct record *record, uint32_t sequence) {
    return record->magic == MAGIC && record->sequence == sequence &&
           record->kind < RECORD_KINDS && record->text_size <= RECORD_TEXT &&
           record->step < STEP_COUNT && record->check == record_check(record);
}

void record_reader_feed(struct record_reader *reader, const unsigned char *bytes, size_t size) {
    while (size > 0 && !reader->broken && !reader->done) {
        size_t part = sizeof reader->pending - reader->pending_size;
        if (part > size) part = size;
        memcpy(reader->pending + reader->pending_size, bytes, part);
        reader->pending_size += (uint32_t)part;
        bytes += part;
        size -= part;
        if (reader->pending_size < sizeof reader->pending) return;
        struct record record;
        memcpy(&record, reader->pending, sizeof record);
        reader->pending_size = 0;
        if (!record_valid(&record, reader->sequence++) || !take(reader, &record))
            reader->broken = true;
    }
}

void record_reader_finish(struct record_reader *reader) {
    struct output *error = &reader->error_log, *info = &reader->info_log;
    reader->outcome->error_log = (struct str){error->data, (uint32_t)error->size};
    reader->outcome->info_log = (struct str){info->data, (uint32_t)info->size};
}
