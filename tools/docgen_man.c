/* Manual pages: lockstep(1), one for each first word of a command, lockstepd.yaml(5), and the
 * programs of controllers and nodes in section 8. */
#include "agent/helper/about.h"
#include "agent/hooks/about.h"
#include "agent/loop/about.h"
#include "base/file.h"
#include "bridge/view/about.h"
#include "cli/shared/cli.h"
#include "cli/shared/remote.h"
#include "server/base/config.h"
#include "server/start/about.h"
#include "tools/docgen.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAN_MAX = 1 << 20, MAN_PATH = 4096 };

/* Text ---------------------------------------------------------------------------------------- */

/* So that roff prints the text as it is: it reads backslashes, and dots and quotes at the start of
 * a line; a plain minus sign would become a hyphen, which cannot be pasted. */
static void put_text(struct lks_buf *page, struct lks_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool first = page->len == 0 || page->ptr[page->len - 1] == '\n';
        char c = text.ptr[i];
        if (first && (c == '.' || c == '\''))
            lks_buf_addf(page, "\\&");
        if (c == '\\')
            lks_buf_addf(page, "\\e");
        else if (c == '-')
            lks_buf_addf(page, "\\-");
        else if (c == '\'')
            lks_buf_addf(page, "\\(aq");
        else
            lks_buf_addc(page, c);
    }
}

static void put_line(struct lks_buf *page, const char *text)
{
    put_text(page, lks_str_from(text));
    lks_buf_addc(page, '\n');
}

static void put_bold(struct lks_buf *page, struct lks_str text)
{
    lks_buf_addf(page, "\\fB");
    put_text(page, text);
    lks_buf_addf(page, "\\fR");
}

/* Words, with those in capitals, which stand for values, in italics. */
static void put_usage(struct lks_buf *page, const char *usage)
{
    struct lks_str rest = lks_str_from(usage), word;
    while (lks_str_word(&rest, &word)) {
        bool value = strpbrk(word.ptr, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == word.ptr;
        lks_buf_addf(page, " %s", value ? "\\fI" : "\\fB");
        put_text(page, word);
        lks_buf_addf(page, "\\fR");
    }
}

static void put_upper(struct lks_buf *page, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '-')
            lks_buf_addc(page, '\\');
        lks_buf_addc(page, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    }
}

static void put_title(struct lks_buf *page, const char *name, int section)
{
    lks_buf_addf(page, ".\\\" Generated from the tables of the program. Do not edit.\n.TH ");
    put_upper(page, name);
    lks_buf_addf(page, " %d \"\" \"lockstep " LKS_VERSION "\" \"lockstep\"\n.SH NAME\n", section);
}

static void put_options(struct lks_buf *page, const struct lks_option *o, bool remote)
{
    for (; o != NULL && o->usage != NULL; o++) {
        if (lks_remote_is_option(o) != remote)
            continue;
        lks_buf_addf(page, ".TP\n");
        if (lks_args_short(o).len > 0) {
            put_bold(page, lks_args_short(o));
            lks_buf_addf(page, ", ");
        }
        put_bold(page, lks_args_name(o));
        if (lks_args_value(o) != NULL) {
            lks_buf_addf(page, " \\fI");
            put_text(page, lks_str_from(lks_args_value(o)));
            lks_buf_addf(page, "\\fR");
        }
        lks_buf_addc(page, '\n');
        put_line(page, o->about);
    }
}

/* Commands ------------------------------------------------------------------------------------ */

static struct lks_str first_word(const struct lks_command *command)
{
    struct lks_str head, rest;
    lks_str_cut(lks_str_from(command->name), ' ', &head, &rest);
    return head;
}

static bool is_first(const struct lks_command *command)
{
    for (const struct lks_command *c = lks_commands; c < command; c++) {
        if (lks_str_eq(first_word(c), first_word(command)))
            return false;
    }
    return true;
}

static const struct lks_command *next_of(const struct lks_command *at, struct lks_str word)
{
    for (; at < lks_commands + lks_command_count; at++) {
        if (lks_str_eq(first_word(at), word))
            return at;
    }
    return NULL;
}

