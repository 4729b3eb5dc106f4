#include "codec/program/libver.h"

#include <inttypes.h>
#include <stdio.h>

/* How a number stands for a version. */
enum number {
    NUMBER_NONE,
    NUMBER_DECIMAL, /* 22809 is 2.28.9, 91400 is 9.14.0; before five digits 2804 was 2.8.4 */
    NUMBER_CUDA,    /* 13000 is 13.0, 12080 is 12.8 */
};

enum how {
    HOW_END,
    HOW_TEXT,    /* a text in .rodata that begins with `name` */
    HOW_ALONE,   /* a text in .rodata that is nothing but numbers, the first of them not ours */
    HOW_PACKED,  /* a variable of four bytes: patch, minor, major, 0 */
    HOW_RETURNS, /* a function that returns the number */
    HOW_STORES,  /* a function that stores the number where its argument points, or that calls
                    one which does */
};

struct lks_libver_rule {
    enum how how;
    const char *name;   /* symbol, or text before the version */
    const char *after;  /* what must follow the version ("": the end of the text); NULL: anything */
    const char *nearby; /* a text near the variable that also has the build, with '_' for '.' */
    enum number number;
};

/* "NCCL version 2.28.9+cuda13.0", "NCCL version 2.28.9 compiled with CUDA 13.0". */
static const struct lks_libver_rule nccl_rules[] = {
    {.how = HOW_TEXT, .name = "NCCL version "},
    {.how = HOW_STORES, .name = "ncclGetVersion", .number = NUMBER_DECIMAL},
    {0},
};
/* "RCCL version : 2.22.3" (ROCm 6), "RCCL version 2.13.4+hip5.7" (before). */
static const struct lks_libver_rule rccl_rules[] = {
    {.how = HOW_TEXT, .name = "RCCL version : "},
    {.how = HOW_TEXT, .name = "RCCL version "},
    {.how = HOW_STORES, .name = "ncclGetVersion", .number = NUMBER_DECIMAL},
    {0},
};
/* ", MIOpen version 3.4.0.dabb6df2b9"; distributions build it without the commit. */
static const struct lks_libver_rule miopen_rules[] = {
    {.how = HOW_TEXT, .name = "MIOpen version "},
    {0},
};
static const struct lks_libver_rule cudart_rules[] = {
    {.how = HOW_STORES, .name = "cudaRuntimeGetVersion", .number = NUMBER_CUDA},
    {0},
};
/* "cudnn_version_9_14_0_64_", "cudnn_version_8_9_7_29_c33594778_e0". */
static const struct lks_libver_rule cudnn_graph_rules[] = {
    {.how = HOW_PACKED, .name = "cudnn_graph_version", .nearby = "cudnn_version_"},
    {.how = HOW_RETURNS, .name = "cudnnGetVersion", .number = NUMBER_DECIMAL},
    {0},
};
static const struct lks_libver_rule cudnn_ops_rules[] = {
    {.how = HOW_PACKED, .name = "cudnn_ops_infer_version", .nearby = "cudnn_version_"},
    {.how = HOW_RETURNS, .name = "cudnnGetVersion", .number = NUMBER_DECIMAL},
    {0},
};
/* A library it loads, and a file it reads, must be of the same driver. Other versions stand in it
 * alone: those since which something is different. */
static const struct lks_libver_rule cuda_rules[] = {
    {.how = HOW_TEXT, .name = "libnvidia-pkcs11.so.", .after = ""},
    {.how = HOW_TEXT, .name = "nvidia-application-profiles-", .after = "-rc"},
    {0},
};
/* "13.580.95.05": what nvmlSystemGetNVMLVersion() tells, the driver's version behind that of CUDA.
 */
static const struct lks_libver_rule nvml_rules[] = {
    {.how = HOW_ALONE, .name = "", .after = ""},
    {0},
};
static const struct lks_libver_rule no_rules[] = {{0}};

