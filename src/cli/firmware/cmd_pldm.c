/* pldm inspect and verify: what is in a firmware package, and whether it is what it says. */
#include "cli/firmware/pldm_file.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/trustdir.h"
#include "codec/format/hex.h"
#include "pldm/words.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_MAX ((size_t)1 << 20)

/* Words -------------------------------------------------------------------------------------- */

static const char *const standards[] = {"", "1.0", "1.1", "1.2", "1.3"};

#define RELEASED_SIZE 48

static const char *released(const struct lks_pldm_time *t, char out[RELEASED_SIZE])
{
    unsigned offset = (unsigned)abs(t->utc_offset);
    (void)snprintf(out, RELEASED_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u%c%02u:%02u", t->year,
                   t->month, t->day, t->hour, t->minute, t->second, t->utc_offset < 0 ? '-' : '+',
                   offset / 60, offset % 60);
    return out;
}

/* Options, by bit. */
static const struct lks_pldm_word device_words[] = {
    {LKS_PLDM_DEVICE_CONTINUES, "continue-after-failure"},
    {LKS_PLDM_DEVICE_STREAMS, "streams"},
    {0, NULL},
};
static const struct lks_pldm_word downstream_words[] = {
    {LKS_PLDM_DOWNSTREAM_STAMP, "stamp"},
    {0, NULL},
};
static const struct lks_pldm_word component_words[] = {
    {LKS_PLDM_COMPONENT_FORCE, "force"},
    {LKS_PLDM_COMPONENT_STAMP, "stamp"},
    {0, NULL},
};

static void options_json(struct lks_json_writer *w, uint32_t options,
                         const struct lks_pldm_word *words)
{
    lks_json_begin(w, "options", '[');
    for (; words->text != NULL; words++)
        if ((options & words->value) != 0)
            lks_json_cstr(w, NULL, words->text);
    lks_json_end(w, ']');
}

/* The payload's checksum: good, bad, or "none". */
static const char *payload_word(const struct lks_pldm_file *f)
{
    struct lks_err ignored = {0};
    if (f->package.revision < 4)
        return "none";
    return lks_pldm_package_sums_check(&f->package, &f->sums, &ignored) == LKS_OK ? "good" : "bad";
}

/* inspect: JSON ------------------------------------------------------------------------------ */

/* Texts made while something is printed; they go with it. */
struct page {
    struct lks_arena texts;
    struct lks_buf scratch;
};

static void page_init(struct page *page)
{
    lks_arena_init(&page->texts, TEXT_MAX);
    lks_buf_init(&page->scratch, TEXT_MAX);
}

static void page_fini(struct page *page)
{
    lks_arena_fini(&page->texts);
    lks_buf_fini(&page->scratch);
}

static struct lks_str text_of(struct page *page, struct lks_pldm_string s)
{
    return lks_pldm_package_string_text(s, &page->texts);
}

static struct lks_str descriptor_text(struct page *page, const struct lks_pldm_descriptor *d)
{
    lks_buf_truncate(&page->scratch, 0);
    lks_pldm_package_descriptor_text(d, &page->scratch);
    return lks_buf_view(&page->scratch);
}

static void descriptor_json(struct lks_json_writer *w, struct page *page,
                            const struct lks_pldm_descriptor *d)
{
    lks_json_write(w, "{'type': %u, 'name'?: '%s', 'value'?: '%.*s'", d->type,
                   lks_pldm_package_descriptor_name(d->type),
                   LKS_STR_ARG(descriptor_text(page, d)));
    lks_buf_truncate(&page->scratch, 0);
    lks_hex_add(&page->scratch, (const uint8_t *)d->value.ptr, d->value.len);
    lks_json_write(w, "'hex'?: '%.*s'}", LKS_STR_ARG(lks_buf_view(&page->scratch)));
}

static void record_json(struct lks_json_writer *w, struct page *page,
                        const struct lks_pldm_record *r, bool downstream)
{
    lks_json_begin(w, NULL, '{');
    lks_json_some(w, downstream ? "min_version" : "version", text_of(page, r->version));
    if (downstream && (r->options & LKS_PLDM_DOWNSTREAM_STAMP) != 0)
        lks_json_int(w, "min_stamp", r->stamp);
    options_json(w, r->options, downstream ? downstream_words : device_words);
    lks_json_begin(w, "descriptors", '[');
    for (size_t i = 0; i < r->descriptor_count; i++)
        descriptor_json(w, page, &r->descriptors[i]);
    lks_json_write(w, "], 'components': [");
    for (size_t i = 0; i < r->component_count; i++)
        lks_json_int(w, NULL, r->components[i] + 1);
    lks_json_write(w, "], 'package_data_bytes': %zu, 'manifest_bytes': %zu}", r->data.len,
                   r->manifest.len);
}