/* A paragraph; the first one of a section has begun with it. */
static void put_paragraph(struct lks_buf *page)
{
    const char *line = memrchr(page->ptr, '\n', page->len - 1);
    if (line == NULL || strncmp(line + 1, ".SH ", strlen(".SH ")) != 0)
        lks_buf_addf(page, ".PP\n");
}

static void put_synopsis(struct lks_buf *page, const struct lks_command *c)
{
    put_paragraph(page);
    lks_buf_addf(page, "\\fBlockstep ");
    put_text(page, lks_str_from(c->name));
    lks_buf_addf(page, "\\fR");
    put_usage(page, c->args);
    lks_buf_addf(page, " [\\fIOPTION\\fR...]\n");
}

static void put_command(struct lks_buf *page, const struct lks_command *c)
{
    lks_buf_addf(page, ".SS lockstep ");
    put_line(page, c->name);
    put_text(page, lks_str_from(c->summary));
    lks_buf_addf(page, ".\n");
    if (c->about[0] != '\0')
        put_line(page, c->about);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf columns = LKS_BUF(MAN_MAX);
    lks_cli_columns(c, &columns);
    if (columns.len > 0) {
        lks_buf_addf(page, ".PP\n");
        put_line(page, columns.ptr);
    }
    put_options(page, c->options, false);
}

static void put_examples(struct lks_buf *page, struct lks_str word)
{
    lks_buf_addf(page, ".SH EXAMPLES\n");
    for (const struct lks_command *c = next_of(lks_commands, word); c != NULL;
         c = next_of(c + 1, word)) {
        for (const struct lks_example *e = lks_cli_example(c, NULL); e != NULL;
             e = lks_cli_example(c, e)) {
            put_paragraph(page);
            put_text(page, lks_str_from(e->about));
            lks_buf_addf(page, ":\n.PP\n.RS 4\n.nf\n");
            put_line(page, e->line);
            lks_buf_addf(page, ".fi\n.RE\n");
        }
    }
}

static void put_exits(struct lks_buf *page)
{
    lks_buf_addf(page, ".SH EXIT STATUS\n0 yes or done, 1 no, 2 usage, 3 bad input, 4 cannot "
                       "reach, 5 not permitted, 6 internal, or a local file could not be read "
                       "or written.\n");
}

/* The options with which commands of the page ask lockstepd, if one does. */
static void put_remote(struct lks_buf *page, struct lks_str word)
{
    for (const struct lks_command *c = next_of(lks_commands, word); c != NULL;
         c = next_of(c + 1, word)) {
        for (const struct lks_option *o = c->options; o != NULL && o->usage != NULL; o++) {
            if (lks_remote_is_option(o)) {
                put_options(page, c->options, true);
                return;
            }
        }
    }
}

static void put_commands_page(struct lks_buf *page, struct lks_str word)
{
    const struct lks_command *first = next_of(lks_commands, word);
    bool single = lks_str_is(word, first->name);
    char name[128];
    snprintf(name, sizeof(name), "lockstep-%" LKS_STR_FMT, LKS_STR_ARG(word));
    put_title(page, name, 1);
    put_text(page, lks_str_from(name));
    lks_buf_addf(page, " \\- ");
    if (single)
        put_line(page, first->summary);
    else
        lks_buf_addf(page, "commands of \\(aqlockstep %" LKS_STR_FMT "\\(aq\n", LKS_STR_ARG(word));
    lks_buf_addf(page, ".SH SYNOPSIS\n");
    for (const struct lks_command *c = next_of(lks_commands, word); c != NULL;
         c = next_of(c + 1, word))
        put_synopsis(page, c);
    lks_buf_addf(page, ".SH DESCRIPTION\n");
    for (const struct lks_command *c = next_of(lks_commands, word); c != NULL;
         c = next_of(c + 1, word))
        put_command(page, c);
    lks_buf_addf(page, ".SH OPTIONS OF EVERY COMMAND\n");
    put_remote(page, word);
    put_options(page, lks_common_options, false);
    put_examples(page, word);
    put_exits(page);
    lks_buf_addf(page, ".SH SEE ALSO\n.BR lockstep (1)\n");
}

