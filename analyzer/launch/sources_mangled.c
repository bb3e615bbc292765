// A reader for the Itanium C++ ABI's mangled names. Types are kept as text, in two parts where the
// name of what is declared would stand between them (`void (*` and `)(int)`).
#include "analyzer/launch/sources_mangled.h"

#include <stdarg.h>
#include <stdio.h>

#define LONGEST_SYMBOL 4096u
#define LONGEST_TEXT 8192u
#define DEEPEST 64u

struct type_text {
    struct str left, right;
};

struct arguments {
    VEC_OF(struct str) list;
};

struct mangled {
    const char *at, *end;
    struct arena *arena;
    VEC_OF(struct type_text) substitutions;
    struct arguments arguments;  // of the template in force: what T_, T0_ stand for
    struct str plain, scoped;      // of the name read last
    bool is_template;              // the function's type begins with what it returns
    bool is_special;               // a constructor or destructor: returns nothing
    unsigned depth;
    size_t budget;                 // bytes of text that may still be made
};

static bool read_type(struct mangled *m, struct type_text *type);
static bool read_name(struct mangled *m, struct str *name);
static bool read_encoding(struct mangled *m, struct str *text, struct mangled_name *whole);

static bool peek(const struct mangled *m, char c) { return m->at < m->end && *m->at == c; }

static bool accept(struct mangled *m, char c) {
    if (!peek(m, c)) return false;
    m->at++;
    return true;
}

static bool accept_text(struct mangled *m, const char *text) {
    size_t size = strlen(text);
    if ((size_t)(m->end - m->at) < size || memcmp(m->at, text, size) != 0) return false;
    m->at += size;
    return true;
}

