#include "analyzer/facts/cubin.h"

// ELF-64, little endian: offsets of the fields that are looked at.
enum {
    ELF_CLASS = 4, ELF_DATA = 5, ELF_ABI_VERSION = 8, ELF_MACHINE = 18, ELF_SECTIONS = 40,
    ELF_FLAGS = 48, ELF_SECTION_SIZE = 58, ELF_SECTION_COUNT = 60, ELF_HEADER_SIZE = 64,
    MACHINE_CUDA = 190
};

static uint64_t number_at(struct str bytes, uint32_t offset, uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = size; i-- > 0;)
        value = value << 8 | (unsigned char)bytes.data[offset + i];
    return value;
}

// ABI version 8 keeps the architecture in bits 8 to 15 of the flags, earlier ones in the lowest eight
// (llvm/BinaryFormat/ELF.h: EF_CUDA_SM; measured: ptxas 13.0 writes version 8 and 0x06005a04 for
// sm_90 and sm_90a, 0x06007802 for sm_120).
static uint32_t architecture(struct str bytes) {
    uint64_t flags = number_at(bytes, ELF_FLAGS, 4);
    bool is_new = (unsigned char)bytes.data[ELF_ABI_VERSION] >= 8;
    return (uint32_t)(is_new ? flags >> 8 : flags) & 0xff;
}

static bool is_whole(struct str bytes) {
    uint64_t sections = number_at(bytes, ELF_SECTIONS, 8);
    uint64_t table = number_at(bytes, ELF_SECTION_SIZE, 2) * number_at(bytes, ELF_SECTION_COUNT, 2);
    return sections <= bytes.len && table <= bytes.len - sections;
}

void cubin_read(struct str bytes, struct cubin *cubin) {
    *cubin = (struct cubin){.state = CUBIN_NONE};
    if (bytes.len < 4 || memcmp(bytes.data, "\x7f" "ELF", 4) != 0) return;
    cubin->state = CUBIN_CUT;
    if (bytes.len < ELF_HEADER_SIZE) return;
    cubin->state = CUBIN_OTHER;
    if (bytes.data[ELF_CLASS] != 2 || bytes.data[ELF_DATA] != 1) return;
    if (number_at(bytes, ELF_MACHINE, 2) != MACHINE_CUDA) return;
    cubin->state = is_whole(bytes) ? CUBIN_WHOLE : CUBIN_CUT;
    cubin->capability = architecture(bytes);
}

bool cubin_runs_on(uint32_t cubin, uint32_t device) {
    return cubin / 10 == device / 10 && cubin % 10 <= device % 10;
}