static void nested_json(struct lks_json_writer *w, struct page *page, const struct lks_pldm_file *f,
                        size_t index)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package nested = {0};
    if (!lks_pldm_file_nested(f, index, &nested))
        return;
    struct lks_str version = text_of(page, nested.version);
    lks_json_write(w, "'package': {'revision': %u, 'version'?: '%.*s', 'components': %zu}",
                   nested.revision, LKS_STR_ARG(version), nested.component_count);
}

static void component_json(struct lks_json_writer *w, struct page *page,
                           const struct lks_pldm_file *f, size_t index)
{
    const struct lks_pldm_component *c = &f->package.components[index];
    struct lks_str version = text_of(page, c->version);
    char digest[LKS_DIGEST_SIZE];
    lks_json_write(w, "{'classification': %u, 'class'?: '%s', 'id': %u, 'version'?: '%.*s'",
                   c->classification, lks_pldm_package_classification_name(c->classification),
                   c->id, LKS_STR_ARG(version));
    if ((c->options & LKS_PLDM_COMPONENT_STAMP) != 0)
        lks_json_int(w, "stamp", c->stamp);
    options_json(w, c->options, component_words);
    lks_json_begin(w, "activation", '[');
    for (unsigned bit = 0; lks_pldm_package_activation_name(bit) != NULL; bit++)
        if ((c->activation >> bit & 1) != 0)
            lks_json_cstr(w, NULL, lks_pldm_package_activation_name(bit));
    lks_json_write(w, "], 'offset': %u, 'bytes': %u, 'digest': '%s', 'opaque_bytes': %zu",
                   c->offset, c->size, lks_digest_write(f->sums.components[index], digest),
                   c->opaque.len);
    nested_json(w, page, f, index);
    lks_json_end(w, '}');
}

static void notes_json(struct lks_json_writer *w, const struct lks_pldm_package *p)
{
    lks_json_begin(w, "notes", '[');
    for (size_t i = 0; i < p->note_count; i++)
        lks_json_text(w, NULL, p->notes[i].text);
    lks_json_write(w, "], 'more_notes': %zu", p->more_notes);
}

static void records_json(struct lks_json_writer *w, struct page *page, const char *key,
                         const struct lks_pldm_record *records, size_t count, bool downstream)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < count; i++)
        record_json(w, page, &records[i], downstream);
    lks_json_end(w, ']');
}

static enum lks_code inspect_json(struct lks_cli *cli, struct page *page,
                                  const struct lks_pldm_file *f, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    const struct lks_pldm_package *p = &f->package;
    char digest[LKS_DIGEST_SIZE], time[RELEASED_SIZE];
    struct lks_json_writer *w = lks_output_begin(&o);
    struct lks_str version = text_of(page, p->version);
    lks_json_write(w,
                   "'file': '%s', 'revision': %u, 'version'?: '%.*s', 'released': '%s', "
                   "'bytes': %lu, 'header_bytes': %u, 'digest': '%s', 'payload': '%s', "
                   "'signed': %s",
                   f->path, p->revision, LKS_STR_ARG(version), released(&p->released, time),
                   f->size, p->header_size, lks_digest_write(f->sums.whole, digest),
                   payload_word(f), LKS_JSON_TRUTH(f->trailed));
    records_json(w, page, "devices", p->devices, p->device_count, false);
    records_json(w, page, "downstream", p->downstream, p->downstream_count, true);
    lks_json_begin(w, "components", '[');
    for (size_t i = 0; i < p->component_count; i++)
        component_json(w, page, f, i);
    lks_json_end(w, ']');
    notes_json(w, p);
    return lks_output_end(cli, &o, err);
}

/* inspect: text ------------------------------------------------------------------------------ */

static void add_separated(struct lks_buf *out, const char *text)
{
    lks_buf_addf(out, "%s%s", out->len > 0 ? ", " : "", text);
}

static void cell_activation(struct lks_table *t, struct page *page, uint16_t activation)
{
    lks_buf_truncate(&page->scratch, 0);
    for (unsigned bit = 0; lks_pldm_package_activation_name(bit) != NULL; bit++)
        if ((activation >> bit & 1) != 0)
            add_separated(&page->scratch, lks_pldm_package_activation_name(bit));
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&page->scratch));
}

