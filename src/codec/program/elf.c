#include "codec/program/elf.h"

#include "base/str.h"

#include <inttypes.h>

/* The sizes and numbers of the format that we need (ELF-64 Object File Format, gABI). */
enum {
    HEADER_SIZE = 64,
    SEGMENT_SIZE = 56,
    SECTION_SIZE = 64,
    DYNAMIC_SIZE = 16,
    SYMBOL_SIZE = 24,
    NOTE_SIZE = 12,

    CLASS_64 = 2,
    LITTLE_ENDIAN_DATA = 1,
    TYPE_RELOCATABLE = 1,
    TYPE_SHARED = 3,
    MACHINE_X86_64 = 62,
    MACHINE_AARCH64 = 183,
    SEGMENT_LOAD = 1,
    SEGMENT_DYNAMIC = 2,
    SEGMENT_NOTE = 4,
    SEGMENT_EXECUTABLE = 1,
    SECTION_NOBITS = 8,
    INDEX_ELSEWHERE = 0xffff, /* SHN_XINDEX: too large for its field */
    INDEX_RESERVED = 0xff00,  /* SHN_LORESERVE: from here on no number of a section */
    DYNAMIC_END = 0,
    DYNAMIC_HASH = 4,
    DYNAMIC_STRINGS = 5,
    DYNAMIC_SYMBOLS = 6,
    DYNAMIC_STRINGS_SIZE = 10,
    DYNAMIC_SONAME = 14,
    SYMBOL_OBJECT = 1,
    SYMBOL_FUNCTION = 2,
    NOTE_GNU_BUILD_ID = 3,
};

static const uint64_t DYNAMIC_GNU_HASH = 0x6ffffef5;

/* Fields, least byte first whatever this machine prefers. */
static uint16_t get16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)get16(at) | (uint32_t)get16(at + 2) << 16;
}

static uint64_t get64(const unsigned char *at)
{
    return (uint64_t)get32(at) | (uint64_t)get32(at + 4) << 32;
}

static bool inside(const struct lks_elf *elf, uint64_t offset, uint64_t len)
{
    return len <= elf->file.size && offset <= elf->file.size - len;
}

enum lks_code lks_elf_bytes(const struct lks_elf *elf, uint64_t offset, void *buf, size_t len,
                            struct lks_err *err)
{
    size_t have = 0;
    while (have < len) {
        size_t got = 0;
        enum lks_code code = elf->file.read_at(elf->file.ctx, offset + have, (char *)buf + have,
                                               len - have, &got, err);
        LKS_ASSERT(code == LKS_OK || err->code == code);
        if (code != LKS_OK)
            return code;
        if (got == 0)
            return lks_fail(err, LKS_E_INVALID,
                            "the file ends before byte %" PRIu64 ": it is cut short", offset + len);
        LKS_ASSERT(got <= len - have);
        have += got;
    }
    return LKS_OK;
}

const struct lks_elf_load *lks_elf_at(const struct lks_elf *elf, uint64_t address, uint64_t len)
{
    for (size_t i = 0; i < elf->load_count; i++) {
        const struct lks_elf_load *load = &elf->loads[i];
        uint64_t into = address - load->address;
        if (address >= load->address && len <= load->part.size && into <= load->part.size - len)
            return load;
    }
    return NULL;
}

/* Bytes that are known by their address, as the dynamic tables are. */
static enum lks_code bytes_at(const struct lks_elf *elf, uint64_t address, void *buf, size_t len,
                              struct lks_err *err)
{
    const struct lks_elf_load *load = lks_elf_at(elf, address, len);
    if (load == NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "a dynamic table points to address 0x%" PRIx64
                        ", which is in no loaded segment",
                        address);
    return lks_elf_bytes(elf, load->part.offset + (address - load->address), buf, len, err);
}

/* The header ---------------------------------------------------------------------------------- */