// Text made of others. Substitutions can double it at each step: past the budget it is cut, and the
// caller's checks of `budget` end the reading.
static struct str make(struct mangled *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct str make(struct mangled *m, const char *format, ...) {
    if (m->budget == 0) return STR("");
    va_list args;
    va_start(args, format);
    struct str text = str_vformat(m->arena, format, args);
    va_end(args);
    if (text.len > LONGEST_TEXT || text.len >= m->budget) {
        m->budget = 0;
        return STR("");
    }
    m->budget -= text.len;
    return text;
}

static struct str whole_text(struct mangled *m, struct type_text type) {
    if (type.right.len == 0) return type.left;
    return make(m, "%.*s%.*s", STR_ARG(type.left), STR_ARG(type.right));
}

static void remember(struct mangled *m, struct type_text type) {
    *vec_push(m->arena, &m->substitutions) = type;
}

static void remember_name(struct mangled *m, struct str name) {
    remember(m, (struct type_text){name, STR("")});
}

static bool read_number(struct mangled *m, uint32_t *number) {
    const char *start = m->at;
    *number = 0;
    while (m->at < m->end && *m->at >= '0' && *m->at <= '9' && *number < 100000000)
        *number = *number * 10 + (uint32_t)(*m->at++ - '0');
    return m->at > start;
}

// --- names ---------------------------------------------------------------------------------------

// Numba writes what no identifier may hold as `_3c` (`<`), and so on.
static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct str unescape(struct mangled *m, struct str text) {
    char *out = arena_alloc(m->arena, (size_t)text.len + 1, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len && text.data[i] == '_' ? hex_digit(text.data[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.data[i + 2]) : -1;
        bool escaped = low >= 0 && high >= 2 && high < 8 && !(high == 5 && low == 15);
        char c = escaped ? (char)(high * 16 + low) : text.data[i];
        bool punctuation = escaped && strchr("<>.%=/+*-,:()[]{} ", c) != NULL && c != '\0';
        out[n++] = punctuation ? c : text.data[i];
        if (punctuation) i += 2;
    }
    return (struct str){out, n};
}

static bool read_source_name(struct mangled *m, struct str *name) {
    uint32_t length;
    if (!read_number(m, &length) || length == 0 || length > (size_t)(m->end - m->at)) return false;
    struct str text = {m->at, length};
    m->at += length;
    if (str_starts(text, STR("_GLOBAL__N_"))) text = STR("(anonymous namespace)");
    *name = memchr(text.data, '_', text.len) ? unescape(m, text) : text;
    return true;
}

// Tags tell versions apart (Numba numbers its functions with them): for people they are noise.
static bool skip_tags(struct mangled *m) {
    struct str tag;
    while (accept(m, 'B'))
        if (!read_source_name(m, &tag)) return false;
    return true;
}

static const struct {
    char code[3];
    const char *text;
} operators[] = {
    {"cl", "operator()"}, {"ix", "operator[]"}, {"aS", "operator="},  {"eq", "operator=="},
    {"ne", "operator!="}, {"lt", "operator<"},  {"gt", "operator>"},  {"le", "operator<="},
    {"ge", "operator>="}, {"pl", "operator+"},  {"mi", "operator-"},  {"ml", "operator*"},
    {"dv", "operator/"},  {"rm", "operator%"},  {"pL", "operator+="}, {"mI", "operator-="},
    {"ls", "operator<<"}, {"rs", "operator>>"}, {"aa", "operator&&"}, {"oo", "operator||"},
    {"nt", "operator!"},  {"pt", "operator->"}, {"pp", "operator++"}, {"mm", "operator--"},
    {"ng", "operator-"},  {"de", "operator*"},  {"ad", "operator&"},  {"co", "operator~"},
    {"nw", "operator new"}, {"dl", "operator delete"},
};

static bool read_operator(struct mangled *m, struct str *name) {
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (!accept_text(m, operators[i].code)) continue;
        *name = str_from(operators[i].text);
        return true;
    }
    if (!accept_text(m, "cv")) return false;
    struct type_text type;
    if (!read_type(m, &type)) return false;
    *name = make(m, "operator %.*s", STR_ARG(whole_text(m, type)));
    return true;
}

static bool read_types(struct mangled *m, char end, struct str *list) {
    *list = STR("");
    while (!peek(m, end) && m->at < m->end) {
        struct type_text type;
        if (!read_type(m, &type)) return false;
        struct str text = whole_text(m, type);
        if (str_eq(text, STR("void"))) continue;
        *list = list->len ? make(m, "%.*s, %.*s", STR_ARG(*list), STR_ARG(text)) : text;
    }
    return true;
}

// Ul<types>E[number]_ and Ut[number]_: what has no name in the source.
static bool read_unnamed(struct mangled *m, struct str *name) {
    uint32_t number = 0;
    struct str types;
    bool lambda = accept_text(m, "Ul");
    if (!lambda && !accept_text(m, "Ut")) return false;
    if (lambda && (!read_types(m, 'E', &types) || !accept(m, 'E'))) return false;
    bool numbered = read_number(m, &number);
    if (!accept(m, '_')) return false;
    number = numbered ? number + 2 : 1;
    *name = lambda ? make(m, "{lambda(%.*s)#%u}", STR_ARG(types), number)
                   : make(m, "{unnamed type#%u}", number);
    return true;
}

static bool read_unqualified(struct mangled *m, struct str scope, struct str *name) {
    if (accept(m, 'L')) {}  // internal linkage says nothing to people
    if (m->at >= m->end) return false;
    if (*m->at >= '0' && *m->at <= '9') {
        if (!read_source_name(m, name)) return false;
    } else if ((*m->at == 'C' || *m->at == 'D') && m->end - m->at >= 2 && m->at[1] >= '0' &&
               m->at[1] <= '5') {
        *name = make(m, "%s%.*s", *m->at == 'D' ? "~" : "", STR_ARG(scope));
        m->at += 2;
        m->is_special = true;
    } else if (*m->at == 'U') {
        if (!read_unnamed(m, name)) return false;
    } else if (!read_operator(m, name)) {
        return false;
    }
    return skip_tags(m);
}

// --- template arguments --------------------------------------------------------------------------

static const struct {
    char code;
    const char *suffix;
} literal_suffixes[] = {{'j', "u"}, {'l', "l"}, {'m', "ul"}, {'x', "ll"}, {'y', "ull"}};

// L<type><value>E: a number (n for minus), true or false; L_Z<encoding>E: a function or variable.
static bool read_literal(struct mangled *m, struct str *text) {
    if (accept_text(m, "_Z")) {
        if (!read_encoding(m, text, NULL)) return false;
        return accept(m, 'E');
    }
    char code = m->at < m->end ? *m->at : '\0';
    struct type_text type;
    if (!read_type(m, &type)) return false;
    const char *start = m->at;
    while (m->at < m->end && *m->at != 'E') m->at++;
    struct str digits = {start, (uint32_t)(m->at - start)};
    bool negative = digits.len > 0 && digits.data[0] == 'n';
    if (negative) digits = (struct str){digits.data + 1, digits.len - 1};
    const char *suffix = NULL;
    for (size_t i = 0; i < sizeof literal_suffixes / sizeof literal_suffixes[0]; i++)
        if (literal_suffixes[i].code == code) suffix = literal_suffixes[i].suffix;
    if (code == 'b')
        *text = str_eq(digits, STR("0")) ? STR("false") : STR("true");
    else if (code == 'i' || suffix != NULL)
        *text = make(m, "%s%.*s%s", negative ? "-" : "", STR_ARG(digits), suffix ? suffix : "");
    else
        *text = make(m, "(%.*s)%s%.*s", STR_ARG(whole_text(m, type)), negative ? "-" : "",
                     STR_ARG(digits));
    return accept(m, 'E');
}

static bool read_argument(struct mangled *m, struct str *text);

// J<arguments>E: a pack stands as its arguments.
static bool read_pack(struct mangled *m, struct str *text) {
    *text = STR("");
    while (!peek(m, 'E')) {
        struct str one;
        if (!read_argument(m, &one)) return false;
        *text = text->len ? make(m, "%.*s, %.*s", STR_ARG(*text), STR_ARG(one)) : one;
    }
    return accept(m, 'E');
}

static bool read_argument(struct mangled *m, struct str *text) {
    if (m->at >= m->end || m->budget == 0 || ++m->depth > DEEPEST) return false;
    bool good;
    struct type_text type;
    if (accept(m, 'L')) good = read_literal(m, text);
    else if (accept(m, 'J')) good = read_pack(m, text);
    else if (peek(m, 'X')) good = false;  // an expression
    else if ((good = read_type(m, &type))) *text = whole_text(m, type);
    m->depth--;
    return good;
}

// I<arguments>E. T_ in what follows stands for these.
static bool read_arguments(struct mangled *m, struct str *text) {
    struct arguments read = {0};
    if (!accept(m, 'I')) return false;
    *text = STR("");
    while (!peek(m, 'E')) {
        struct str one;
        if (!read_argument(m, &one)) return false;
        *vec_push(m->arena, &read.list) = one;
        *text = text->len ? make(m, "%.*s, %.*s", STR_ARG(*text), STR_ARG(one)) : one;
    }
    m->arguments = read;
    *text = make(m, "<%.*s>", STR_ARG(*text));
    return accept(m, 'E');
}

// --- substitutions -------------------------------------------------------------------------------

static const struct {
    char code;
    const char *text;
} standard[] = {{'t', "std"},          {'a', "std::allocator"}, {'b', "std::basic_string"},
                {'s', "std::string"},  {'i', "std::istream"},   {'o', "std::ostream"},
                {'d', "std::iostream"}};

// The number before `_`: digits and capitals in base 36, one more than written; nothing is 0.
static bool read_sequence(struct mangled *m, uint32_t *number) {
    *number = 0;
    if (accept(m, '_')) return true;
    for (; m->at < m->end && *m->at != '_'; m->at++) {
        char c = *m->at;
        bool digit = c >= '0' && c <= '9', capital = c >= 'A' && c <= 'Z';
        if ((!digit && !capital) || *number > 100000) return false;
        *number = *number * 36 + (uint32_t)(digit ? c - '0' : c - 'A' + 10);
    }
    ++*number;
    return accept(m, '_');
}

static bool read_substitution(struct mangled *m, struct type_text *type) {
    uint32_t number;
    if (!accept(m, 'S') || m->at >= m->end) return false;
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++) {
        if (!accept(m, standard[i].code)) continue;
        *type = (struct type_text){str_from(standard[i].text), STR("")};
        return true;
    }
    if (!read_sequence(m, &number) || number >= m->substitutions.n) return false;
    *type = m->substitutions.at[number];
    return true;
}

