#include "analyzer/launch/sources.h"

#include <stdlib.h>

#include "analyzer/launch/sources_mangled.h"

struct naming {
    struct kernel *kernel;
    struct mangled_name name;
    struct arena *arena;
    bool is_numba, is_cupy;  // what the module's variables show
    bool is_rust;
    bool counting;           // Numba's first pass: nothing is said yet
    uint32_t steps;          // of it: nested tuples multiply
};

#define MOST_STEPS 4096

static void say(struct naming *naming, uint32_t index, struct str what) {
    naming->kernel->params.at[index].what = what;
}

// --- pieces of a template's text -----------------------------------------------------------------

#define MOST_PIECES 16

struct pieces {
    struct str name;
    struct str at[MOST_PIECES];
    uint32_t n;
};

static struct str trim(struct str text) {
    while (text.len > 0 && text.data[0] == ' ') text = (struct str){text.data + 1, text.len - 1};
    while (text.len > 0 && text.data[text.len - 1] == ' ') text.len--;
    return text;
}

// "Array<float, 1, C, mutable, aligned>" into its name and arguments. False: it is no template, or
// has more arguments than any that is looked for here.
static bool cut_template(struct str type, struct pieces *pieces) {
    const char *open = memchr(type.data, '<', type.len);
    *pieces = (struct pieces){.name = type};
    if (open == NULL || type.data[type.len - 1] != '>') return false;
    pieces->name.len = (uint32_t)(open - type.data);
    uint32_t depth = 0, begin = pieces->name.len + 1;
    for (uint32_t i = begin; i < type.len; i++) {
        char c = type.data[i];
        if (c == '<' || c == '(' || c == '[') depth++;
        bool closes = c == '>' || c == ')' || c == ']';
        if (depth == 0 && (c == ',' || i + 1 == type.len)) {
            if (pieces->n == MOST_PIECES) return false;
            pieces->at[pieces->n++] = trim((struct str){type.data + begin, i - begin});
            begin = i + 1;
        }
        if (closes && depth > 0) depth--;
    }
    return true;
}

static bool small_number(struct str text, uint32_t *number) {
    *number = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || *number > 1000) break;
        *number = *number * 10 + (uint32_t)(text.data[i] - '0');
    }
    return text.len > 0 && text.data[0] >= '0' && text.data[0] <= '9';
}

// --- Numba ---------------------------------------------------------------------------------------

// An argument is spread over parameters by its data model; an array of n dimensions over 5 + 2n.
// False: a type that is not known here.
static bool numba_argument(struct naming *naming, struct str type, uint32_t argument,
                           uint32_t *next);

static bool numba_array(struct naming *naming, const struct pieces *pieces, uint32_t argument,
                        uint32_t *next) {
    static const char *const fields[] = {"meminfo (pass 0)", "parent (pass 0)",
                                         "nitems, the number of elements", "itemsize, in bytes",
                                         "data, the device pointer"};
    uint32_t rank;
    if (pieces->n < 3 || !small_number(pieces->at[1], &rank) || rank > 16) return false;
    uint32_t first = *next;
    *next += 5 + 2 * rank;
    if (naming->counting) return true;
    struct str head = str_format(naming->arena, "Numba array of %.*s, argument %u",
                                 STR_ARG(pieces->at[0]), argument);
    for (uint32_t i = 0; i < 5; i++)
        say(naming, first + i,
            str_format(naming->arena, "%.*s: %s", STR_ARG(head), fields[i]));
    for (uint32_t i = 0; i < rank; i++) {
        say(naming, first + 5 + i,
            str_format(naming->arena, "%.*s: shape[%u]", STR_ARG(head), i));
        say(naming, first + 5 + rank + i,
            str_format(naming->arena, "%.*s: strides[%u], in bytes", STR_ARG(head), i));
    }
    return true;
}

static bool numba_tuple(struct naming *naming, const struct pieces *pieces, uint32_t argument,
                        uint32_t *next) {
    uint32_t times = 1;
    bool uniform = str_eq(pieces->name, STR("UniTuple"));
    if (uniform && (pieces->n != 2 || !small_number(pieces->at[1], &times) || times > 256))
        return false;
    uint32_t kinds = uniform ? 1 : pieces->n;
    for (uint32_t i = 0; i < kinds * times; i++)
        if (!numba_argument(naming, pieces->at[uniform ? 0 : i], argument, next)) return false;
    return true;
}