static void cell_class(struct lks_table *t, uint16_t classification)
{
    const char *name = lks_pldm_package_classification_name(classification);
    if (name != NULL)
        lks_table_cell(t, LKS_PLAIN, lks_str_from(name));
    else
        lks_table_cellf(t, LKS_PLAIN, "0x%04x", classification);
}

static enum lks_code show_components(struct lks_cli *cli, struct page *page,
                                     const struct lks_pldm_file *f, struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"component", LKS_COLUMN_RIGHT}, {"class", LKS_COLUMN_WRAP},
        {"id", LKS_COLUMN_RIGHT},        {"version", LKS_COLUMN_WRAP},
        {"bytes", LKS_COLUMN_RIGHT},     {"activation", LKS_COLUMN_WRAP},
        {"digest", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    char digest[LKS_DIGEST_SIZE];
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < f->package.component_count; i++) {
        const struct lks_pldm_component *c = &f->package.components[i];
        lks_table_cellf(&t, LKS_BOLD, "%zu", i + 1);
        cell_class(&t, c->classification);
        lks_table_cellf(&t, LKS_PLAIN, "0x%04x", c->id);
        lks_output_cell(&t, LKS_BOLD, text_of(page, c->version));
        lks_table_cellf(&t, LKS_PLAIN, "%" PRIu32, c->size);
        cell_activation(&t, page, c->activation);
        lks_table_cell(&t, LKS_DIM, lks_str_from(lks_digest_write(f->sums.components[i], digest)));
    }
    return lks_output_table(cli, &t, err);
}

static void cell_descriptors(struct lks_table *t, struct page *page,
                             const struct lks_pldm_record *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(TEXT_MAX);
    for (size_t i = 0; i < r->descriptor_count; i++) {
        const char *name = lks_pldm_package_descriptor_name(r->descriptors[i].type);
        if (name != NULL)
            add_separated(&all, name);
        else
            lks_buf_addf(&all, "%s0x%04x", all.len > 0 ? ", " : "", r->descriptors[i].type);
        lks_buf_addc(&all, ' ');
        lks_buf_add(&all, descriptor_text(page, &r->descriptors[i]));
    }
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&all));
}

static void cell_applicable(struct lks_table *t, struct page *page, const struct lks_pldm_record *r)
{
    lks_buf_truncate(&page->scratch, 0);
    for (size_t i = 0; i < r->component_count; i++)
        lks_buf_addf(&page->scratch, "%s%u", i > 0 ? ", " : "", r->components[i] + 1U);
    lks_output_cell(t, LKS_PLAIN, lks_buf_view(&page->scratch));
}

static enum lks_code show_records(struct lks_cli *cli, struct page *page,
                                  const struct lks_pldm_package *p, struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"for devices with", LKS_COLUMN_WRAP},
                                                       {"version", LKS_COLUMN_WRAP},
                                                       {"components", LKS_COLUMN_WRAP},
                                                       {"kind", 0}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < p->device_count + p->downstream_count; i++) {
        bool downstream = i >= p->device_count;
        const struct lks_pldm_record *r =
            downstream ? &p->downstream[i - p->device_count] : &p->devices[i];
        cell_descriptors(&t, page, r);
        lks_output_cell(&t, LKS_PLAIN, text_of(page, r->version));
        cell_applicable(&t, page, r);
        lks_table_cell(&t, LKS_DIM, downstream ? LKS_STR("downstream") : LKS_STR("device"));
    }
    fprintf(cli->out, "\n");
    return lks_output_table(cli, &t, err);
}

static void show_nested(struct lks_cli *cli, struct page *page, const struct lks_pldm_file *f)
{
    for (size_t i = 0; i < f->package.component_count; i++) {
        LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package nested = {0};
        if (lks_pldm_file_nested(f, i, &nested))
            fprintf(cli->out,
                    "component %zu is itself a package: %" LKS_STR_FMT ", %zu components\n", i + 1,
                    LKS_STR_ARG(text_of(page, nested.version)), nested.component_count);
    }
}

static void show_notes(struct lks_cli *cli, const struct lks_pldm_package *p)
{
    const char *on = lks_term_on(&cli->term, LKS_YELLOW);
    const char *off = lks_term_off(&cli->term, LKS_YELLOW);
    for (size_t i = 0; i < p->note_count; i++)
        fprintf(cli->out, "%snote:%s %" LKS_STR_FMT "\n", on, off, LKS_STR_ARG(p->notes[i].text));
    if (p->more_notes > 0)
        fprintf(cli->out, "%snote:%s and %zu more, which are not listed\n", on, off, p->more_notes);
}