static bool read_parameter(struct mangled *m, struct type_text *type) {
    uint32_t number;
    if (!accept(m, 'T') || !read_sequence(m, &number) || number >= m->arguments.list.n) return false;
    *type = (struct type_text){m->arguments.list.at[number], STR("")};
    return true;
}

// --- scoped names --------------------------------------------------------------------------------

// The part of a prefix that S and T spell out, or the next name in it.
static bool read_component(struct mangled *m, struct str prefix, struct str *component,
                           bool *substituted) {
    struct type_text type;
    *substituted = true;
    if (peek(m, 'S')) {
        if (m->end - m->at < 2) return false;
        if (!read_substitution(m, &type)) return false;
        *component = whole_text(m, type);
        *substituted = !str_eq(*component, STR("std"));
        return true;
    }
    if (peek(m, 'T')) {
        if (!read_parameter(m, &type)) return false;
        *component = whole_text(m, type);
        return true;
    }
    *substituted = false;
    return read_unqualified(m, m->plain, component) && (prefix.len == 0 || component->len > 0);
}

// N [qualifiers] prefix... E
static bool read_nested(struct mangled *m, struct str *name) {
    struct str prefix = STR(""), scoped = STR("");
    while (accept(m, 'r') || accept(m, 'V') || accept(m, 'K')) {}
    if (accept(m, 'R') || accept(m, 'O')) {}
    while (!peek(m, 'E')) {
        struct str component, arguments;
        bool known = false;
        if (m->at >= m->end || m->budget == 0) return false;
        if (peek(m, 'I')) {
            if (prefix.len == 0 || !read_arguments(m, &arguments)) return false;
            prefix = make(m, "%.*s%.*s", STR_ARG(prefix), STR_ARG(arguments));
            m->is_template = true;
        } else {
            if (!read_component(m, prefix, &component, &known)) return false;
            if (!known) m->plain = component;
            scoped = prefix.len ? make(m, "%.*s::%.*s", STR_ARG(prefix), STR_ARG(component))
                                : component;
            prefix = scoped;
            m->is_template = false;
        }
        if (!known && !peek(m, 'E') && !str_eq(prefix, STR("std"))) remember_name(m, prefix);
    }
    m->scoped = scoped;
    *name = prefix;
    return prefix.len > 0 && accept(m, 'E');
}