static bool is_cpp_number(struct str type) {
    static const char *const types[] = {
        "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int",
        "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float",
        "double", "half", "_Float16", "__bf16"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (str_eq(type, str_from(types[i]))) return true;
    return str_eq(type, STR("float16")) || str_eq(type, STR("bool_"));
}

static bool numba_argument(struct naming *naming, struct str type, uint32_t argument,
                           uint32_t *next) {
    struct pieces pieces;
    if (++naming->steps > MOST_STEPS) return false;
    if (cut_template(type, &pieces)) {
        if (str_eq(pieces.name, STR("Array")))
            return numba_array(naming, &pieces, argument, next);
        if (str_eq(pieces.name, STR("UniTuple")) || str_eq(pieces.name, STR("Tuple")))
            return numba_tuple(naming, &pieces, argument, next);
        return false;
    }
    bool is_complex = str_starts(type, STR("complex"));
    if (!is_complex && !is_cpp_number(type)) return false;
    if (!naming->counting)
        say(naming, *next, str_format(naming->arena, "Numba %.*s, argument %u%s", STR_ARG(type),
                                      argument, is_complex ? ": real part" : ""));
    if (!naming->counting && is_complex)
        say(naming, *next + 1, str_format(naming->arena, "Numba %.*s, argument %u: imaginary part",
                                          STR_ARG(type), argument));
    *next += is_complex ? 2 : 1;
    return true;
}

static bool numba(struct naming *naming, bool counting) {
    uint32_t next = 0;
    naming->counting = counting;
    naming->steps = 0;
    for (uint32_t i = 0; i < naming->name.types.n; i++)
        if (!numba_argument(naming, naming->name.types.at[i], i + 1, &next)) return false;
    return next == naming->kernel->params.n;
}

static bool is_numba_array(struct str type) {
    return str_starts(type, STR("Array<")) && str_ends(type, STR("aligned>"));
}

static bool apply_numba(struct naming *naming) {
    bool shown = naming->is_numba;
    for (uint32_t i = 0; i < naming->name.types.n; i++)
        shown = shown || is_numba_array(naming->name.types.at[i]);
    // Counted first: a signature that does not account for every parameter must not name any.
    if (!shown || !numba(naming, true)) return false;
    return numba(naming, false);
}

// --- CuPy ----------------------------------------------------------------------------------------

// CArray {data, size, shape[n], strides[n]} and CIndexer {size, shape[n], index[n]} by value.
static bool apply_cupy(struct naming *naming, struct module_facts *facts) {
    if (!naming->is_cupy) return false;
    if (facts->generator == GENERATOR_NVVM) {  // a kernel of the user's own, through ElementwiseKernel
        struct str text = facts->generator_text;
        const char *release = text.len > 0 ? memchr(text.data, '(', text.len) : NULL;
        facts->generator = GENERATOR_CUPY;
        facts->generator_text = STR("CuPy");
        if (release != NULL)
            facts->generator_text = str_format(naming->arena, "CuPy %.*s",
                                               (int)(text.data + text.len - release), release);
    }
    for (uint32_t i = 0; i < naming->kernel->params.n; i++) {
        struct kernel_param *param = &naming->kernel->params.at[i];
        if (param->kind != PARAM_BYTES || param->size < 8 || param->size > 8 + 16 * 32) continue;
        uint32_t rank = (uint32_t)(param->size - 8) / 16;
        if (param->size % 16 == 8)
            param->what = str_format(naming->arena,
                                     "CuPy indexer of rank %u: {size, shape[%u], index[%u]}, i64",
                                     rank, rank, rank);
        else if (param->size >= 16 && param->size % 16 == 0)
            param->what = str_format(
                naming->arena,
                "CuPy array of rank %u: {data pointer, size, shape[%u], strides[%u]}, i64",
                rank, rank, rank);
    }
    return true;
}

// --- CUDA.jl -------------------------------------------------------------------------------------

// The device array of CUDA.jl 3 and later: {pointer, maxsize, dims[n], length}; before: {dims[n],
// pointer}.
static struct str julia_array(struct naming *naming, struct str type, uint64_t size) {
    struct pieces pieces;
    uint32_t rank;
    if (!cut_template(type, &pieces) || !str_eq(pieces.name, STR("CuDeviceArray")) ||
        pieces.n < 2 || !small_number(pieces.at[1], &rank) || rank > 32)
        return STR("");
    if (size == 24 + 8 * (uint64_t)rank)
        return str_format(naming->arena,
                          "CuDeviceArray of %.*s, rank %u: {pointer, maxsize, dims[%u], length}",
                          STR_ARG(pieces.at[0]), rank, rank);
    if (size == 8 + 8 * (uint64_t)rank)
        return str_format(naming->arena, "CuDeviceArray of %.*s, rank %u: {dims[%u], pointer}",
                          STR_ARG(pieces.at[0]), rank, rank);
    return STR("");
}

static bool is_julia(const struct naming *naming, const struct module_facts *facts) {
    if (facts->generator == GENERATOR_JULIA) return true;
    for (uint32_t i = 0; i < naming->name.types.n; i++)
        if (str_starts(naming->name.types.at[i], STR("CuDeviceArray<"))) return true;
    return false;
}

// Since CUDA.jl 3.3 a state {exception flag or info, random seed} stands before the arguments.
static bool apply_julia(struct naming *naming, struct module_facts *facts) {
    struct kernel *kernel = naming->kernel;
    if (!is_julia(naming, facts)) return false;
    if (facts->generator != GENERATOR_JULIA) {  // all that the text itself shows is LLVM
        facts->generator = GENERATOR_JULIA;
        facts->generator_text = STR("CUDA.jl");
    }
    if (kernel->params.n == 0) return false;
    const struct kernel_param *first = &kernel->params.at[0];
    uint32_t types = naming->name.types.n;
    bool has_state = first->kind == PARAM_BYTES && (first->size == 8 || first->size == 16) &&
                     first->align == 8 && (types == 0 || kernel->params.n != types);
    if (has_state)
        say(naming, 0, STR("CUDA.jl's own state, goes first: {exception pointer, u32 seed}"));
    uint32_t skip = has_state ? 1 : 0;
    if (types == 0 || kernel->params.n - skip != types) return has_state;  // ghost types are not passed
    for (uint32_t i = 0; i < types; i++) {
        struct kernel_param *param = &kernel->params.at[i + skip];
        param->user_type = naming->name.types.at[i];
        struct str array = julia_array(naming, param->user_type, param->size);
        if (array.len > 0) param->what = array;
    }
    return true;
}

// --- Rust ----------------------------------------------------------------------------------------

// rustc passes &[T] as one parameter of 16 bytes since it has an ABI of its own for PTX kernels
// (measured: rustc 1.95); Rust-CUDA, and rustc before, as two.
static void apply_whole_slices(struct naming *naming, const struct module_facts *facts) {
    bool maybe = facts->generator == GENERATOR_LLVM || facts->generator == GENERATOR_UNKNOWN;
    for (uint32_t i = 0; i < naming->kernel->params.n && (maybe || naming->is_rust); i++) {
        struct kernel_param *param = &naming->kernel->params.at[i];
        if (param->kind != PARAM_BYTES || param->size != 16 || param->align != 8) continue;
        if (param->align_needed == 0 && !param->dereferenced) continue;
        param->what = naming->is_rust ? STR("Rust slice by value: {pointer, number of elements}")
                                      : STR("16 bytes by value; a Rust slice is {pointer, length}");
    }
}

// &[T] as a pointer and the number of its elements, two parameters.
static bool apply_rust(struct naming *naming) {
    struct kernel *kernel = naming->kernel;
    if (!naming->is_rust) return false;
    for (uint32_t i = 0; i + 1 < kernel->params.n; i++) {
        struct kernel_param *pointer = &kernel->params.at[i], *length = &kernel->params.at[i + 1];
        if (pointer->kind != PARAM_POINTER || length->kind != PARAM_SCALAR || length->size != 8)
            continue;
        if (length->dereferenced) continue;
        pointer->what = STR("Rust slice: pointer to its elements");
        length->what = STR("Rust slice: number of elements (usize)");
        i++;
    }
    return true;
}

// --- C++ and Triton 2 ----------------------------------------------------------------------------

static void apply_cpp(struct naming *naming) {
    if (naming->name.types.n != naming->kernel->params.n) return;
    for (uint32_t i = 0; i < naming->name.types.n; i++)
        naming->kernel->params.at[i].user_type = naming->name.types.at[i];
}

// `_0d1d2d3de4c`: for each argument its position, then d (a multiple of 16), e (of 8), c (was 1 when
// it was compiled, and is folded). Where the suffix begins; the name's length when there is none.
static uint32_t suffix_begin(struct str name) {
    for (uint32_t i = name.len; i-- > 1;) {
        if (name.data[i] != '_') continue;
        return i + 1 < name.len && name.data[i + 1] == '0' ? i : name.len;
    }
    return name.len;
}

struct specialised {
    bool divisible_16, divisible_8, folded;
};

#define MOST_ARGUMENTS 256

static bool read_suffix(struct str suffix, struct specialised *arguments, uint32_t *count) {
    const char *at = suffix.data, *end = at + suffix.len;
    for (*count = 0; at < end; ++*count) {
        uint32_t number;
        struct str rest = {at, (uint32_t)(end - at)};
        if (*count == MOST_ARGUMENTS || !small_number(rest, &number) || number != *count)
            return false;
        while (at < end && *at >= '0' && *at <= '9') at++;
        struct specialised *argument = &arguments[*count];
        memset(argument, 0, sizeof *argument);
        for (; at < end && (*at < '0' || *at > '9'); at++) {
            if (*at == 'd') argument->divisible_16 = true;
            else if (*at == 'e') argument->divisible_8 = true;
            else if (*at == 'c') argument->folded = true;
            else return false;
        }
    }
    return *count > 0;
}

static void fold(struct naming *naming, const struct specialised *arguments, uint32_t count) {
    struct kernel_metadata *metadata = arena_new(naming->arena, struct kernel_metadata);
    for (uint32_t i = 0; i < count; i++) {
        if (!arguments[i].folded) continue;
        struct folded_argument *folded = vec_push(naming->arena, &metadata->folded);
        folded->name = str_format(naming->arena, "argument %u", i);
        folded->value = STR("1");
        folded->index = i;
    }
    naming->kernel->metadata = metadata;
}

static bool apply_triton_suffix(struct naming *naming) {
    struct kernel *kernel = naming->kernel;
    struct specialised arguments[MOST_ARGUMENTS];
    uint32_t begin = suffix_begin(kernel->name), count, next = 0, passed = 0;
    if (begin == kernel->name.len) return false;
    struct str suffix = {kernel->name.data + begin + 1, kernel->name.len - begin - 1};
    if (!read_suffix(suffix, arguments, &count)) return false;
    for (uint32_t i = 0; i < count; i++) passed += !arguments[i].folded;
    if (passed != kernel->params.n) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].folded) continue;
        kernel->params.at[next++].divisible_by = arguments[i].divisible_16  ? 16
                                                 : arguments[i].divisible_8 ? 8
                                                                            : 0;
    }
    kernel->plain = kernel->scoped = (struct str){kernel->name.data, begin};
    kernel->demangled = str_format(naming->arena, "%.*s, specialised by Triton",
                                   STR_ARG(kernel->plain));
    if (passed < count) fold(naming, arguments, count);
    return true;
}