/* lockstep(1) --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *about;
} variables[] = {
    {"LOCKSTEP_SERVER", "address of lockstepd: https://HOST:PORT or unix:PATH; the current context "
                        "is not used then, and LOCKSTEP_CONTEXT must not be set (exit status 2)"},
    {"LOCKSTEP_CA", "file with the CA certificate of the server; not used with a context"},
    {"LOCKSTEP_TOKEN_FILE", "file with an API token; not used with a context"},
    {"LOCKSTEP_CONTEXT", "context to use instead of the current one; LOCKSTEP_SERVER must not be "
                         "set (exit status 2)"},
    {"LOCKSTEP_PAGER", "command that shows output that is longer than the terminal; else PAGER, "
                       "else less -FRX. Empty or cat: no pager"},
    {"LOCKSTEP_DATA", "folder with tables of facts that replace the built-in ones"},
    {"XDG_CONFIG_HOME", "folder of contexts, in lockstep below it; else ~/.config"},
    {"XDG_STATE_HOME", "folder of trusted keys, in lockstep below it; else ~/.local/state"},
    {"XDG_CACHE_HOME", "folder of names for completion, in lockstep below it; else ~/.cache"},
    {"TZ", "time zone of times that are written without one"},
};

static void put_program_page(struct lks_buf *page)
{
    put_title(page, "lockstep", 1);
    lks_buf_addf(page, "lockstep \\- keep the nodes of a GPU fleet on a known software and "
                       "firmware stack\n.SH SYNOPSIS\n\\fBlockstep\\fR \\fICOMMAND\\fR "
                       "[\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n.SH DESCRIPTION\n");
    for (size_t g = 0; g < lks_command_group_count; g++) {
        lks_buf_addf(page, ".SS ");
        put_line(page, lks_command_groups[g].title);
        for (const struct lks_command *c = lks_commands; c < lks_commands + lks_command_count;
             c++) {
            if ((size_t)c->group != g)
                continue;
            lks_buf_addf(page, ".TP\n");
            put_bold(page, lks_str_from(c->name));
            lks_buf_addc(page, '\n');
            put_line(page, c->summary);
        }
    }
    lks_buf_addf(page, ".SH OPTIONS\n");
    put_options(page, lks_common_options, false);
    lks_buf_addf(page, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < LKS_COUNT(variables); i++) {
        lks_buf_addf(page, ".TP\n");
        put_bold(page, lks_str_from(variables[i].name));
        lks_buf_addc(page, '\n');
        put_line(page, variables[i].about);
    }
    put_exits(page);
    lks_buf_addf(page, ".SH SEE ALSO\n");
    for (const struct lks_command *c = lks_commands; c < lks_commands + lks_command_count; c++) {
        if (!is_first(c))
            continue;
        lks_buf_addf(page, ".BR lockstep\\-%" LKS_STR_FMT " (1),\n", LKS_STR_ARG(first_word(c)));
    }
    lks_buf_addf(page, ".BR lockstepd.yaml (5),\n.BR lockstepd (8),\n.BR lockstep\\-agent (8)\n");
}

/* lockstepd.yaml(5) --------------------------------------------------------------------------- */

static void put_config_page(struct lks_buf *page)
{
    put_title(page, "lockstepd.yaml", 5);
    lks_buf_addf(page, "lockstepd.yaml \\- configuration of lockstepd\n.SH DESCRIPTION\nA key such "
                       "as http.idle_ms is written as idle_ms inside the map http.\n"
                       "\\fBlockstepd \\-\\-dump\\-config\\fR prints every value in effect. Keys "
                       "with \"reload\" follow SIGHUP; the others need a restart.\n.SH KEYS\n");
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const struct lks_config_key *k = &lks_config_keys[i];
        lks_buf_addf(page, ".TP\n");
        put_bold(page, lks_str_from(k->key));
        lks_buf_addf(page, " (");
        put_text(page, lks_str_from(k->fallback == NULL      ? "required"
                                    : k->fallback[0] == '\0' ? "default: none"
                                                             : k->fallback));
        lks_buf_addf(page, "%s)\n", k->reloadable ? "; reload" : "");
        put_text(page, lks_str_from(k->about));
        for (size_t w = 0; k->words != NULL && k->words[w] != NULL; w++) {
            lks_buf_addf(page, w > 0 ? ", " : ": ");
            put_text(page, lks_str_from(k->words[w]));
        }
        lks_buf_addc(page, '\n');
    }
    lks_buf_addf(page, ".SH SEE ALSO\n.BR lockstepd (8), lockstep (1)\n");
}