static const struct lks_libver_kind kinds[] = {
    {"cuda", "libcudart", {NULL}, 3, 1, true, cudart_rules},
    {"cudnn", "libcudnn", {"libcudnn_graph", "libcudnn_ops_infer"}, 3, 1, true, no_rules},
    {"cudnn", "libcudnn_graph", {NULL}, 3, 1, true, cudnn_graph_rules},
    {"cudnn", "libcudnn_ops", {NULL}, 3, 1, true, cudnn_ops_rules},
    {"cudnn", "libcudnn_ops_infer", {NULL}, 3, 1, true, cudnn_ops_rules},
    {"driver", "libcuda", {NULL}, 2, 100, true, cuda_rules},
    {"driver", "libnvidia-ml", {NULL}, 2, 100, true, nvml_rules},
    {"miopen", "libMIOpen", {NULL}, 3, 1, false, miopen_rules},
    {"nccl", "libnccl", {NULL}, 3, 1, true, nccl_rules},
    {"rccl", "librccl", {NULL}, 3, 1, false, rccl_rules},
};

const char *lks_libver_from_text(enum lks_libver_from from)
{
    static const char *const texts[LKS_LIBVER_FROM_COUNT] = {"nowhere", "string", "symbol",
                                                             "file name"};
    LKS_ASSERT((unsigned)from < LKS_LIBVER_FROM_COUNT);
    return texts[from];
}

/* File names ---------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct lks_str rest_of(struct lks_str s, size_t from)
{
    return (struct lks_str){s.ptr + from, s.len - from};
}

/* Past the digest of a renamed library, if there is one: libcudart-9335f6a2.so.12. */
static struct lks_str skip_digest(struct lks_str s)
{
    enum { DIGEST_MIN = 8, DIGEST_MAX = 64 };
    size_t len = 1;
    if (s.len == 0 || (s.ptr[0] != '-' && s.ptr[0] != '.'))
        return s;
    while (len < s.len && (is_digit(s.ptr[len]) || (s.ptr[len] >= 'a' && s.ptr[len] <= 'f')))
        len++;
    return len > DIGEST_MIN && len <= 1 + DIGEST_MAX ? rest_of(s, len) : s;
}

/* What follows the stem, from ".so" on; false where the name is not of this library. */
static bool split_name(struct lks_str name, const char *stem, struct lks_str *numbers)
{
    if (name.len > LKS_LIBVER_NAME_MAX || !lks_str_starts(name, stem))
        return false;
    struct lks_str rest = skip_digest(rest_of(name, strlen(stem)));
    if (!lks_str_starts(rest, ".so"))
        return false;
    rest = rest_of(rest, 3);
    bool digit = rest.len == 0;
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] != '.' ? !is_digit(rest.ptr[i]) : i > 0 && !digit)
            return false;
        digit = rest.ptr[i] != '.';
    }
    *numbers = rest.len > 0 ? rest_of(rest, 1) : rest;
    return digit && (rest.len == 0 || rest.ptr[0] == '.');
}

const struct lks_libver_kind *lks_libver_kind(struct lks_str basename)
{
    struct lks_str numbers;
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        if (split_name(basename, kinds[i].stem, &numbers))
            return &kinds[i];
    }
    return NULL;
}

const struct lks_libver_kind *lks_libver_kind_at(size_t at)
{
    return at < LKS_COUNT(kinds) ? &kinds[at] : NULL;
}

bool lks_libver_beside(const struct lks_libver_kind *kind, struct lks_str basename, size_t which,
                       char out[LKS_LIBVER_NAME_MAX + 1])
{
    struct lks_str numbers;
    if (which >= LKS_COUNT(kind->beside) || kind->beside[which] == NULL ||
        !split_name(basename, kind->stem, &numbers))
        return false;
    int len = snprintf(out, LKS_LIBVER_NAME_MAX + 1, "%s.so%s%" LKS_STR_FMT, kind->beside[which],
                       numbers.len > 0 ? "." : "", LKS_STR_ARG(numbers));
    return len > 0 && len <= LKS_LIBVER_NAME_MAX;
}

