#include "cli/shared/output.h"

#include "cli/shared/render.h"

#include <errno.h>

enum lks_code lks_output_bytes(struct lks_cli *cli, struct lks_str bytes, struct lks_err *err)
{
    size_t done = 0;
    errno = 0;
    for (size_t at = 0; cli->term.tty && at < bytes.len;) {
        uint32_t point = 0;
        size_t len = lks_str_rune(bytes, at, &point);
        bool stays = point == '\n' || point == '\t' || (len > 0 && lks_str_rune_printable(point));
        if (!stays) {
            fwrite(bytes.ptr + done, 1, at - done, cli->out);
            fputc('?', cli->out);
            done = at + (len > 0 ? len : 1);
        }
        at += len > 0 ? len : 1;
    }
    if (fwrite(bytes.ptr + done, 1, bytes.len - done, cli->out) != bytes.len - done)
        return lks_fail(err, LKS_E_IO, "cannot write the answer: %s", strerror(errno));
    return LKS_OK;
}

/* A write that failed before is not reported by fclose(). */
enum lks_code lks_output_close(FILE *stream, struct lks_err *err)
{
    bool lost = ferror(stream) != 0;
    lost |= fclose(stream) != 0;
    return lost ? lks_fail(err, LKS_E_IO, "part of the answer is lost: no memory is left") : LKS_OK;
}

enum lks_code lks_output_json(struct lks_cli *cli, struct lks_buf *json, struct lks_err *err)
{
    lks_buf_addc(json, '\n');
    if (lks_buf_check(json, err) != LKS_OK)
        return err->code;
    struct lks_str view = lks_buf_view(json);
    fwrite(view.ptr, 1, view.len, cli->out);
    return LKS_OK;
}

struct lks_json_writer *lks_output_begin(struct lks_output *o)
{
    lks_buf_init(&o->json, LKS_OUTPUT_BYTES_MAX);
    o->w = (struct lks_json_writer){.out = &o->json};
    lks_json_begin(&o->w, NULL, '{');
    return &o->w;
}

enum lks_code lks_output_end(struct lks_cli *cli, struct lks_output *o, struct lks_err *err)
{
    lks_json_end(&o->w, '}');
    return lks_output_json(cli, &o->json, err);
}

void lks_output_fini(struct lks_output *o)
{
    lks_buf_fini(&o->json);
    lks_docs_fini(&o->docs);
}

enum lks_code lks_output_read(struct lks_output *o, struct lks_err *err)
{
    lks_json_end(&o->w, '}');
    if (lks_buf_check(&o->json, err) != LKS_OK || lks_docs_init(&o->docs, "output", err) != LKS_OK)
        return err->code;
    return lks_json_parse(lks_buf_view(&o->json), &o->docs, err);
}

enum lks_code lks_output_show(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_output *o, lks_output_view *view, struct lks_err *err)
{
    if (lks_args_has(args, "--json"))
        return lks_output_end(cli, o, err);
    return lks_output_read(o, err) == LKS_OK ? view(cli, args, o->docs.first, err) : err->code;
}

enum lks_code lks_output_form(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_output *o, const char *form, struct lks_err *err)
{
    if (lks_args_has(args, "--json"))
        return lks_output_end(cli, o, err);
    if (lks_output_read(o, err) != LKS_OK)
        return err->code;
    lks_render_print(cli->out, form, o->docs.first);
    return LKS_OK;
}

void lks_output_columns(struct lks_table *t, const struct lks_output_column *columns, size_t count)
{
    lks_table_init(t, LKS_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < count; i++)
        lks_table_column(t, columns[i].header, columns[i].flags);
}

enum lks_code lks_output_table(struct lks_cli *cli, const struct lks_table *table,
                               struct lks_err *err)
{
    if (table->first == NULL)
        return LKS_OK;
    return lks_table_print(table, cli->out, &cli->term, err);
}

/* The longest beginning of `s` that ends with a whole character and has at most `max` bytes. */
static struct lks_str beginning(struct lks_str s, size_t max)
{
    enum { CONTINUES_MASK = 0xc0, CONTINUES = 0x80 };
    while (max > 0 && ((unsigned char)s.ptr[max] & CONTINUES_MASK) == CONTINUES)
        max--;
    return (struct lks_str){s.ptr, max};
}

void lks_output_cell(struct lks_table *t, enum lks_colour colour, struct lks_str value)
{
    if (value.len <= LKS_OUTPUT_CELL_MAX) {
        lks_table_cell(t, colour, lks_output_or_dash(value));
        return;
    }
    struct lks_str head = beginning(value, LKS_OUTPUT_CELL_MAX);
    lks_table_cellf(t, colour, "%" LKS_STR_FMT "... (%zu bytes; --json has all)", LKS_STR_ARG(head),
                    value.len);
}

void lks_output_findings(struct lks_json_writer *w, const char *key,
                         const struct lks_report *report)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct lks_finding *f = &report->findings[i];
        lks_json_write(w,
                       "{'rule': '%s', 'severity': '%s', 'subject'?: '%.*s', 'text'?: '%.*s', "
                       "'remedy'?: '%.*s', 'source'?: '%.*s'}",
                       f->rule, lks_report_severity_name(f->severity), LKS_STR_ARG(f->subject),
                       LKS_STR_ARG(f->text), LKS_STR_ARG(f->remedy), LKS_STR_ARG(f->source));
    }
    lks_json_end(w, ']');
}

enum lks_code lks_output_findings_table(struct lks_cli *cli, const struct lks_report *report,
                                        bool sources, struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"severity", 0}, {"rule", 0}, {"about", LKS_COLUMN_WRAP}, {"finding", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    if (sources)
        lks_table_column(&t, "source", LKS_COLUMN_WRAP);
    for (int severity = LKS_ERROR; severity >= LKS_INFO; severity--) {
        for (size_t i = 0; i < report->count; i++) {
            const struct lks_finding *f = &report->findings[i];
            if ((int)f->severity != severity)
                continue;
            lks_table_cell(&t, lks_output_severity(f->severity),
                           lks_str_from(lks_report_severity_name(f->severity)));
            lks_table_cell(&t, LKS_PLAIN, lks_str_from(f->rule));
            lks_table_cell(&t, LKS_PLAIN, f->subject);
            lks_table_cellf(&t, LKS_PLAIN, "%.*s%s%.*s", LKS_STR_ARG(f->text),
                            f->remedy.len > 0 ? " -> " : "", LKS_STR_ARG(f->remedy));
            if (sources)
                lks_table_cell(&t, LKS_DIM, lks_output_or_dash(f->source));
        }
    }
    return lks_output_table(cli, &t, err);
}

void lks_output_findings_aside(struct lks_cli *cli, const char *about,
                               const struct lks_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct lks_finding *f = &report->findings[i];
        fprintf(cli->err, "lockstep: %s%s%s: %s: %.*s: %.*s%s%.*s\n", about != NULL ? about : "",
                about != NULL ? ": " : "", lks_report_severity_name(f->severity), f->rule,
                LKS_STR_ARG(f->subject), LKS_STR_ARG(f->text), f->remedy.len > 0 ? " -> " : "",
                LKS_STR_ARG(f->remedy));
    }
}

enum lks_colour lks_output_severity(enum lks_severity severity)
{
    static const enum lks_colour colours[] = {
        [LKS_INFO] = LKS_DIM, [LKS_WARNING] = LKS_YELLOW, [LKS_ERROR] = LKS_RED};
    return colours[severity];
}

struct lks_str lks_output_or_dash(struct lks_str s)
{
    return s.len > 0 ? s : LKS_STR("-");
}
