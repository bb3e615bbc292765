// Family 08: each argument against its parameter.
#include <math.h>

#include "analyzer/launch/rewrite.h"
#include "analyzer/launch/scalar.h"
#include "analyzer/rules/launch_rules.h"

#define U64(n) (unsigned long long)(n)

// An address below this is no buffer: the driver's own allocations begin far above.
#define LOWEST_ADDRESS 0x10000u

// One argument and the parameter it is for.
struct pair {
    struct launch_case *c;
    const struct argument *argument;
    const struct kernel_param *param;
    struct str name;      // of the parameter
    enum isa_type type;   // of the parameter
    uint8_t class;        // enum isa_type_class
    bool address;         // the kernel uses the parameter as an address
};

static struct finding *report(const struct pair *pair, enum rule rule) {
    struct finding *finding =
        case_finding(pair->c, rule, case_launch_place(pair->c, pair->argument->span));
    struct place place = case_ptx_place(pair->c, pair->param->variable->span);
    struct str type = isa_types[pair->type].text;
    if (pair->param->variable->is_array)
        finding_label(pair->c->findings, finding, place, "%llu bytes by value", U64(pair->param->size));
    else finding_label(pair->c->findings, finding, place, "`.%.*s`, %llu bytes%s", STR_ARG(type),
                       U64(pair->param->size), pair->address ? ", used as an address" : "");
    return finding;
}

#define MESSAGE(...) finding_message(pair->c->findings, finding, __VA_ARGS__)
#define HELP(...) finding_help(pair->c->findings, finding, __VA_ARGS__)
#define NOTE(...) finding_note(pair->c->findings, finding, __VA_ARGS__)

static struct str written(const struct pair *pair) {
    return source_text(pair->c->launch->source, pair->argument->span);
}

static bool is_aggregate(const struct pair *pair) {
    return pair->param->kind == PARAM_BYTES || pair->param->kind == PARAM_TENSORMAP;
}

static bool is_float_class(uint8_t class) { return class == TYPE_CLASS_F; }

// The name of a type of the parameter's size that a value of a class would have: "f32", "i64".
static const char *fitting_type(const struct pair *pair, bool floating) {
    switch (pair->param->size) {
    case 1: return floating ? "f8" : "i8";
    case 2: return floating ? "f16" : "i16";
    case 4: return floating ? "f32" : "i32";
    default: return floating ? "f64" : "i64";
    }
}

// ---- pointers -------------------------------------------------------------------------------------

static void pointer_size(const struct pair *pair) {
    struct finding *finding;
    if (pair->param->kind == PARAM_TENSORMAP) {
        finding = report(pair, RULE_TENSORMAP_ARGUMENT);
        MESSAGE("a pointer for `%.*s`, which is a tensor map of 128 bytes by value", STR_ARG(pair->name));
        HELP("pass the CUtensorMap itself, encoded by cuTensorMapEncodeTiled: `tensormap`");
        return;
    }
    if (is_aggregate(pair)) {
        finding = report(pair, RULE_ARGUMENT_STRUCT);
        MESSAGE("a pointer of 8 bytes for `%.*s`, a struct of %llu bytes by value", STR_ARG(pair->name),
                U64(pair->param->size));
        HELP("pass the struct itself: bytes[%llu]", U64(pair->param->size));
        return;
    }
    finding = report(pair, RULE_ARGUMENT_SIZE);
    MESSAGE("a pointer of 8 bytes for `%.*s` of %llu bytes", STR_ARG(pair->name), U64(pair->param->size));
    NOTE("the driver takes the first %llu bytes of it", U64(pair->param->size));
    HELP("pass a value of %llu bytes, and see whether an argument is missing before it",
         U64(pair->param->size));
}

static void scratch(const struct pair *pair) {
    struct finding *finding = report(pair, RULE_SCRATCH_REQUIRED);
    MESSAGE("null for `%.*s` (%.*s), which the kernel uses", STR_ARG(pair->name),
            STR_ARG(pair->param->what));
    if (pair->param->scratch_known && pair->param->scratch_size > 0) {
        const uint64_t *grid = pair->c->launch->grid;
        NOTE("%llu bytes for each program, aligned to %u", U64(pair->param->scratch_size),
             pair->param->scratch_align);
        HELP("allocate %llu x %llu x %llu x %llu bytes, times num_ctas", U64(pair->param->scratch_size),
             U64(grid[0]), U64(grid[1]), U64(grid[2]));
    } else HELP("allocate the scratch memory that the kernel's metadata states");
}