/* Versions in texts --------------------------------------------------------------------------- */

/* How many bytes at the head of `s` are a number with at most five digits; 0 if none are. */
static size_t number_len(struct lks_str s)
{
    enum { DIGITS_MAX = 5 };
    size_t len = 0;
    while (len < s.len && is_digit(s.ptr[len]))
        len++;
    return len <= DIGITS_MAX ? len : 0;
}

static unsigned number_of(struct lks_str s)
{
    unsigned n = 0;
    for (size_t i = 0; i < s.len && is_digit(s.ptr[i]); i++)
        n = n * 10 + (unsigned)(s.ptr[i] - '0');
    return n;
}

/* The version at the head of `s`: as many numbers as are whole, for a driver one more if it is
 * there. The answer is its length, 0 where there is none. */
static size_t version_len(const struct lks_libver_kind *kind, struct lks_str s, char separator)
{
    unsigned parts = 0, most = kind->parts == 2 ? 3 : kind->parts;
    size_t len = 0;
    for (size_t at = 0; parts < most; parts++) {
        size_t digits = number_len(rest_of(s, at));
        if (digits == 0)
            break;
        len = at + digits;
        if (len == s.len || s.ptr[len] != separator) {
            parts++;
            break;
        }
        at = len + 1;
    }
    return parts >= kind->parts && number_of(s) >= kind->least ? len : 0;
}

static void put_version(struct lks_str s, char separator, char out[LKS_LIBVER_LEN_MAX + 1])
{
    LKS_ASSERT(s.len <= LKS_LIBVER_LEN_MAX);
    for (size_t i = 0; i < s.len; i++)
        out[i] = s.ptr[i] == separator ? '.' : s.ptr[i];
    out[s.len] = '\0';
}

/* What follows a version: "+cuda13.0" and ".dabb6df2b9" without their first byte. */
static void put_build(struct lks_str s, char out[LKS_LIBVER_LEN_MAX + 1])
{
    size_t len = 1;
    if (s.len < 2 || s.ptr[0] == '\0' || strchr("+-._", s.ptr[0]) == NULL)
        return;
    while (len < s.len &&
           (is_digit(s.ptr[len]) || s.ptr[len] == '.' || (s.ptr[len] >= 'a' && s.ptr[len] <= 'z') ||
            (s.ptr[len] >= 'A' && s.ptr[len] <= 'Z')))
        len++;
    if (len - 1 > LKS_LIBVER_LEN_MAX)
        return;
    memcpy(out, s.ptr + 1, len - 1);
    out[len - 1] = '\0';
}

static void put_evidence(struct lks_str s, char out[LKS_LIBVER_EVIDENCE_MAX + 1])
{
    size_t len = 0;
    while (len < s.len && len < LKS_LIBVER_EVIDENCE_MAX && s.ptr[len] >= ' ' && s.ptr[len] <= '~')
        len++;
    memcpy(out, s.ptr, len);
    out[len] = '\0';
}

/* Searching for texts ------------------------------------------------------------------------- */

/* What is looked for, and what was found. */
struct search {
    const struct lks_libver_kind *kind;
    struct lks_str before;
    const char *after;
    char separator;
    bool skip_number;
    char expected[LKS_LIBVER_LEN_MAX + 1]; /* or "": any version */
    struct lks_libver found;
    char other[LKS_LIBVER_LEN_MAX + 1]; /* a second version, which makes the first worthless */
};