/* Programs of controllers and nodes ----------------------------------------------------------- */

static void put_rows(struct lks_buf *page, const char *title, const struct lks_manual_row *rows)
{
    if (rows == NULL)
        return;
    lks_buf_addf(page, ".SH %s\n", title);
    for (; rows->name != NULL; rows++) {
        lks_buf_addf(page, ".TP\n");
        put_bold(page, lks_str_from(rows->name));
        lks_buf_addc(page, '\n');
        put_line(page, rows->about);
    }
}

static void put_daemon_page(struct lks_buf *page, const struct lks_manual *program)
{
    put_title(page, program->name, 8);
    put_text(page, lks_str_from(program->name));
    lks_buf_addf(page, " \\- ");
    put_line(page, program->summary);
    lks_buf_addf(page, ".SH SYNOPSIS\n");
    for (size_t i = 0; i < LKS_MANUAL_USAGES && program->usages[i] != NULL; i++) {
        put_paragraph(page);
        put_bold(page, lks_str_from(program->name));
        put_usage(page, program->usages[i]);
        lks_buf_addc(page, '\n');
    }
    lks_buf_addf(page, ".SH DESCRIPTION\n");
    put_line(page, program->about);
    for (size_t i = 0; i < LKS_MANUAL_PARTS && program->parts[i].title != NULL; i++) {
        lks_buf_addf(page, ".SH \"");
        put_upper(page, program->parts[i].title);
        lks_buf_addf(page, "\"\n");
        put_options(page, program->parts[i].options, false);
    }
    put_rows(page, "FILES", program->files);
    put_rows(page, "SIGNALS", program->signals);
    put_rows(page, "EXIT STATUS", lks_manual_exits);
    lks_buf_addf(page, ".SH SEE ALSO\n");
    put_line(page, program->see);
}

/* Files --------------------------------------------------------------------------------------- */

static bool write_page(const char *dir, const char *name, int section, struct lks_buf *page)
{
    char path[MAN_PATH];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/man%d", dir, section);
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        fprintf(stderr, "docgen: %s: %s\n", path, strerror(errno));
        return false;
    }
    snprintf(path, sizeof(path), "%s/man%d/%s.%d", dir, section, name, section);
    bool good = lks_buf_check(page, &err) == LKS_OK &&
                lks_file_replace_as(path, 0644, lks_buf_view(page), &err) == LKS_OK;
    if (!good)
        fprintf(stderr, "docgen: %s: %s\n", path, err.msg);
    lks_buf_truncate(page, 0);
    return good;
}

bool lks_docgen_man(const char *dir)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf page = LKS_BUF(MAN_MAX);
    put_program_page(&page);
    bool good = write_page(dir, "lockstep", 1, &page);
    for (const struct lks_command *c = lks_commands; c < lks_commands + lks_command_count; c++) {
        char name[128];
        if (!is_first(c))
            continue;
        snprintf(name, sizeof(name), "lockstep-%" LKS_STR_FMT, LKS_STR_ARG(first_word(c)));
        put_commands_page(&page, first_word(c));
        good = write_page(dir, name, 1, &page) && good;
    }
    const struct lks_manual *const programs[] = {
        &lks_about_lockstepd, &lks_about_agent,  &lks_about_helper, &lks_about_bridge,
        &lks_about_health,    &lks_about_epilog, &lks_about_prolog};
    for (size_t i = 0; i < LKS_COUNT(programs); i++) {
        put_daemon_page(&page, programs[i]);
        good = write_page(dir, programs[i]->name, 8, &page) && good;
    }
    put_config_page(&page);
    return write_page(dir, "lockstepd.yaml", 5, &page) && good;
}
