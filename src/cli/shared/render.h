/*
 * Text for people from a document: an answer of lockstepd, or the object that a command prints with
 * --json. The output is written as a form: the text, with members in braces:
 *
 *     {state}           the member, as people read it; lists and maps joined by commas
 *     {members.done}    a member of a member, of the first item if it is a list; {^wave} is a
 *                       member of the object that contains the list
 *     {.}               an item that is not a map
 *     {@}               the index of the item in its list, from 0
 *     {1} {--pool}      an argument or an option of the command
 *     {nodes#node}      a count with its unit: "1 node", "3 nodes"; 0 if it is missing
 *     {nodes#}          the number alone, likewise; {a+b#} is a sum; for a map the sum of
 *                       its members, for a list the number of its items
 *     {soak_ms~}        a span of milliseconds: "15 min"; {started~moved} is the span between two
 *                       times
 *     [ ({reason})]     left out if a member in it is missing, empty, or fails a test
 *     [{by}|{who}|-]    the first alternative that is not left out
 *
 * Tests print nothing: {frozen?} holds if the member is true, not empty or above zero, {frozen!}
 * if not, {events:} if it is present; {state=done}, {state!done}; {given<needed} compares numbers.
 * The colour of a cell may test its own text: {.=done}.
 */
#ifndef LKS_CLI_RENDER_H
#define LKS_CLI_RENDER_H

#include "base/buf.h"
#include "base/process/args.h"
#include "base/term/term.h"
#include "codec/format/docs.h"

/* How members are written. */
enum lks_render_mode {
    LKS_RENDER_CLEAN, /* so that no data can drive the terminal */
    LKS_RENDER_RAW,
    LKS_RENDER_URL, /* so that no name can end the part of the path that it is in */
};

/* The document and the arguments that a form refers to; both may be NULL. */
struct lks_render {
    const struct lks_doc *doc;
    const struct lks_args *args;
    enum lks_render_mode mode;
    struct lks_str self; /* {.} */
};

/* Append the text of `form`. */
void lks_render(struct lks_buf *out, const char *form, const struct lks_render *of);

/* Print it; a line end is written in the form. */
void lks_render_print(FILE *out, const char *form, const struct lks_doc *doc);

/* The same in the colour that `colour` names. */
void lks_render_word(FILE *out, const struct lks_term *term, const char *colour, const char *form,
                     const struct lks_doc *doc);

/* The same for each item of the list at `path`, as in lks_listing_part; forms may have options of
 * `args`, which may be NULL. */
void lks_render_each(FILE *out, const char *path, const char *form, const struct lks_doc *doc,
                     const struct lks_args *args);

/* The colour whose name is the text of `form`, such as "bold" or "[{one_way?}red]"; `self` is the
 * text that gets it. */
enum lks_colour lks_render_colour(const char *form, const struct lks_doc *doc, struct lks_str self);

/* The member at a dotted path; NULL where there is none. */
const struct lks_doc *lks_render_find(const struct lks_doc *doc, struct lks_str path);

/* A value as people read it; nothing for null. */
void lks_render_value(struct lks_buf *out, const struct lks_doc *value);

/* The number {path#} prints, and whether {path?} holds. */
uint64_t lks_render_number(const struct lks_doc *map, const char *path);
bool lks_render_truth(const struct lks_doc *map, const char *path);

#endif