/* `s` begins with `before`. */
static void look_at(struct search *search, struct lks_str s)
{
    struct lks_str text = rest_of(s, search->before.len);
    if (search->skip_number) {
        size_t skip = number_len(text);
        if (skip == 0 || skip > 2 || skip == text.len || text.ptr[skip] != '.')
            return;
        text = rest_of(text, skip + 1);
    }
    size_t len = version_len(search->kind, text, search->separator);
    struct lks_str tail = rest_of(text, len);
    if (len == 0 || len > LKS_LIBVER_LEN_MAX)
        return;
    if (search->after != NULL &&
        (!lks_str_starts(tail, search->after) || tail.len <= strlen(search->after) ||
         (search->after[0] == '\0' && tail.ptr[0] != '\0')))
        return;
    char version[LKS_LIBVER_LEN_MAX + 1];
    struct lks_libver *found = &search->found;
    put_version((struct lks_str){text.ptr, len}, search->separator, version);
    if (search->expected[0] != '\0' && strcmp(version, search->expected) != 0)
        return;
    if (found->version[0] == '\0') {
        memcpy(found->version, version, len + 1);
        put_evidence(s.ptr[0] != '\0' ? s : rest_of(s, 1), found->evidence);
    } else if (strcmp(found->version, version) != 0) {
        memcpy(search->other, version, len + 1);
    }
    if (found->build[0] == '\0' && search->after == NULL)
        put_build(tail, found->build);
}

/* Bytes that a text can take; two blocks overlap by as many, so that none is cut in two. */
enum { TEXT_MAX = 256, BLOCK = 32768 };

static enum lks_code search_part(const struct lks_elf *elf, struct lks_elf_part part,
                                 struct search *search, struct lks_err *err)
{
    char block[TEXT_MAX + BLOCK];
    size_t kept = 0;
    while (part.size > 0) {
        size_t len = part.size < BLOCK ? (size_t)part.size : BLOCK;
        if (lks_elf_bytes(elf, part.offset, block + kept, len, err) != LKS_OK)
            return err->code;
        part.offset += len;
        part.size -= len;
        struct lks_str all = {block, kept + len};
        size_t sure = part.size == 0 ? all.len : all.len > TEXT_MAX ? all.len - TEXT_MAX : 0;
        for (size_t at = 0; at < sure; at++) {
            ptrdiff_t found = lks_str_find(rest_of(all, at), search->before);
            if (found < 0 || at + (size_t)found >= sure)
                break;
            at += (size_t)found;
            look_at(search, rest_of(all, at));
        }
        kept = all.len - sure;
        memmove(block, block + sure, kept);
    }
    return LKS_OK;
}

/* The texts of a library lie behind its tables, and a driver's tables take up most of it: so from
 * the end, a window at a time, up to the first that has what we look for. */
