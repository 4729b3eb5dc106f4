/* Any bytes as a log, whose first byte says whose: each change that is read can be written again as
 * a line of that log and reads back the same, and its words are short and say what came. */
#include "base/buf.h"
#include "codec/package/pkglog.h"

#include <stdint.h>
#include <string.h>

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_dpkg(const struct lks_pkglog_change *c, struct lks_buf *out)
{
    static const struct lks_str none = LKS_STR_C("<none>");
    struct lks_str old = c->old.len > 0 ? c->old : none, new = c->new.len > 0 ? c->new : none;
    lks_buf_addf(out, "%" LKS_STR_FMT " %" LKS_STR_FMT " %s %" LKS_STR_FMT ":all",
                 LKS_STR_ARG(c->date), LKS_STR_ARG(c->clock), c->verb, LKS_STR_ARG(c->name));
    lks_buf_addf(out, " %" LKS_STR_FMT " %" LKS_STR_FMT "\n", LKS_STR_ARG(old), LKS_STR_ARG(new));
}

static void write_dnf(const struct lks_pkglog_change *c, struct lks_buf *out)
{
    static const char *const words[][3] = {{"install", "Installed:", ""},
                                           {"upgrade", "Upgrade:", "Upgraded:"},
                                           {"downgrade", "Downgrade:", "Downgraded:"},
                                           {"reinstall", "Reinstall:", ""},
                                           {"remove", "Erase:", ""}};
    size_t i = 0;
    while (strcmp(words[i][0], c->verb) != 0)
        LKS_ASSERT(++i < LKS_COUNT(words));
    struct lks_str version = c->new.len > 0 ? c->new : c->old;
    lks_buf_addf(out, "%" LKS_STR_FMT "T%" LKS_STR_FMT " SUBDEBUG %s ", LKS_STR_ARG(c->date),
                 LKS_STR_ARG(c->clock), words[i][1 + c->replaced]);
    lks_buf_addf(out, "%" LKS_STR_FMT "-%" LKS_STR_FMT ".noarch\n", LKS_STR_ARG(c->name),
                 LKS_STR_ARG(version));
}

static void rewrite(enum lks_pkglog_format format, struct lks_str text, struct lks_buf *out)
{
    struct lks_pkglog_change c;
    char told[LKS_PKGLOG_TEXT_SIZE];
    lks_buf_init(out, MEMORY_MAX);
    while (lks_pkglog_next(format, &text, &c)) {
        lks_pkglog_text(&c, told);
        LKS_ASSERT(strlen(told) < LKS_PKGLOG_TEXT_SIZE - 1);
        LKS_ASSERT(lks_str_printable(lks_str_from(told)));
        LKS_ASSERT(c.replaced || lks_str_eq(lks_pkglog_came(lks_str_from(told)), c.new));
        (format == LKS_PKGLOG_DPKG ? write_dpkg : write_dnf)(&c, out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = {0};
    if (size == 0)
        return 0;
    enum lks_pkglog_format format = data[0] == 'd' ? LKS_PKGLOG_DPKG : LKS_PKGLOG_DNF;
    rewrite(format, (struct lks_str){(const char *)data + 1, size - 1}, &once);
    rewrite(format, lks_buf_view(&once), &again);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&again)));
    return 0;
}