static enum lks_code inspect_text(struct lks_cli *cli, struct page *page,
                                  const struct lks_pldm_file *f, struct lks_err *err)
{
    const struct lks_pldm_package *p = &f->package;
    char digest[LKS_DIGEST_SIZE], time[RELEASED_SIZE];
    fprintf(cli->out,
            "%" LKS_STR_FMT ", released %s\n%s\n%" PRIu64 " bytes, header revision %u "
            "(DSP0267 %s)%s\n\n",
            LKS_STR_ARG(text_of(page, p->version)), released(&p->released, time),
            lks_digest_write(f->sums.whole, digest), f->size, p->revision, standards[p->revision],
            f->trailed ? ", with a signature trailer" : "");
    if (show_components(cli, page, f, err) != LKS_OK || show_records(cli, page, p, err) != LKS_OK)
        return err->code;
    if (p->note_count > 0)
        fprintf(cli->out, "\n");
    show_nested(cli, page, f);
    show_notes(cli, p);
    if (lks_str_is(lks_str_from(payload_word(f)), "bad"))
        fprintf(cli->out, "\nthe payload's checksum is wrong: see 'lockstep pldm verify'\n");
    return LKS_OK;
}

enum lks_code lks_cmd_pldm_inspect(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_file_fini) struct lks_pldm_file f = {0};
    LKS_CLEANUP(page_fini) struct page page = {0};
    page_init(&page);
    if (lks_pldm_file_load(args->positional[0], &f, err) != LKS_OK)
        return err->code;
    return lks_args_has(args, "--json") ? inspect_json(cli, &page, &f, err)
                                        : inspect_text(cli, &page, &f, err);
}

/* verify ------------------------------------------------------------------------------------- */

enum { CHECKS_MAX = 8 };

/* One thing that was looked at. */
struct check {
    const char *what, *verdict;
    char text[LKS_ERR_MSG_MAX];
};

struct checks {
    struct check rows[CHECKS_MAX];
    size_t count;
    bool bad;    /* one of them failed */
    bool proved; /* a checksum or a signature covers the images, and it is good */
};

static bool verified(const struct checks *c)
{
    return c->proved && !c->bad;
}

static void add_check(struct checks *c, const char *what, const char *verdict, const char *text)
{
    LKS_ASSERT(c->count < CHECKS_MAX);
    struct check *row = &c->rows[c->count++];
    row->what = what;
    row->verdict = verdict;
    (void)snprintf(row->text, sizeof(row->text), "%s", text);
    c->bad = c->bad || strcmp(verdict, "bad") == 0;
}

static void add_proof(struct checks *c, const char *what, const char *verdict, const char *text)
{
    add_check(c, what, verdict, text);
    c->proved = true;
}

static void check_payload(struct checks *c, const struct lks_pldm_file *f)
{
    struct lks_err why = {0};
    if (f->package.revision < 4)
        add_check(c, "payload", "none", "headers before revision 4 have no checksum of the images");
    else if (lks_pldm_package_sums_check(&f->package, &f->sums, &why) != LKS_OK)
        add_check(c, "payload", "bad", why.msg);
    else
        add_proof(c, "payload", "good", "the images' checksum is right");
}

static void check_standard(struct checks *c, const struct lks_pldm_file *f, bool strict)
{
    char text[LKS_ERR_MSG_MAX];
    size_t notes = f->package.note_count + f->package.more_notes;
    if (notes == 0 && f->sums.loose == 0) {
        add_check(c, "standard", "good", "as DSP0267 has it");
        return;
    }
    (void)snprintf(text, sizeof(text), "%zu deviation%s%s", notes, notes == 1 ? "" : "s",
                   f->sums.loose > 0 ? "; bytes that belong to nothing" : "");
    add_check(c, "standard", strict ? "bad" : "noted", text);
}

/* Bytes between the last image and the trailer, or the end. None belong there, except zero bytes
 * that the checksum of revision 4 covers: they are part of its payload. */
static bool has_loose_end(const struct lks_pldm_file *f)
{
    struct lks_err ignored = {0};
    uint64_t trailer = f->trailed ? LKS_PLDM_TRAILER_BYTES : 0;
    bool covered = f->package.revision >= 4 &&
                   lks_pldm_package_sums_check(&f->package, &f->sums, &ignored) == LKS_OK;
    return f->size - trailer > lks_pldm_package_end(&f->package) &&
           (f->sums.behind > 0 || !covered);
}

/* Bytes behind the images are a whole trailer or a damaged one: a package whose signature was cut
 * off in part is not an unsigned package. */