// --- all of them ---------------------------------------------------------------------------------

static void look_at_variables(const struct module_facts *facts, struct naming *naming) {
    const struct module *module = facts->module;
    naming->is_numba = facts->generator == GENERATOR_NUMBA;
    naming->is_cupy = facts->generator == GENERATOR_CUPY;
    naming->is_rust = facts->generator == GENERATOR_RUST;
    for (uint32_t i = 0; i < module->variables.n; i++) {
        struct str name = module_name(module, module->variables.at[i].name);
        if (str_starts(name, STR("_ZN08NumbaEnv"))) naming->is_numba = true;
        if (str_starts(name, STR("_ZN6CArrayI"))) naming->is_cupy = true;
    }
}

static void apply_to_kernel(struct naming *naming, struct module_facts *facts) {
    struct kernel *kernel = naming->kernel;
    if (mangled_read(kernel->name, naming->arena, &naming->name)) {
        kernel->demangled = naming->name.text;
        kernel->scoped = naming->name.scoped;
        kernel->plain = naming->name.plain;
    }
    if (apply_numba(naming) || apply_julia(naming, facts) ||
        apply_cupy(naming, facts)) return;
    apply_whole_slices(naming, facts);
    if (apply_rust(naming) || apply_triton_suffix(naming)) return;
    apply_cpp(naming);
}