static void null_or_host(const struct pair *pair) {
    struct finding *finding;
    if (!pair->address) return;
    if (pair->argument->kind == ARGUMENT_HOST) {
        finding = report(pair, RULE_HOST_POINTER);
        MESSAGE("host memory for `%.*s`, which the kernel reads or writes", STR_ARG(pair->name));
        NOTE("managed memory, registered memory mapped to the device, and systems with address translation do work");
        HELP("copy it to device memory with cuMemcpyHtoD and pass that address");
    } else if (pair->param->role == PARAM_HIDDEN) scratch(pair);
    else {
        finding = report(pair, RULE_NULL_POINTER);
        MESSAGE("null for `%.*s`, which the kernel reads or writes", STR_ARG(pair->name));
        HELP("pass a buffer; `null` is right only where the kernel tests for it");
    }
}

// The greatest power of two that certainly divides the address; 0: not known.
static uint64_t address_alignment(const struct pair *pair) {
    const struct argument *argument = pair->argument;
    uint64_t bits = argument->kind == ARGUMENT_TYPED ? argument->bits : argument->magnitude;
    switch (argument->kind) {
    case ARGUMENT_BUFFER: return argument->align != 0 ? argument->align : 256;
    case ARGUMENT_POINTER: return argument->align;
    case ARGUMENT_INT: case ARGUMENT_TYPED: return bits & (0 - bits);
    default: return 0;
    }
}

static void alignment(const struct pair *pair) {
    uint64_t align = address_alignment(pair);
    const struct kernel_param *param = pair->param;
    if (align == 0) return;
    if (param->variable->is_ptr && param->variable->ptr_align > align) {
        struct finding *finding = report(pair, RULE_POINTER_PROMISE);
        MESSAGE("an address aligned to %llu for `%.*s`, which is declared `.align %u`", U64(align),
                STR_ARG(pair->name), param->variable->ptr_align);
        HELP("pass an address that is a multiple of %u", param->variable->ptr_align);
    } else if (pair->address && param->align_needed > align) {
        struct finding *finding = report(pair, RULE_POINTER_ALIGNMENT);
        MESSAGE("an address aligned to %llu for `%.*s`, which is accessed %u bytes at a time", U64(align),
                STR_ARG(pair->name), param->align_needed);
        HELP("pass an address that is a multiple of %u", param->align_needed);
    } else if (param->divisible_by > align) {
        struct finding *finding = report(pair, RULE_ARGUMENT_DIVISIBILITY);
        MESSAGE("an address aligned to %llu for `%.*s`, which was compiled for multiples of %u", U64(align),
                STR_ARG(pair->name), param->divisible_by);
        HELP("align it, or compile the kernel without that specialisation");
    }
}

static void pointer_as_scalar(const struct pair *pair) {
    struct finding *finding;
    if (is_float_class(pair->class)) {
        finding = report(pair, RULE_ARGUMENT_KIND);
        MESSAGE("a pointer for `%.*s`, a floating-point number", STR_ARG(pair->name));
        HELP("pass a number; see whether an argument is missing before it");
        return;
    }
    bool unused = pair->param->kind == PARAM_SCALAR && pair->c->kernel->bodies_known &&
                  pair->param->read && pair->param->access == ACCESS_NONE;
    if (!unused || pair->argument->kind == ARGUMENT_NULL) return;
    finding = report(pair, RULE_POINTER_AS_SCALAR);
    MESSAGE("a pointer for `%.*s`, which the kernel uses as a number only", STR_ARG(pair->name));
    HELP("see whether the arguments are in order");
}

static void check_pointer(const struct pair *pair) {
    if (pair->param->size != 8) {
        pointer_size(pair);
        return;
    }
    if (pair->argument->kind == ARGUMENT_NULL || pair->argument->kind == ARGUMENT_HOST) null_or_host(pair);
    else alignment(pair);
    pointer_as_scalar(pair);
}

// ---- scalars --------------------------------------------------------------------------------------

static void scalar_for_aggregate(const struct pair *pair) {
    bool map = pair->param->kind == PARAM_TENSORMAP;
    struct finding *finding = report(pair, map ? RULE_TENSORMAP_ARGUMENT : RULE_ARGUMENT_STRUCT);
    MESSAGE("a scalar for `%.*s`, %s of %llu bytes by value", STR_ARG(pair->name),
            map ? "a tensor map" : "a struct", U64(pair->param->size));
    if (map) HELP("tensormap");
    else HELP("bytes[%llu]", U64(pair->param->size));
}

