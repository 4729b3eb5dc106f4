#include "cli/output.h"

#include <errno.h>

enum lks_code lks_output_json(struct lks_cli *cli, struct lks_buf *json, struct lks_err *err)
{
    lks_buf_addc(json, '\n');
    if (lks_buf_check(json, err) != LKS_OK)
        return err->code;
    struct lks_str view = lks_buf_view(json);
    fwrite(view.ptr, 1, view.len, cli->out);
    return LKS_OK;
}

enum lks_code lks_output_table(struct lks_cli *cli, const struct lks_table *table,
                               struct lks_err *err)
{
    if (table->first == NULL)
        return LKS_OK;
    return lks_table_print(table, cli->out, &cli->term, err);
}

void lks_output_findings(struct lks_json_writer *w, const char *key,
                         const struct lks_report *report)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct lks_finding *f = &report->findings[i];
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "rule", f->rule);
        lks_json_cstr(w, "severity", lks_severity_name(f->severity));
        lks_json_text(w, "subject", f->subject);
        lks_json_text(w, "text", f->text);
        if (f->remedy.len > 0)
            lks_json_text(w, "remedy", f->remedy);
        if (f->source.len > 0)
            lks_json_text(w, "source", f->source);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
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