// Z<function>E<entity>: what is declared inside a function.
static bool read_local(struct mangled *m, struct str *name) {
    struct str function, entity;
    uint32_t number;
    if (!read_encoding(m, &function, NULL) || !accept(m, 'E')) return false;
    if (accept(m, 's')) entity = STR("string literal");
    else if (!read_name(m, &entity)) return false;
    if (accept(m, '_') && !read_number(m, &number)) return false;
    m->scoped = *name = make(m, "%.*s::%.*s", STR_ARG(function), STR_ARG(entity));
    return true;
}

static bool read_unscoped(struct mangled *m, struct str *name) {
    struct type_text type;
    if (peek(m, 'S') && m->end - m->at >= 2 && m->at[1] != 't') {
        if (!read_substitution(m, &type)) return false;  // of a template: arguments follow
        m->plain = m->scoped = *name = whole_text(m, type);
        return peek(m, 'I');
    }
    bool in_std = accept_text(m, "St");
    if (!read_unqualified(m, STR(""), name)) return false;
    m->plain = *name;
    if (in_std) *name = make(m, "std::%.*s", STR_ARG(*name));
    m->scoped = *name;
    if (peek(m, 'I')) remember_name(m, *name);
    return true;
}

static bool read_name(struct mangled *m, struct str *name) {
    struct str arguments;
    m->is_template = false;
    if (m->at >= m->end || ++m->depth > DEEPEST) return false;
    bool good;
    if (accept(m, 'N')) good = read_nested(m, name);
    else if (accept(m, 'Z')) good = read_local(m, name);
    else good = read_unscoped(m, name);
    if (good && peek(m, 'I')) {
        good = read_arguments(m, &arguments);
        if (good) *name = make(m, "%.*s%.*s", STR_ARG(*name), STR_ARG(arguments));
        m->is_template = true;
    }
    m->depth--;
    return good;
}

// --- types ---------------------------------------------------------------------------------------

static const struct {
    const char *code;
    const char *text;
} builtins[] = {
    {"v", "void"},        {"w", "wchar_t"},       {"b", "bool"},
    {"c", "char"},        {"a", "signed char"},   {"h", "unsigned char"},
    {"s", "short"},       {"t", "unsigned short"}, {"i", "int"},
    {"j", "unsigned int"}, {"l", "long"},         {"m", "unsigned long"},
    {"x", "long long"},   {"y", "unsigned long long"}, {"n", "__int128"},
    {"o", "unsigned __int128"}, {"f", "float"},   {"d", "double"},
    {"e", "long double"}, {"g", "__float128"},    {"z", "..."},
    {"Dh", "half"},       {"Dn", "std::nullptr_t"}, {"Di", "char32_t"},
    {"Ds", "char16_t"},   {"Du", "char8_t"},      {"Da", "auto"},
    {"DF16_", "_Float16"}, {"DF16b", "__bf16"},
};