static enum lks_code search_back(const struct lks_elf *elf, struct lks_elf_part part,
                                 struct search *search, struct lks_err *err)
{
    uint64_t end = part.offset + part.size, rest = part.size;
    while (rest > 0 && search->found.version[0] == '\0') {
        uint64_t len = rest < LKS_LIBVER_WINDOW ? rest : LKS_LIBVER_WINDOW;
        rest -= len;
        uint64_t from = part.offset + rest, beyond = end - (from + len);
        struct lks_elf_part window = {from, len + (beyond < TEXT_MAX ? beyond : TEXT_MAX)};
        if (search_part(elf, window, search, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code read_text(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                               const struct lks_libver_rule *rule, struct lks_libver *out,
                               struct lks_err *err)
{
    bool alone = rule->how == HOW_ALONE;
    struct search search = {
        .kind = kind,
        .before = alone ? (struct lks_str){"", 1} : lks_str_from(rule->name),
        .after = rule->after,
        .separator = '.',
        .skip_number = alone,
    };
    struct lks_elf_part part;
    const char *what = alone ? "NN.version" : rule->name;
    if (lks_elf_section(elf, ".rodata", &part, err) != LKS_OK)
        return err->code;
    if (part.size > LKS_LIBVER_SCAN_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a .rodata of more than %" PRIu64 " MiB",
                        LKS_LIBVER_SCAN_MAX >> 20);
    if (search_back(elf, part, &search, err) != LKS_OK)
        return err->code;
    if (search.found.version[0] == '\0')
        return lks_fail(err, LKS_E_NOT_FOUND, "no text \"%s\" with a version in .rodata", what);
    if (search.other[0] != '\0')
        return lks_fail(err, LKS_E_NOT_FOUND, "\"%s\" precedes both %s and %s", what,
                        search.found.version, search.other);
    search.found.from = LKS_LIBVER_STRING;
    *out = search.found;
    return LKS_OK;
}

/* Variables ----------------------------------------------------------------------------------- */

static enum lks_code read_packed(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                                 const struct lks_libver_rule *rule, struct lks_libver *out,
                                 struct lks_err *err)
{
    struct lks_elf_symbol symbol;
    unsigned char value[4];
    if (lks_elf_symbol(elf, rule->name, &symbol, err) != LKS_OK)
        return err->code;
    if (symbol.code || symbol.part.size != sizeof(value))
        return lks_fail(err, LKS_E_NOT_FOUND, "symbol %s is no variable of 4 bytes", rule->name);
    if (lks_elf_bytes(elf, symbol.part.offset, value, sizeof(value), err) != LKS_OK)
        return err->code;
    if (value[3] != 0 || value[2] == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s does not hold a version", rule->name);

    struct search search = {.kind = kind, .before = lks_str_from(rule->nearby), .separator = '_'};
    snprintf(search.expected, sizeof(search.expected), "%u.%u.%u", value[2], value[1], value[0]);
    uint64_t at = symbol.part.offset, end = elf->file.size;
    uint64_t from = at > LKS_LIBVER_NEAR ? at - LKS_LIBVER_NEAR : 0;
    uint64_t to = end - at > LKS_LIBVER_NEAR ? at + LKS_LIBVER_NEAR : end;
    if (search_part(elf, (struct lks_elf_part){from, to - from}, &search, err) != LKS_OK)
        return err->code;
    *out = search.found;
    out->from = LKS_LIBVER_SYMBOL;
    memcpy(out->version, search.expected, sizeof(out->version));
    snprintf(out->evidence, sizeof(out->evidence), "%s = 0x%02x%02x%02x", rule->name, value[2],
             value[1], value[0]);
    return LKS_OK;
}

/* Functions ----------------------------------------------------------------------------------- */

/* The beginning of a function. */
struct code {
    enum lks_elf_machine machine;
    uint64_t address;
    size_t len;
    unsigned char bytes[LKS_LIBVER_CODE_MAX];
};

static uint32_t word(const struct code *code, size_t at)
{
    const unsigned char *b = code->bytes + at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Past `bytes`, if they stand at `at`. */
static bool pass(const struct code *code, size_t *at, const char *bytes, size_t len)
{
    if (code->len - *at < len || memcmp(code->bytes + *at, bytes, len) != 0)
        return false;
    *at += len;
    return true;
}

/* [endbr64] [test rdi, rdi; je ...] mov dword ptr [rdi], NUMBER; xor eax, eax; ret */
static bool stores_x86(const struct code *code, uint32_t *out)
{
    size_t at = 0;
    pass(code, &at, "\xf3\x0f\x1e\xfa", 4);
    if (pass(code, &at, "\x48\x85\xff\x74", 4))
        at++;
    if (at > code->len || !pass(code, &at, "\xc7\x07", 2) || code->len - at < 4)
        return false;
    *out = word(code, at);
    at += 4;
    return pass(code, &at, "\x31\xc0\xc3", 3);
}

/* The registers that a few instructions of aarch64 leave behind. */
struct registers {
    bool known[32], argument[32]; /* has a number; has what the function was given */
    uint32_t value[32];
};

/* movz, movk, mov between registers: all that those short functions compute with. */
static bool step_aarch64(struct registers *r, uint32_t op)
{
    unsigned to = op & 31, shift = (op >> 21 & 1) * 16;
    uint32_t imm = (op >> 5 & 0xffff) << shift;
    if ((op & 0x7fc00000) == 0x52800000) { /* movz */
        r->value[to] = imm;
        r->known[to] = true;
    } else if ((op & 0x7fc00000) == 0x72800000) { /* movk */
        r->value[to] = (r->value[to] & ~(UINT32_C(0xffff) << shift)) | imm;
    } else if ((op & 0x7fe0ffe0) == 0x2a0003e0) { /* mov */
        unsigned from = op >> 16 & 31;
        r->value[to] = r->value[from];
        r->known[to] = r->known[from];
        r->argument[to] = r->argument[from] && (op >> 31) != 0;
        return true;
    } else {
        return false;
    }
    r->argument[to] = false;
    return true;
}

/* [bti c] [cbz x0, ...], then moves and one str wN, [xM] where xM has what x0 had, up to ret. */
static bool stores_aarch64(const struct code *code, uint32_t *out)
{
    struct registers r = {.known[31] = true, .argument[0] = true}; /* 31 reads as zero */
    bool stored = false;
    for (size_t at = 0; code->len - at >= 4; at += 4) {
        uint32_t op = word(code, at);
        unsigned value = op & 31, where = op >> 5 & 31;
        if (op == 0xd65f03c0) /* ret */
            return stored;
        if (op == 0xd503245f || (op & 0xff00001f) == 0xb4000000) /* bti c; cbz x0 */
            continue;
        if ((op & 0xfffffc00) == 0xb9000000 && r.argument[where] && r.known[value]) { /* str */
            *out = r.value[value];
            stored = true;
        } else if (!step_aarch64(&r, op)) {
            return false;
        }
    }
    return false;
}

/* Up to ret, only what takes down the frame of a function: pop, add rsp, leave, lea rsp. */
static bool ends_x86(const struct code *code, size_t at)
{
    while (at < code->len) {
        const unsigned char *b = code->bytes + at;
        size_t rest = code->len - at;
        if (b[0] == 0xc3)
            return true;
        if ((b[0] & 0xf8) == 0x58 || b[0] == 0xc9)
            at += 1;
        else if (rest > 2 && b[0] == 0x41 && (b[1] & 0xf8) == 0x58)
            at += 2;
        else if (rest > 4 &&
                 (memcmp(b, "\x48\x83\xc4", 3) == 0 || memcmp(b, "\x48\x8d\x65", 3) == 0))
            at += 4;
        else if (rest > 7 && memcmp(b, "\x48\x81\xc4", 3) == 0)
            at += 7;
        else
            return false;
    }
    return false;
}

/* mov eax, NUMBER before the end of the function. */
static bool returns_x86(const struct code *code, size_t at, uint32_t *out)
{
    if (code->len - at < 5 || code->bytes[at] != 0xb8 || !ends_x86(code, at + 5))
        return false;
    *out = word(code, at + 1);
    return true;
}

/* movz x0, NUMBER before the end of the function, with movk x0 and loads from the stack between. */
static bool returns_aarch64(const struct code *code, size_t at, uint32_t *out)
{
    struct registers r = {0};
    for (; code->len - at >= 4; at += 4) {
        uint32_t op = word(code, at);
        bool number = (op & 0x1f80001f) == 0x12800000 && step_aarch64(&r, op);
        bool load = (op & 0xffc003e0) == 0xf94003e0 || (op & 0xffc003e0) == 0xfd4003e0;
        bool pair = (op & 0xfe4003e0) == 0xa84003e0 && (op >> 10 & 31) != 0;
        bool add = (op & 0xff8003ff) == 0x910003ff;
        if (op == 0xd65f03c0) { /* ret */
            *out = r.value[0];
            return r.known[0];
        }
        if (!r.known[0] || !(number || add || ((load || pair) && (op & 31) != 0)))
            return false;
    }
    return false;
}

/* The address that is called by the instruction at `at`, if it is one that calls. */
static bool calls(const struct code *code, size_t at, uint64_t *out)
{
    uint32_t op;
    if (code->machine == LKS_ELF_X86_64) {
        if (code->len - at < 5 || code->bytes[at] != 0xe8)
            return false;
        op = word(code, at + 1);
        *out = code->address + at + 5 + (uint64_t)(int64_t)(int32_t)op;
        return true;
    }
    if (code->len - at < 4 || (word(code, at) & 0xfc000000) != 0x94000000)
        return false;
    op = word(code, at) & 0x03ffffff;
    *out = code->address + at + (uint64_t)op * 4 - ((op >> 25) != 0 ? UINT64_C(1) << 28 : 0);
    return true;
}

/* The bytes at `address` that are code, `len` at the most; none where there are none. */
static enum lks_code load_code(const struct lks_elf *elf, uint64_t address, uint64_t len,
                               struct code *out, struct lks_err *err)
{
    const struct lks_elf_load *load = lks_elf_at(elf, address, 1);
    *out = (struct code){.machine = elf->machine, .address = address};
    if (load == NULL || !load->code)
        return LKS_OK;
    uint64_t into = address - load->address, most = load->part.size - into;
    len = len < most ? len : most;
    out->len = len < LKS_LIBVER_CODE_MAX ? (size_t)len : LKS_LIBVER_CODE_MAX;
    return lks_elf_bytes(elf, load->part.offset + into, out->bytes, out->len, err);
}

static bool stores(const struct code *code, uint32_t *out)
{
    return code->machine == LKS_ELF_X86_64 ? stores_x86(code, out) : stores_aarch64(code, out);
}

static bool returns(const struct code *code, size_t at, uint32_t *out)
{
    return code->machine == LKS_ELF_X86_64 ? returns_x86(code, at, out)
                                           : returns_aarch64(code, at, out);
}

/* Numbers found so far: one, however often, or several that make it doubtful. */
struct numbers {
    bool any, several;
    uint32_t one;
};

static void note_number(struct numbers *n, uint32_t value)
{
    enum { LEAST = 1000, MOST = 999999 }; /* 1.0.0 and 99.99.99; other constants are not ours */
    if (value < LEAST || value > MOST)
        return;
    n->several |= n->any && n->one != value;
    n->any = true;
    n->one = value;
}

/* The function itself, or one that it calls. On x86-64 a byte that resembles a call may be part of
 * another instruction; there is no version where it leads. */
static enum lks_code collect(const struct lks_elf *elf, const struct lks_libver_rule *rule,
                             const struct code *code, struct numbers *out, struct lks_err *err)
{
    enum { SHORT = 48 }; /* bytes of a function that does nothing else */
    size_t step = code->machine == LKS_ELF_X86_64 ? 1 : 4;
    uint32_t value;
    if (rule->how == HOW_STORES && stores(code, &value)) {
        note_number(out, value);
        return LKS_OK;
    }
    for (size_t at = 0; at < code->len; at += step) {
        uint64_t address;
        if (rule->how == HOW_RETURNS) {
            if (returns(code, at, &value))
                note_number(out, value);
        } else if (calls(code, at, &address)) {
            struct code called;
            if (load_code(elf, address, SHORT, &called, err) != LKS_OK)
                return err->code;
            if (stores(&called, &value))
                note_number(out, value);
        }
    }
    return LKS_OK;
}

static void put_number(enum number number, uint32_t n, char out[LKS_LIBVER_LEN_MAX + 1])
{
    size_t size = LKS_LIBVER_LEN_MAX + 1;
    if (number == NUMBER_CUDA)
        snprintf(out, size, "%u.%u", n / 1000, n % 1000 / 10);
    else if (n >= 10000)
        snprintf(out, size, "%u.%u.%u", n / 10000, n / 100 % 100, n % 100);
    else
        snprintf(out, size, "%u.%u.%u", n / 1000, n / 100 % 10, n % 100);
}

static enum lks_code read_function(const struct lks_elf *elf, const struct lks_libver_rule *rule,
                                   struct lks_libver *out, struct lks_err *err)
{
    struct lks_elf_symbol symbol;
    struct code code;
    struct numbers numbers = {0};
    if (lks_elf_symbol(elf, rule->name, &symbol, err) != LKS_OK)
        return err->code;
    if (!symbol.code)
        return lks_fail(err, LKS_E_NOT_FOUND, "symbol %s is no function", rule->name);
    if (load_code(elf, symbol.address, symbol.part.size, &code, err) != LKS_OK ||
        collect(elf, rule, &code, &numbers, err) != LKS_OK)
        return err->code;
    if (!numbers.any || numbers.several)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s() hands out %s that we can make out", rule->name,
                        numbers.any ? "several numbers, none" : "no number");
    *out = (struct lks_libver){.from = LKS_LIBVER_SYMBOL};
    put_number(rule->number, numbers.one, out->version);
    snprintf(out->evidence, sizeof(out->evidence), "%s() = %" PRIu32, rule->name, numbers.one);
    return LKS_OK;
}

/* All of it ----------------------------------------------------------------------------------- */

static enum lks_code apply(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                           const struct lks_libver_rule *rule, struct lks_libver *out,
                           struct lks_err *err)
{
    switch (rule->how) {
    case HOW_TEXT:
    case HOW_ALONE:
        return read_text(kind, elf, rule, out, err);
    case HOW_PACKED:
        return read_packed(kind, elf, rule, out, err);
    case HOW_RETURNS:
    case HOW_STORES:
        return read_function(elf, rule, out, err);
    case HOW_END:
        break;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "no rule");
}

/* Each rule in turn. Of several that find nothing the message of the first counts: the others are
 * for libraries that are not as they should be. */
static enum lks_code read_inside(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                                 struct lks_libver *out, struct lks_err *err)
{
    struct lks_err why = {0}, later = {0};
    for (const struct lks_libver_rule *rule = kind->rules; rule->how != HOW_END; rule++) {
        struct lks_err *now = rule == kind->rules ? &why : &later;
        enum lks_code code = apply(kind, elf, rule, out, now);
        if (code == LKS_OK)
            return LKS_OK;
        if (code != LKS_E_NOT_FOUND) {
            *err = *now;
            return code;
        }
    }
    if (kind->beside[0] != NULL)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "it only passes calls on; its version is in %s or %s beside it",
                        kind->beside[0], kind->beside[1]);
    *err = why;
    return LKS_E_NOT_FOUND;
}

/* The version that the name claims, if it is a whole one. */
static void put_named(const struct lks_libver_kind *kind, struct lks_str basename,
                      char out[LKS_LIBVER_LEN_MAX + 1])
{
    struct lks_str numbers;
    if (!kind->name_is_version || !split_name(basename, kind->stem, &numbers) ||
        numbers.len > LKS_LIBVER_LEN_MAX || version_len(kind, numbers, '.') == 0)
        return;
    put_version(numbers, '.', out);
}

enum lks_code lks_libver_read(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                              struct lks_str basename, struct lks_libver *out, struct lks_err *err)
{
    struct lks_libver found = {0};
    struct lks_err why = {0};
    char named[LKS_LIBVER_LEN_MAX + 1] = {0};
    put_named(kind, basename, named);
    enum lks_code code = read_inside(kind, elf, &found, &why);
    if (code == LKS_E_NOT_FOUND && named[0] != '\0') {
        found = (struct lks_libver){.from = LKS_LIBVER_FILE_NAME};
        memcpy(found.version, named, sizeof(named));
        put_evidence(basename, found.evidence);
    } else if (code != LKS_OK) {
        *err = why;
        return code;
    }
    memcpy(found.named, named, sizeof(named));
    *out = found;
    return LKS_OK;
}