// A number where an address is wanted.
static void scalar_address(const struct pair *pair, uint64_t bits) {
    if (!pair->address) return;
    struct finding *finding;
    if (bits == 0) {
        finding = report(pair, pair->param->role == PARAM_HIDDEN ? RULE_SCRATCH_REQUIRED : RULE_NULL_POINTER);
        MESSAGE("0 for `%.*s`, which the kernel uses as an address", STR_ARG(pair->name));
        HELP("pass a buffer");
    } else if (bits < LOWEST_ADDRESS) {
        finding = report(pair, RULE_SCALAR_AS_POINTER);
        MESSAGE("%llu for `%.*s`, which the kernel uses as an address", U64(bits), STR_ARG(pair->name));
        HELP("pass a buffer; see whether the arguments are in order");
    } else alignment(pair);
}

static bool fits_bits(const struct argument *argument, uint64_t size) {
    if (size >= 8) return !argument->negative || argument->magnitude <= (uint64_t)1 << 63;
    uint64_t bits = 8 * size;
    return argument->negative ? argument->magnitude <= (uint64_t)1 << (bits - 1)
                              : argument->magnitude >> bits == 0;
}

static bool exact_in(enum isa_type type, double value) {
    uint64_t bits;
    double back;
    if (isnan(value)) return true;
    return scalar_encode(type, value, &bits) && scalar_decode(type, bits, &back) && back == value;
}

static enum isa_type float_type_of(const struct pair *pair) {
    if (is_float_class(pair->class)) return pair->type;
    return pair->param->size == 2 ? TYPE_F16 : pair->param->size == 4 ? TYPE_F32 : TYPE_F64;
}

static bool exact_float(const struct pair *pair, double value) {
    enum isa_type type = float_type_of(pair);
    if (exact_in(type, value)) return true;
    return type == TYPE_F16 && !is_float_class(pair->class) && exact_in(TYPE_BF16, value);
}

static void host_size(const struct pair *pair, uint64_t size, const char *what) {
    struct finding *finding = report(pair, RULE_ARGUMENT_SIZE);
    MESSAGE("`%.*s` is %s of %llu bytes on this host, and `%.*s` has %llu", STR_ARG(written(pair)), what,
            U64(size), STR_ARG(pair->name), U64(pair->param->size));
    HELP("convert it: %s(%.*s)", fitting_type(pair, pair->argument->kind == ARGUMENT_FLOAT),
         STR_ARG(written(pair)));
}

// What a bare number is on the host that was named; 0: it takes the parameter's type.
static uint64_t bare_size(const struct pair *pair) {
    bool floating = pair->argument->kind == ARGUMENT_FLOAT;
    bool wide = pair->argument->magnitude > (uint64_t)INT32_MAX + pair->argument->negative;
    switch (pair->c->options->host) {
    case HOST_CUPY: return 8;
    case HOST_C: return floating || wide ? 8 : 4;
    case HOST_RUST: return floating ? 8 : wide ? 8 : 4;
    default: return 0;  // Python and Numba convert to what the signature says
    }
}

static void float_as_integer_bits(const struct pair *pair) {
    struct finding *finding = report(pair, RULE_ARGUMENT_KIND);
    finding->severity = SEVERITY_ERROR;
    MESSAGE("an integer for `%.*s`, which is a floating-point number", STR_ARG(pair->name));
    NOTE("its bits are read as they are: 1 would be 1.4e-45");
    HELP("%s(%.*s)", fitting_type(pair, true), STR_ARG(written(pair)));
}