static bool read_builtin(struct mangled *m, struct type_text *type) {
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        if (!accept_text(m, builtins[i].code)) continue;
        *type = (struct type_text){str_from(builtins[i].text), STR("")};
        return true;
    }
    return false;
}

static bool is_declarator(struct type_text type) {
    return type.right.len > 0 && (type.right.data[0] == '(' || type.right.data[0] == '[') &&
           (type.left.len == 0 || type.left.data[type.left.len - 1] != '*');
}

static void add_mark(struct mangled *m, struct type_text *type, const char *mark) {
    if (is_declarator(*type)) {
        type->left = make(m, "%.*s(%s", STR_ARG(type->left), mark);
        type->right = make(m, ")%.*s", STR_ARG(type->right));
    } else {
        type->left = make(m, "%.*s%s", STR_ARG(type->left), mark);
    }
}

// P, R, O: `mark` behind the type. C and G are the complex and imaginary forms, which no kernel has.
static bool read_pointer(struct mangled *m, const char *mark, struct type_text *type) {
    if (!read_type(m, type)) return false;
    add_mark(m, type, mark);
    return true;
}

static bool read_qualified(struct mangled *m, struct type_text *type) {
    bool is_restrict = accept(m, 'r'), is_volatile = accept(m, 'V'), is_const = accept(m, 'K');
    if (!read_type(m, type)) return false;
    if (is_const) type->left = make(m, "%.*s const", STR_ARG(type->left));
    if (is_volatile) type->left = make(m, "%.*s volatile", STR_ARG(type->left));
    if (is_restrict) type->left = make(m, "%.*s __restrict__", STR_ARG(type->left));
    return true;
}

static bool read_function(struct mangled *m, struct type_text *type) {
    struct type_text result;
    struct str types;
    if (accept(m, 'Y')) {}  // extern "C"
    if (!read_type(m, &result) || !read_types(m, 'E', &types) || !accept(m, 'E')) return false;
    type->left = make(m, "%.*s ", STR_ARG(result.left));
    type->right = make(m, "(%.*s)%.*s", STR_ARG(types), STR_ARG(result.right));
    return true;
}

static bool read_array(struct mangled *m, struct type_text *type) {
    uint32_t count = 0;
    bool counted = read_number(m, &count);
    if (!accept(m, '_')) return false;
    if (!read_type(m, type)) return false;
    type->right = counted ? make(m, "[%u]%.*s", count, STR_ARG(type->right))
                          : make(m, "[]%.*s", STR_ARG(type->right));
    return true;
}

static bool read_vector(struct mangled *m, struct type_text *type) {
    uint32_t count;
    if (!read_number(m, &count) || !accept(m, '_') || !read_type(m, type)) return false;
    type->left = make(m, "%.*s __vector(%u)", STR_ARG(type->left), count);
    return true;
}

static bool read_member_pointer(struct mangled *m, struct type_text *type) {
    struct type_text scope;
    if (!read_type(m, &scope) || !read_type(m, type)) return false;
    struct str mark = make(m, "%.*s::*", STR_ARG(whole_text(m, scope)));
    type->left = make(m, is_declarator(*type) ? "%.*s(%.*s" : "%.*s %.*s", STR_ARG(type->left),
                      STR_ARG(mark));
    if (type->right.len > 0) type->right = make(m, ")%.*s", STR_ARG(type->right));
    return true;
}

// S: another type as it stood before, or a template that did, with arguments of its own.
static bool read_substituted(struct mangled *m, struct type_text *type, bool *fresh) {
    struct str arguments, name;
    if (m->end - m->at >= 2 && m->at[1] == 't') {
        if (!read_name(m, &name)) return false;
        *type = (struct type_text){name, STR("")};
        return true;
    }
    if (!read_substitution(m, type)) return false;
    *fresh = peek(m, 'I');
    if (!*fresh) return true;
    if (!read_arguments(m, &arguments)) return false;
    type->left = make(m, "%.*s%.*s", STR_ARG(type->left), STR_ARG(arguments));
    return true;
}