static enum lks_code check_kind(const unsigned char header[HEADER_SIZE], struct lks_err *err)
{
    uint16_t type = get16(header + 16), machine = get16(header + 18);
    if (memcmp(header, "\177ELF", 4) != 0)
        return lks_fail(err, LKS_E_INVALID, "not an ELF file");
    if (header[4] != CLASS_64)
        return lks_fail(err, LKS_E_INVALID, "an ELF file, but not a 64-bit one");
    if (header[5] != LITTLE_ENDIAN_DATA)
        return lks_fail(err, LKS_E_INVALID, "an ELF file, but not a little-endian one");
    if (machine != MACHINE_X86_64 && machine != MACHINE_AARCH64)
        return lks_fail(err, LKS_E_INVALID,
                        "an ELF file for machine %u, neither x86-64 nor aarch64", machine);
    if (type < TYPE_RELOCATABLE || type > TYPE_SHARED)
        return lks_fail(err, LKS_E_INVALID,
                        "an ELF file of type %u: no library, program or kernel module", type);
    return LKS_OK;
}

/* A table of `count` headers of `size` bytes each. */
static enum lks_code check_table(const struct lks_elf *elf, const char *what, uint64_t offset,
                                 uint64_t count, unsigned size, unsigned right_size,
                                 struct lks_err *err)
{
    if (size != right_size)
        return lks_fail(err, LKS_E_INVALID, "%s headers of %u bytes, which have %u", what, size,
                        right_size);
    if (!inside(elf, offset, count * size))
        return lks_fail(err, LKS_E_INVALID,
                        "%" PRIu64 " %s headers at byte %" PRIu64
                        " do not fit into a file of %" PRIu64 " bytes: it is cut short",
                        count, what, offset, elf->file.size);
    return LKS_OK;
}

/* Segments ------------------------------------------------------------------------------------ */