static void check_int(const struct pair *pair) {
    const struct argument *argument = pair->argument;
    uint64_t size = bare_size(pair);
    if (is_aggregate(pair)) {
        scalar_for_aggregate(pair);
        return;
    }
    if (size != 0 && size != pair->param->size) host_size(pair, size, "an integer");
    else if (size != 0 && is_float_class(pair->class)) float_as_integer_bits(pair);
    else if (is_float_class(pair->class)) {
        double value = argument->negative ? -(double)argument->magnitude : (double)argument->magnitude;
        if (exact_in(pair->type, value) && (uint64_t)fabs(value) == argument->magnitude) return;
        struct finding *finding = report(pair, RULE_LITERAL_RANGE);
        MESSAGE("`%.*s` is no value of `.%.*s`", STR_ARG(written(pair)), STR_ARG(isa_types[pair->type].text));
        HELP("%s(%.*s) rounds it", fitting_type(pair, true), STR_ARG(written(pair)));
    } else if (!fits_bits(argument, pair->param->size)) {
        struct finding *finding = report(pair, RULE_LITERAL_RANGE);
        MESSAGE("`%.*s` does not fit the %llu bytes of `%.*s`", STR_ARG(written(pair)),
                U64(pair->param->size), STR_ARG(pair->name));
        HELP("pass a value of at most %llu bits", U64(8 * pair->param->size));
    } else scalar_address(pair, argument->negative ? 0 - argument->magnitude : argument->magnitude);
}

static void check_float(const struct pair *pair) {
    double value = pair->argument->number;
    uint64_t size = bare_size(pair);
    struct finding *finding;
    if (is_aggregate(pair)) scalar_for_aggregate(pair);
    else if (pair->address) {
        finding = report(pair, RULE_ARGUMENT_KIND);
        finding->severity = SEVERITY_ERROR;
        MESSAGE("a floating-point number for `%.*s`, which the kernel uses as an address", STR_ARG(pair->name));
        HELP("pass a buffer; see whether the arguments are in order");
    } else if (size != 0 && size != pair->param->size) host_size(pair, size, "a floating-point number");
    else if (pair->class == TYPE_CLASS_U || pair->class == TYPE_CLASS_S) {
        finding = report(pair, RULE_LITERAL_RANGE);
        MESSAGE("`%.*s` for `%.*s`, which is an integer", STR_ARG(written(pair)), STR_ARG(pair->name));
        HELP("pass an integer; f32(...) or f64(...) passes the bits of a floating-point number");
    } else if (pair->param->size == 1 || (size == 0 && !exact_float(pair, value))) {
        finding = report(pair, RULE_LITERAL_RANGE);
        MESSAGE("`%.*s` is no value of %s", STR_ARG(written(pair)), fitting_type(pair, true));
        HELP("%s(%.*s) rounds it", fitting_type(pair, true), STR_ARG(written(pair)));
    }
}

static bool is_half(enum isa_type type) { return type == TYPE_F16 || type == TYPE_BF16; }

static void typed_size(const struct pair *pair, uint64_t size) {
    enum isa_type type = (enum isa_type)pair->argument->type;
    struct finding *finding;
    struct str text = pair->argument->type_text;
    bool half = (type == TYPE_F32 && pair->param->size == 2) || (is_half(type) && pair->type == TYPE_F32);
    if (pair->argument->is_bool && !is_float_class(pair->class)) {
        finding = report(pair, RULE_ARGUMENT_BOOL);
        MESSAGE("a bool of 1 byte for `%.*s` of %llu bytes", STR_ARG(pair->name), U64(pair->param->size));
        NOTE("the driver reads %llu bytes where the bool is; Triton passes i1 as int32",
             U64(pair->param->size));
        HELP("%s(%llu)", fitting_type(pair, false), U64(pair->argument->bits));
        return;
    }
    finding = report(pair, half ? RULE_ARGUMENT_HALF : RULE_ARGUMENT_SIZE);
    MESSAGE("%.*s of %llu bytes for `%.*s` of %llu bytes", STR_ARG(text), U64(size), STR_ARG(pair->name),
            U64(pair->param->size));
    if (half && pair->param->size == 2) {
        NOTE("a kernel with 2-byte parameters takes the encoded value, as Triton does since 3.4");
        HELP("f16(%.9g) or bf16(%.9g)", pair->argument->number, pair->argument->number);
    } else if (half) {
        NOTE("Triton before 3.4 takes f32 for its floating-point scalars");
        HELP("f32(%.9g)", pair->argument->number);
    } else {
        NOTE(size > pair->param->size ? "the driver takes the low %llu bytes"
                                      : "the driver reads %llu bytes where the value is: the rest is garbage",
             U64(pair->param->size));
        HELP("%s(...)", fitting_type(pair, is_float_class(isa_types[type].class)));
    }
}