static void check_unsigned(struct checks *c, const struct lks_pldm_file *f,
                           const struct lks_pin *pin)
{
    char text[LKS_ERR_MSG_MAX], count[LKS_COUNT_TEXT_SIZE];
    if (has_loose_end(f)) {
        uint64_t loose = f->size - lks_pldm_package_end(&f->package);
        (void)snprintf(text, sizeof(text),
                       "%s behind the last image, which %s no signature trailer: "
                       "one has %d bytes and starts with 5f 32 cb 08; get the file again",
                       lks_str_count_text(loose, "byte", count), loose == 1 ? "is" : "are",
                       LKS_PLDM_TRAILER_BYTES);
        add_check(c, "signature", "bad", text);
    } else if (pin != NULL) {
        add_check(c, "signature", "bad", "a key was pinned, and the package is not signed");
    } else {
        add_check(c, "signature", "none", "the package is not signed");
    }
}

static void check_signature(struct checks *c, const struct lks_pldm_file *f,
                            const struct lks_pin *pin)
{
    struct lks_err why = {0};
    if (!f->trailed || has_loose_end(f))
        check_unsigned(c, f, pin);
    else if (f->trailer_fault.code != LKS_OK)
        add_check(c, "signature", "bad", f->trailer_fault.msg);
    else if (lks_pldm_trailer_verify(&f->trailer, f->sums.signed_part, pin, &why) != LKS_OK)
        add_check(c, "signature", "bad", why.msg);
    else if (pin != NULL)
        add_proof(c, "signature", "good", "by the pinned key");
    else
        add_proof(c, "signature", "integrity only",
                  "good by the key that comes with the file, which anyone could have put there; "
                  "pin one with --key");
}

static const char *conclusion(const struct checks *c)
{
    if (c->bad)
        return "does not verify";
    return c->proved
               ? "verified"
               : "cannot be verified: it has neither a checksum of its images nor a signature";
}

static const struct lks_listing_column check_columns[] = {
    LKS_PLAIN_LEFT("check", "check"),
    {"verdict", "verdict", 0, "[{.=bad}red|{.=good}green|yellow]"},
    LKS_PLAIN_WRAP("why", "text"),
};

static enum lks_code show_checks(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_doc *verdict, struct lks_err *err)
{
    static const struct lks_listing_part checks = {"checks", LKS_PART_COLUMNS(check_columns), NULL,
                                                   true};
    (void)args;
    return lks_listing_part(cli, &checks, verdict, err);
}

static enum lks_code print_verdict(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_pldm_file *f, const struct checks *c,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    LKS_CLEANUP(page_fini) struct page page = {0};
    char digest[LKS_DIGEST_SIZE];
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w, "'file': '%s', 'verified': %s, 'digest': '%s', 'bytes': %lu, 'checks': [",
                   f->path, LKS_JSON_TRUTH(verified(c)), lks_digest_write(f->sums.whole, digest),
                   f->size);
    for (size_t i = 0; i < c->count; i++)
        lks_json_write(w, "{'check': '%s', 'verdict': '%s', 'text': '%s'}", c->rows[i].what,
                       c->rows[i].verdict, c->rows[i].text);
    lks_json_end(w, ']');
    notes_json(w, &f->package);
    enum lks_code code = lks_output_show(cli, args, &o, show_checks, err);
    if (code != LKS_OK || lks_args_has(args, "--json"))
        return code;
    page_init(&page);
    show_nested(cli, &page, f);
    show_notes(cli, &f->package);
    fprintf(cli->out, "%s\n%s: %s\n", digest, f->path, conclusion(c));
    return LKS_OK;
}

enum lks_code lks_cmd_pldm_verify(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_file_fini) struct lks_pldm_file f = {0};
    struct checks checks = {0};
    struct lks_pin pin = {0};
    const char *key = lks_args_get(args, "--key");
    if (key != NULL && lks_trustdir_key(key, &pin, err) != LKS_OK)
        return err->code;
    if (key != NULL && pin.kind != LKS_PIN_P384)
        return lks_fail(err, LKS_E_INVALID,
                        "%.200s: packages are signed with P-384 keys, and this is a %s one", key,
                        lks_pin_kind_words[pin.kind]);
    if (lks_pldm_file_load(args->positional[0], &f, err) != LKS_OK)
        return err->code;
    add_check(&checks, "header", "good", "its checksum is right");
    check_payload(&checks, &f);
    check_standard(&checks, &f, lks_args_has(args, "--strict"));
    check_signature(&checks, &f, key != NULL ? &pin : NULL);
    cli->no = !verified(&checks);
    return print_verdict(cli, args, &f, &checks, err);
}