static enum lks_code add_load(struct lks_elf *elf, const unsigned char *header, struct lks_err *err)
{
    if (elf->load_count == LKS_ELF_LOADS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d loaded segments", LKS_ELF_LOADS_MAX);
    elf->loads[elf->load_count++] = (struct lks_elf_load){
        .part = {.offset = get64(header + 8), .size = get64(header + 32)},
        .address = get64(header + 16),
        .code = (get32(header + 4) & SEGMENT_EXECUTABLE) != 0,
    };
    return LKS_OK;
}

static uint64_t padded(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

static void put_hex(const unsigned char *bytes, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

/* Notes follow each other, each with its sizes in front. We walk until they make no sense any more:
 * other notes are none of our business. */
static enum lks_code find_build_id(struct lks_elf *elf, struct lks_elf_part notes, uint64_t align,
                                   struct lks_err *err)
{
    unsigned char head[NOTE_SIZE + 4], id[LKS_ELF_BUILD_ID_MAX];
    uint64_t at = 0;
    for (unsigned n = 0; n < LKS_ELF_NOTES_MAX && notes.size - at >= sizeof(head); n++) {
        if (lks_elf_bytes(elf, notes.offset + at, head, sizeof(head), err) != LKS_OK)
            return err->code;
        uint32_t name_size = get32(head), size = get32(head + 4);
        uint64_t desc = at + padded((uint64_t)NOTE_SIZE + name_size, align);
        if (desc > notes.size || size > notes.size - desc)
            return LKS_OK;
        bool found = name_size == 4 && memcmp(head + NOTE_SIZE, "GNU", 4) == 0 &&
                     get32(head + 8) == NOTE_GNU_BUILD_ID;
        if (found && size > 0 && size <= sizeof(id)) {
            if (lks_elf_bytes(elf, notes.offset + desc, id, size, err) != LKS_OK)
                return err->code;
            put_hex(id, size, elf->build_id);
            return LKS_OK;
        }
        at = desc + padded(size, align);
        if (at > notes.size)
            return LKS_OK;
    }
    return LKS_OK;
}

static void note_dynamic(struct lks_elf *elf, uint64_t tag, uint64_t value, uint64_t *soname)
{
    const struct {
        uint64_t tag, *value;
    } known[] = {
        {DYNAMIC_GNU_HASH, &elf->dynamic.gnu_hash},
        {DYNAMIC_HASH, &elf->dynamic.hash},
        {DYNAMIC_STRINGS, &elf->dynamic.strings},
        {DYNAMIC_STRINGS_SIZE, &elf->dynamic.strings_size},
        {DYNAMIC_SYMBOLS, &elf->dynamic.symbols},
        {DYNAMIC_SONAME, soname},
    };
    for (size_t i = 0; i < LKS_COUNT(known); i++) {
        if (known[i].tag == tag)
            *known[i].value = value;
    }
}

/* The name of the library, once it is known where it begins in the table of strings. */
static enum lks_code read_soname(struct lks_elf *elf, uint64_t at, struct lks_err *err)
{
    char name[LKS_ELF_NAME_MAX + 1];
    uint64_t rest = elf->dynamic.strings_size;
    if (at >= rest)
        return lks_fail(err, LKS_E_INVALID, "the SONAME lies outside the table of strings");
    size_t len = rest - at < sizeof(name) ? (size_t)(rest - at) : sizeof(name);
    if (bytes_at(elf, elf->dynamic.strings + at, name, len, err) != LKS_OK)
        return err->code;
    const char *end = memchr(name, '\0', len);
    if (end == NULL || !lks_str_printable((struct lks_str){name, (size_t)(end - name)}))
        return lks_fail(err, LKS_E_INVALID, "the SONAME is not text of up to %d bytes",
                        LKS_ELF_NAME_MAX);
    memcpy(elf->soname, name, (size_t)(end - name) + 1);
    return LKS_OK;
}

static enum lks_code read_dynamic(struct lks_elf *elf, struct lks_elf_part part,
                                  struct lks_err *err)
{
    unsigned char entries[32 * DYNAMIC_SIZE];
    uint64_t soname = UINT64_MAX;
    if (part.size / DYNAMIC_SIZE > LKS_ELF_DYNAMIC_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d dynamic entries", LKS_ELF_DYNAMIC_MAX);
    part.size -= part.size % DYNAMIC_SIZE;
    for (bool more = true; more && part.size > 0;) {
        size_t len = part.size < sizeof(entries) ? (size_t)part.size : sizeof(entries);
        if (lks_elf_bytes(elf, part.offset, entries, len, err) != LKS_OK)
            return err->code;
        for (size_t i = 0; more && i < len; i += DYNAMIC_SIZE) {
            more = get64(entries + i) != DYNAMIC_END;
            note_dynamic(elf, get64(entries + i), get64(entries + i + 8), &soname);
        }
        part.offset += len;
        part.size -= len;
    }
    return soname != UINT64_MAX ? read_soname(elf, soname, err) : LKS_OK;
}

/* Every segment must be in the file, and those that are loaded are kept: addresses need them. */
static enum lks_code keep_segments(struct lks_elf *elf, const unsigned char *headers,
                                   unsigned count, struct lks_err *err)
{
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *header = headers + (size_t)i * SEGMENT_SIZE;
        uint32_t type = get32(header);
        if (type != SEGMENT_LOAD && type != SEGMENT_DYNAMIC && type != SEGMENT_NOTE)
            continue;
        if (!inside(elf, get64(header + 8), get64(header + 32)))
            return lks_fail(err, LKS_E_INVALID,
                            "segment %u, %" PRIu64 " bytes at byte %" PRIu64
                            ", does not fit into a file of %" PRIu64 " bytes: it is cut short",
                            i, get64(header + 32), get64(header + 8), elf->file.size);
        if (type == SEGMENT_LOAD && add_load(elf, header, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code read_segments(struct lks_elf *elf, uint64_t offset, unsigned count,
                                   struct lks_err *err)
{
    unsigned char headers[LKS_ELF_SEGMENTS_MAX * SEGMENT_SIZE];
    if (lks_elf_bytes(elf, offset, headers, (size_t)count * SEGMENT_SIZE, err) != LKS_OK ||
        keep_segments(elf, headers, count, err) != LKS_OK)
        return err->code;
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *header = headers + (size_t)i * SEGMENT_SIZE;
        struct lks_elf_part part = {get64(header + 8), get64(header + 32)};
        uint32_t type = get32(header);
        enum lks_code code = LKS_OK;
        if (type == SEGMENT_DYNAMIC)
            code = read_dynamic(elf, part, err);
        else if (type == SEGMENT_NOTE && elf->build_id[0] == '\0')
            code = find_build_id(elf, part, get64(header + 48) == 8 ? 8 : 4, err);
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

/* Sections ------------------------------------------------------------------------------------ */

/* The table of headers, and the section that holds the names. Where there are too many for the
 * fields of the file's header, the first section header has the numbers. */
static enum lks_code read_sections(struct lks_elf *elf, const unsigned char header[HEADER_SIZE],
                                   struct lks_err *err)
{
    unsigned char section[SECTION_SIZE] = {0};
    uint64_t offset = get64(header + 40), count = get16(header + 60);
    uint32_t names = get16(header + 62);
    unsigned size = get16(header + 58);
    if (offset == 0)
        return LKS_OK;
    if (check_table(elf, "section", offset, count > 0 ? count : 1, size, SECTION_SIZE, err) !=
            LKS_OK ||
        lks_elf_bytes(elf, offset, section, sizeof(section), err) != LKS_OK)
        return err->code;
    count = count > 0 ? count : get64(section + 32);
    names = names == INDEX_ELSEWHERE ? get32(section + 40) : names;
    if (count > LKS_ELF_SECTIONS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d sections", LKS_ELF_SECTIONS_MAX);
    if (check_table(elf, "section", offset, count, size, SECTION_SIZE, err) != LKS_OK)
        return err->code;
    if (names == 0)
        return LKS_OK;
    if (names >= count)
        return lks_fail(err, LKS_E_INVALID,
                        "the names of the sections are in section %" PRIu32
                        ", and there are only %" PRIu64,
                        names, count);
    if (lks_elf_bytes(elf, offset + (uint64_t)names * SECTION_SIZE, section, sizeof(section),
                      err) != LKS_OK)
        return err->code;
    struct lks_elf_part part = {get64(section + 24), get64(section + 32)};
    if (!inside(elf, part.offset, part.size))
        return lks_fail(err, LKS_E_INVALID, "the names of the sections lie outside the file");
    elf->sections = (struct lks_elf_part){offset, count * SECTION_SIZE};
    elf->names = part;
    return LKS_OK;
}

static enum lks_code is_named(const struct lks_elf *elf, uint32_t at, const char *name, bool *out,
                              struct lks_err *err)
{
    char there[LKS_ELF_NAME_MAX + 1];
    size_t len = strlen(name) + 1;
    *out = false;
    if (len > sizeof(there) || len > elf->names.size || at > elf->names.size - len)
        return LKS_OK;
    if (lks_elf_bytes(elf, elf->names.offset + at, there, len, err) != LKS_OK)
        return err->code;
    *out = memcmp(there, name, len) == 0;
    return LKS_OK;
}

static enum lks_code take_section(const struct lks_elf *elf, const unsigned char *section,
                                  const char *name, struct lks_elf_part *out, struct lks_err *err)
{
    struct lks_elf_part part = {get64(section + 24), get64(section + 32)};
    if (get32(section + 4) == SECTION_NOBITS)
        return lks_fail(err, LKS_E_NOT_FOUND, "section %s has no bytes in the file", name);
    if (!inside(elf, part.offset, part.size))
        return lks_fail(err, LKS_E_INVALID,
                        "section %s, %" PRIu64 " bytes at byte %" PRIu64
                        ", does not fit into a file of %" PRIu64 " bytes: it is cut short",
                        name, part.size, part.offset, elf->file.size);
    *out = part;
    return LKS_OK;
}

enum lks_code lks_elf_section(const struct lks_elf *elf, const char *name, struct lks_elf_part *out,
                              struct lks_err *err)
{
    unsigned char headers[32 * SECTION_SIZE];
    struct lks_elf_part rest = elf->sections;
    while (rest.size > 0) {
        size_t len = rest.size < sizeof(headers) ? (size_t)rest.size : sizeof(headers);
        if (lks_elf_bytes(elf, rest.offset, headers, len, err) != LKS_OK)
            return err->code;
        for (size_t i = 0; i < len; i += SECTION_SIZE) {
            bool found;
            if (is_named(elf, get32(headers + i), name, &found, err) != LKS_OK)
                return err->code;
            if (found)
                return take_section(elf, headers + i, name, out, err);
        }
        rest.offset += len;
        rest.size -= len;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "no section %s", name);
}

/* A kernel module has no segments; its notes are in sections. */
static enum lks_code read_section_note(struct lks_elf *elf, struct lks_err *err)
{
    struct lks_elf_part part = {0};
    enum lks_code code = lks_elf_section(elf, ".note.gnu.build-id", &part, err);
    if (code == LKS_E_NOT_FOUND) {
        *err = (struct lks_err){0};
        return LKS_OK;
    }
    return code == LKS_OK ? find_build_id(elf, part, 4, err) : code;
}

enum lks_code lks_elf_read(const struct lks_elf_file *file, struct lks_elf *out,
                           struct lks_err *err)
{
    struct lks_elf elf = {.file = *file};
    unsigned char header[HEADER_SIZE] = {0};
    if (file->size < sizeof(header))
        return lks_fail(err, LKS_E_INVALID, "%" PRIu64 " bytes: too short for an ELF file",
                        file->size);
    if (lks_elf_bytes(&elf, 0, header, sizeof(header), err) != LKS_OK ||
        check_kind(header, err) != LKS_OK)
        return err->code;
    elf.machine = get16(header + 18) == MACHINE_X86_64 ? LKS_ELF_X86_64 : LKS_ELF_AARCH64;
    elf.relocatable = get16(header + 16) == TYPE_RELOCATABLE;

    uint64_t offset = get64(header + 32);
    unsigned count = get16(header + 56);
    if (count > LKS_ELF_SEGMENTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d segments", LKS_ELF_SEGMENTS_MAX);
    if (count > 0 && check_table(&elf, "segment", offset, count, get16(header + 54), SEGMENT_SIZE,
                                 err) != LKS_OK)
        return err->code;
    if (read_sections(&elf, header, err) != LKS_OK)
        return err->code;
    enum lks_code code = count > 0 ? read_segments(&elf, offset, count, err) : LKS_OK;
    if (code == LKS_OK && count == 0)
        code = read_section_note(&elf, err);
    if (code == LKS_OK)
        *out = elf;
    return code;
}

/* Symbols ------------------------------------------------------------------------------------- */

/* Symbol `index`, if it is `name` and defined here. */
static enum lks_code try_symbol(const struct lks_elf *elf, uint32_t index, const char *name,
                                bool *found, struct lks_elf_symbol *out, struct lks_err *err)
{
    unsigned char symbol[SYMBOL_SIZE] = {0};
    char there[LKS_ELF_NAME_MAX + 1];
    size_t len = strlen(name) + 1;
    uint64_t size = elf->dynamic.strings_size;
    *found = false;
    if (bytes_at(elf, elf->dynamic.symbols + (uint64_t)index * SYMBOL_SIZE, symbol, sizeof(symbol),
                 err) != LKS_OK)
        return err->code;
    unsigned type = symbol[4] & 15, section = get16(symbol + 6);
    if ((type != SYMBOL_OBJECT && type != SYMBOL_FUNCTION) || section == 0 ||
        section >= INDEX_RESERVED || len > size || get32(symbol) > size - len)
        return LKS_OK;
    if (bytes_at(elf, elf->dynamic.strings + get32(symbol), there, len, err) != LKS_OK)
        return err->code;
    if (memcmp(there, name, len) != 0)
        return LKS_OK;

    uint64_t address = get64(symbol + 8), bytes = get64(symbol + 16);
    const struct lks_elf_load *load = lks_elf_at(elf, address, bytes);
    if (load == NULL)
        return lks_fail(err, LKS_E_INVALID, "symbol %s is in no loaded segment", name);
    *found = true;
    *out = (struct lks_elf_symbol){
        .address = address,
        .part = {load->part.offset + (address - load->address), bytes},
        .code = type == SYMBOL_FUNCTION,
    };
    return LKS_OK;
}

static enum lks_code word_at(const struct lks_elf *elf, uint64_t address, uint32_t *out,
                             struct lks_err *err)
{
    unsigned char word[4] = {0};
    if (bytes_at(elf, address, word, sizeof(word), err) != LKS_OK)
        return err->code;
    *out = get32(word);
    return LKS_OK;
}

static enum lks_code fail_symbol(const char *name, struct lks_err *err)
{
    return lks_fail(err, LKS_E_NOT_FOUND, "no symbol %s", name);
}

static enum lks_code fail_chain(struct lks_err *err)
{
    return lks_fail(err, LKS_E_LIMIT, "a chain of more than %d symbols in the hash table",
                    LKS_ELF_CHAIN_MAX);
}

static uint32_t hash_gnu(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* Counts, a filter (which we leave aside), the first symbol of each bucket, and a hash for every
 * symbol whose lowest bit ends the bucket. */
static enum lks_code find_gnu(const struct lks_elf *elf, const char *name,
                              struct lks_elf_symbol *out, struct lks_err *err)
{
    unsigned char head[16] = {0};
    if (bytes_at(elf, elf->dynamic.gnu_hash, head, sizeof(head), err) != LKS_OK)
        return err->code;
    uint32_t buckets = get32(head), first = get32(head + 4), hash = hash_gnu(name), index = 0;
    uint64_t table = elf->dynamic.gnu_hash + sizeof(head) + (uint64_t)get32(head + 8) * 8;
    if (buckets == 0)
        return fail_symbol(name, err);
    if (word_at(elf, table + (uint64_t)(hash % buckets) * 4, &index, err) != LKS_OK)
        return err->code;
    if (index < first)
        return fail_symbol(name, err);
    table += (uint64_t)buckets * 4;
    for (unsigned steps = 0; steps < LKS_ELF_CHAIN_MAX; steps++, index++) {
        uint32_t there = 0;
        bool found = false;
        if (word_at(elf, table + (uint64_t)(index - first) * 4, &there, err) != LKS_OK ||
            ((there | 1) == (hash | 1) && try_symbol(elf, index, name, &found, out, err) != LKS_OK))
            return err->code;
        if (found || (there & 1) != 0)
            return found ? LKS_OK : fail_symbol(name, err);
    }
    return fail_chain(err);
}

static uint32_t hash_sysv(const char *name)
{
    uint32_t hash = 0;
    for (; *name != '\0'; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash = (hash ^ (hash >> 28) << 4) & 0x0fffffff;
    }
    return hash;
}

/* Counts, the first symbol of each bucket, and for every symbol the next one of its bucket. */
static enum lks_code find_sysv(const struct lks_elf *elf, const char *name,
                               struct lks_elf_symbol *out, struct lks_err *err)
{
    uint64_t table = elf->dynamic.hash + 8;
    uint32_t buckets = 0, index = 0;
    if (word_at(elf, elf->dynamic.hash, &buckets, err) != LKS_OK)
        return err->code;
    if (buckets == 0)
        return fail_symbol(name, err);
    if (word_at(elf, table + (uint64_t)(hash_sysv(name) % buckets) * 4, &index, err) != LKS_OK)
        return err->code;
    table += (uint64_t)buckets * 4;
    for (unsigned steps = 0; index != 0; steps++) {
        bool found;
        if (steps == LKS_ELF_CHAIN_MAX)
            return fail_chain(err);
        if (try_symbol(elf, index, name, &found, out, err) != LKS_OK)
            return err->code;
        if (found)
            return LKS_OK;
        if (word_at(elf, table + (uint64_t)index * 4, &index, err) != LKS_OK)
            return err->code;
    }
    return fail_symbol(name, err);
}

enum lks_code lks_elf_symbol(const struct lks_elf *elf, const char *name,
                             struct lks_elf_symbol *out, struct lks_err *err)
{
    if (strlen(name) > LKS_ELF_NAME_MAX || elf->dynamic.symbols == 0 || elf->dynamic.strings == 0)
        return fail_symbol(name, err);
    if (elf->dynamic.gnu_hash != 0)
        return find_gnu(elf, name, out, err);
    return elf->dynamic.hash != 0 ? find_sysv(elf, name, out, err) : fail_symbol(name, err);
}