void sources_apply(struct module_facts *facts, struct arena *arena) {
    struct naming naming = {.arena = arena};
    look_at_variables(facts, &naming);
    for (uint32_t i = 0; i < facts->kernels.n; i++) {
        naming.kernel = &facts->kernels.at[i];
        memset(&naming.name, 0, sizeof naming.name);
        apply_to_kernel(&naming, facts);
    }
}

static bool same_but_blanks(struct str a, struct str b) {
    uint32_t i = 0, j = 0;
    for (;;) {
        while (i < a.len && a.data[i] == ' ') i++;
        while (j < b.len && b.data[j] == ' ') j++;
        if (i == a.len || j == b.len) return i == a.len && j == b.len;
        if (a.data[i++] != b.data[j++]) return false;
    }
}

static bool is_called_plainly(const struct kernel *kernel, struct str name) {
    if (kernel->plain.len == 0) return false;
    return same_but_blanks(kernel->plain, name) || same_but_blanks(kernel->scoped, name) ||
           same_but_blanks(kernel->demangled, name);
}

bool sources_is_called(const struct kernel *kernel, struct str name) {
    return str_eq(kernel->name, name) || is_called_plainly(kernel, name);
}

uint32_t sources_find(struct module_facts *facts, struct str name, struct kernel **first) {
    uint32_t count = 0;
    *first = NULL;
    for (uint32_t i = 0; i < facts->kernels.n && name.len > 0; i++)
        if (is_called_plainly(&facts->kernels.at[i], name) && count++ == 0)
            *first = &facts->kernels.at[i];
    return count;
}
