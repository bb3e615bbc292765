// What the child tells its parent: records of one size, written whole (they are shorter than
// PIPE_BUF). A reader takes nothing on trust: after the first record that is not one, it is broken.
#ifndef PTXVET_DRIVER_PROTOCOL_H
#define PTXVET_DRIVER_PROTOCOL_H

#include "base/output.h"
#include "driver/driver.h"

enum record_kind {
    RECORD_STEP,       // step: it begins
    RECORD_RESULT,     // step, result: the driver's answer; more may follow only on success
    RECORD_FAILURE,    // step, text: operational
    RECORD_UNAVAILABLE,  // step, text
    RECORD_DEVICE,     // text: the name; values: major, minor, processors, cuda, shared_optin
    RECORD_ATTRIBUTE,  // index, values[0]
    RECORD_PARAM,      // index, values: offset, size
    RECORD_PARAMS_END, // values[0]: how many
    RECORD_OCCUPANCY,  // values[0]
    RECORD_BUFFER,     // index: the argument; values: address, size, slack
    RECORD_CANARY,     // index: the argument; values: changed, first (two's complement)
    RECORD_TIME,       // values[0]: bits of a double, milliseconds
    RECORD_ERROR_LOG,  // text: a piece
    RECORD_INFO_LOG,
    RECORD_DONE,
    RECORD_KINDS
};

#define RECORD_TEXT 176

struct record {
    uint32_t magic, sequence;
    uint16_t kind, text_size;
    uint32_t step;
    int32_t result;
    uint32_t index;
    uint64_t values[5];
    char text[RECORD_TEXT];
    uint64_t check;  // FNV-1a of all that stands before it
};

// Fills in magic, sequence and check.
void record_seal(struct record *record, uint32_t sequence);

struct record_reader {
    struct driver_outcome *outcome;
    struct arena *arena;
    unsigned char pending[sizeof(struct record)];
    uint32_t pending_size;
    uint32_t sequence;
    enum driver_step step;  // the last that began
    bool started, answered, done, broken;
    struct output error_log, info_log;
};

void record_reader_init(struct record_reader *reader, struct driver_outcome *outcome,
                        struct arena *arena);
void record_reader_feed(struct record_reader *reader, const unsigned char *bytes, size_t size);
// Puts the logs into the outcome.
void record_reader_finish(struct record_reader *reader);

#endif