static void typed_kind(const struct pair *pair) {
    uint8_t given = isa_types[pair->argument->type].class;
    bool floating = is_float_class(given), wanted = is_float_class(pair->class);
    if (given == TYPE_CLASS_B || pair->class == TYPE_CLASS_B || floating == wanted) return;
    struct finding *finding = report(pair, RULE_ARGUMENT_KIND);
    MESSAGE("%.*s for `%.*s`, which is `.%.*s`", STR_ARG(pair->argument->type_text), STR_ARG(pair->name),
            STR_ARG(isa_types[pair->type].text));
    NOTE("the bits are read as they are");
    HELP("%s(...)", fitting_type(pair, wanted));
}

static void divisible(const struct pair *pair, uint64_t value) {
    if (pair->param->divisible_by < 2 || pair->address || value % pair->param->divisible_by == 0) return;
    struct finding *finding = report(pair, RULE_ARGUMENT_DIVISIBILITY);
    MESSAGE("%llu for `%.*s`, which was compiled for multiples of %u", U64(value), STR_ARG(pair->name),
            pair->param->divisible_by);
    HELP("compile the kernel without that specialisation");
}

static void check_typed(const struct pair *pair) {
    const struct argument *argument = pair->argument;
    uint64_t size = case_argument_size(pair->c, argument, pair->param);
    if (argument->wrapped) {
        struct finding *finding = report(pair, RULE_ARGUMENT_WRAPPED);
        MESSAGE("`%.*s` is no value of %.*s: it becomes 0x%llx", STR_ARG(written(pair)),
                STR_ARG(argument->type_text), U64(argument->bits));
        HELP("use a wider type, or the value that is meant");
    }
    if (is_aggregate(pair) && size != pair->param->size) scalar_for_aggregate(pair);
    else if (size != pair->param->size) typed_size(pair, size);
    else {
        typed_kind(pair);
        if (!is_float_class(isa_types[argument->type].class)) scalar_address(pair, argument->bits);
    }
}

// ---- by value -------------------------------------------------------------------------------------

static void check_bytes(const struct pair *pair) {
    if (pair->argument->size == pair->param->size) return;
    bool map = pair->param->kind == PARAM_TENSORMAP;
    struct finding *finding = report(pair, map ? RULE_TENSORMAP_ARGUMENT : RULE_ARGUMENT_STRUCT);
    MESSAGE("%llu bytes for `%.*s`, which has %llu", U64(pair->argument->size), STR_ARG(pair->name),
            U64(pair->param->size));
    if (pair->param->align > 1)
        NOTE("it is aligned to %u bytes: padding at the end of the struct counts", pair->param->align);
    HELP("bytes[%llu]", U64(pair->param->size));
}

static void check_tensormap(const struct pair *pair) {
    if (pair->param->size == 128) return;
    struct finding *finding = report(pair, RULE_TENSORMAP_ARGUMENT);
    MESSAGE("a tensor map of 128 bytes for `%.*s` of %llu bytes", STR_ARG(pair->name),
            U64(pair->param->size));
    if (pair->param->size == 8)
        HELP("the kernel takes its address: copy the map to device memory and pass `u8[128]@64`");
    else HELP("see whether the arguments are in order");
}

static void check_argument(const struct pair *pair) {
    switch (pair->argument->kind) {
    case ARGUMENT_BUFFER: case ARGUMENT_POINTER: case ARGUMENT_NULL: case ARGUMENT_HOST:
        check_pointer(pair);
        break;
    case ARGUMENT_INT:
        check_int(pair);
        if (!pair->argument->negative) divisible(pair, pair->argument->magnitude);
        break;
    case ARGUMENT_FLOAT: check_float(pair); break;
    case ARGUMENT_TYPED:
        check_typed(pair);
        if (!is_float_class(isa_types[pair->argument->type].class)) divisible(pair, pair->argument->bits);
        break;
    case ARGUMENT_BYTES: check_bytes(pair); break;
    case ARGUMENT_TENSORMAP: check_tensormap(pair); break;
    default: break;
    }
}

void rules_arguments(struct launch_case *c) {
    if (!c->kernel->decl->parsed) return;
    for (uint32_t i = 0; i < c->launch->arguments.n; i++) {
        uint32_t index = case_param_of(c, i);
        if (index == NO_INDEX) continue;
        const struct kernel_param *param = &c->kernel->params.at[index];
        struct pair pair = {.c = c, .argument = &c->launch->arguments.at[i], .param = param,
                            .name = rules_param_name(param), .type = (enum isa_type)param->variable->type};
        pair.class = isa_types[pair.type].class;
        pair.address = param->kind == PARAM_POINTER && param->dereferenced;
        check_argument(&pair);
    }
}
