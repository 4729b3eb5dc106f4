/* What commands print: tables for people, JSON for programs. */
#ifndef LKS_CLI_OUTPUT_H
#define LKS_CLI_OUTPUT_H

#include "base/term/table.h"
#include "cli/shared/cli.h"
#include "codec/format/json.h"
#include "core/compat/report.h"

/* Far more than the largest manifest can ask for. */
#define LKS_OUTPUT_BYTES_MAX ((size_t)1 << 30)

/* The longest value a table shows whole. */
#define LKS_OUTPUT_CELL_MAX 4096

/* What lockstepd sent, byte for byte. On a terminal, what could drive it is a '?'; line ends and
 * tabs stay. */
enum lks_code lks_output_bytes(struct lks_cli *cli, struct lks_str bytes,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Close a stream that collects or converts the answer: IO where it did not take all of it. */
enum lks_code lks_output_close(FILE *stream, struct lks_err *err) LKS_MUST_CHECK;

/* Print the JSON in `json` and a line end. */
enum lks_code lks_output_json(struct lks_cli *cli, struct lks_buf *json,
                              struct lks_err *err) LKS_MUST_CHECK;

/* An answer for programs: one JSON object. All zero is empty. */
struct lks_output {
    struct lks_buf json;
    struct lks_json_writer w;
    struct lks_docs docs; /* the same, for people */
};

/* Begin the object; its members are written with what is returned. */
struct lks_json_writer *lks_output_begin(struct lks_output *o);

/* End the object and print it. */
enum lks_code lks_output_end(struct lks_cli *cli, struct lks_output *o,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_output_fini(struct lks_output *o);

/* End the object, and read it as a document. */
enum lks_code lks_output_read(struct lks_output *o, struct lks_err *err) LKS_MUST_CHECK;

/* End the object. With --json it is printed; people get what `view`, or a form of render.h, makes
 * of the same object. */
typedef enum lks_code lks_output_view(struct lks_cli *cli, const struct lks_args *args,
                                      const struct lks_doc *doc, struct lks_err *err);
enum lks_code lks_output_show(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_output *o, lks_output_view *view,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_output_form(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_output *o, const char *form,
                              struct lks_err *err) LKS_MUST_CHECK;

/* A table with these columns. */
struct lks_output_column {
    const char *header;
    unsigned flags; /* LKS_COLUMN_* */
};
void lks_output_columns(struct lks_table *t, const struct lks_output_column *columns, size_t count);

/* Print a table, unless it has no rows. */
enum lks_code lks_output_table(struct lks_cli *cli, const struct lks_table *table,
                               struct lks_err *err) LKS_MUST_CHECK;

/* A cell with a value of the user's: a dash for nothing, and of one that no table can hold as much
 * as a person reads. JSON has all of it. */
void lks_output_cell(struct lks_table *t, enum lks_colour colour, struct lks_str value);

/* Findings as a member of the object being written. */
void lks_output_findings(struct lks_json_writer *w, const char *key,
                         const struct lks_report *report);

/* Findings as a table, errors first; nothing where there are none. */
enum lks_code lks_output_findings_table(struct lks_cli *cli, const struct lks_report *report,
                                        bool sources, struct lks_err *err) LKS_MUST_CHECK;

/* Findings as lines of the other stream, for a command whose answer is something else; `about` may
 * be NULL, or is the file. */
void lks_output_findings_aside(struct lks_cli *cli, const char *about,
                               const struct lks_report *report);

enum lks_colour lks_output_severity(enum lks_severity severity);

/* An empty value as something one sees. */
struct lks_str lks_output_or_dash(struct lks_str s);

#endif