static bool read_named(struct mangled *m, struct type_text *type) {
    struct str name;
    if (accept(m, 'u')) {  // a vendor's type
        if (!read_source_name(m, &name)) return false;
    } else if (!read_name(m, &name)) {
        return false;
    }
    *type = (struct type_text){name, STR("")};
    return true;
}

// The types of a name's own template arguments do not change what T_ stands for outside it.
static bool read_compound(struct mangled *m, struct type_text *type, bool *fresh) {
    switch (*m->at) {
    case 'P': m->at++; return read_pointer(m, "*", type);
    case 'R': m->at++; return read_pointer(m, "&", type);
    case 'O': m->at++; return read_pointer(m, "&&", type);
    case 'r': case 'V': case 'K': return read_qualified(m, type);
    case 'F': m->at++; return read_function(m, type);
    case 'A': m->at++; return read_array(m, type);
    case 'M': m->at++; return read_member_pointer(m, type);
    case 'S': return read_substituted(m, type, fresh);
    case 'T': return read_parameter(m, type);
    default: break;
    }
    if (accept_text(m, "Dp")) return read_type(m, type);
    if (accept_text(m, "Dv")) return read_vector(m, type);
    return read_named(m, type);
}

static bool read_type(struct mangled *m, struct type_text *type) {
    *type = (struct type_text){STR(""), STR("")};
    if (m->at >= m->end || m->budget == 0 || ++m->depth > DEEPEST) return false;
    if (read_builtin(m, type)) {
        m->depth--;
        return true;
    }
    struct str plain = m->plain, scoped = m->scoped;
    bool is_template = m->is_template, fresh = true;
    struct arguments outer = m->arguments;
    bool good = read_compound(m, type, &fresh);
    m->arguments = outer;
    m->plain = plain;
    m->scoped = scoped;
    m->is_template = is_template;
    m->depth--;
    if (good && fresh) remember(m, *type);
    return good && m->budget > 0;
}

// --- functions -----------------------------------------------------------------------------------

// Parameters up to the end of the encoding: the end of the symbol, or the E that closes a scope.
static bool read_parameters(struct mangled *m, struct str *list, struct mangled_name *whole) {
    *list = STR("");
    while (m->at < m->end && *m->at != 'E' && *m->at != '.' && *m->at != '$') {
        struct type_text type;
        if (!read_type(m, &type)) return false;
        struct str text = whole_text(m, type);
        if (str_eq(text, STR("void"))) continue;
        if (whole != NULL) *vec_push(m->arena, &whole->types) = text;
        *list = list->len ? make(m, "%.*s, %.*s", STR_ARG(*list), STR_ARG(text)) : text;
    }
    return m->budget > 0;
}

static bool read_encoding(struct mangled *m, struct str *text, struct mangled_name *whole) {
    struct str name, parameters;
    struct type_text result;
    m->is_special = false;
    if (m->depth > DEEPEST || !read_name(m, &name)) return false;
    struct str plain = m->plain, scoped = m->scoped;
    bool variable = m->at >= m->end || *m->at == 'E';
    if (variable) {
        *text = name;
    } else {
        if (m->is_template && !m->is_special && !read_type(m, &result)) return false;
        if (!read_parameters(m, &parameters, whole)) return false;
        *text = make(m, "%.*s(%.*s)", STR_ARG(name), STR_ARG(parameters));
    }
    m->plain = plain;
    m->scoped = scoped;
    return m->budget > 0;
}

bool mangled_read(struct str symbol, struct arena *arena, struct mangled_name *name) {
    memset(name, 0, sizeof *name);
    if (symbol.len < 4 || symbol.len > LONGEST_SYMBOL || !str_starts(symbol, STR("_Z"))) return false;
    struct mangled m = {.at = symbol.data + 2, .end = symbol.data + symbol.len, .arena = arena,
                        .budget = 4096 + (size_t)symbol.len * 64};
    struct mangled_name read = {0};
    // A suffix such as `.1` or `$cudax` is the compiler's own.
    if (!read_encoding(&m, &read.text, &read)) return false;
    if (m.at != m.end && *m.at != '.' && *m.at != '$') return false;
    *name = read;
    name->plain = m.plain;
    name->scoped = m.scoped;
    return true;
}
