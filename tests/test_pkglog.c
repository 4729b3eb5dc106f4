#include "codec/package/pkglog.h"

#include "base/buf.h"
#include "tests/test.h"

enum { SHOWN_MAX = 1 << 20 };

#define AT  "2026-11-15 03:12:09 "
#define DNF "2026-11-15T03:12:09+0000 SUBDEBUG "

/* Append "name TEXT;" for each change, and "name replaced OLD;" for what only says that. */
static void show(enum lks_pkglog_format format, struct lks_str text, struct lks_buf *out)
{
    struct lks_pkglog_change c;
    char told[LKS_PKGLOG_TEXT_SIZE];
    while (lks_pkglog_next(format, &text, &c)) {
        lks_pkglog_text(&c, told);
        lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(c.name));
        if (c.replaced)
            lks_buf_addf(out, "replaced %" LKS_STR_FMT ";", LKS_STR_ARG(c.old));
        else
            lks_buf_addf(out, "%s;", told);
    }
}

#define TEN  "1234567890"
#define WORD TEN TEN TEN TEN TEN TEN TEN TEN TEN "123456" /* as long as a word may be */

static const struct {
    const char *name;
    enum lks_pkglog_format format;
    const char *text, *shown;
} texts[] = {
    {"nothing", LKS_PKGLOG_DPKG, "", ""},
    {"an upgrade", LKS_PKGLOG_DPKG, AT "upgrade openmpi-bin:amd64 4.1.6-7ubuntu2 4.1.7-1\n",
     "openmpi-bin " AT "upgrade 4.1.6-7ubuntu2 -> 4.1.7-1;"},
    {"without an end of the line", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2",
     "a " AT "upgrade 1 -> 2;"},
    {"with a carriage return", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2\r\n",
     "a " AT "upgrade 1 -> 2;"},
    {"without an architecture", LKS_PKGLOG_DPKG, AT "upgrade a 1 2\n", "a " AT "upgrade 1 -> 2;"},
    {"an epoch", LKS_PKGLOG_DPKG, AT "upgrade a:amd64 1:1-1 1:2-1\n",
     "a " AT "upgrade 1:1-1 -> 1:2-1;"},
    {"an installation", LKS_PKGLOG_DPKG, AT "install a:amd64 <none> 2-1\n", "a " AT "install 2-1;"},
    {"an installation over what is left of another", LKS_PKGLOG_DPKG,
     AT "install a:amd64 1-1 2-1\n", "a " AT "install 1-1 -> 2-1;"},
    {"a removal", LKS_PKGLOG_DPKG, AT "remove a:amd64 1-1 <none>\n", "a " AT "remove 1-1;"},
    {"several, in their order", LKS_PKGLOG_DPKG,
     AT "install a:all <none> 1\n" AT "upgrade b:all 1 2\n" AT "remove a:all 1 <none>\n",
     "a " AT "install 1;b " AT "upgrade 1 -> 2;a " AT "remove 1;"},
    {"what else dpkg writes", LKS_PKGLOG_DPKG,
     AT "startup archives unpack\n" AT "status half-configured a:amd64 1\n" AT
        "configure a:amd64 1 <none>\n" AT "trigproc man-db:amd64 2 <none>\n" AT
        "purge a:amd64 1 <none>\n" AT "conffile /etc/a keep\n",
     ""},
    {"a line that was cut", LKS_PKGLOG_DPKG,
     "11-15 03:12:09 upgrade a:all 1 2\n" AT "upgrade b:all 1 2\n" AT "upgrade c:all 1",
     "b " AT "upgrade 1 -> 2;"},
    {"more words than there are", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2 3\n", ""},
    {"to nothing", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 <none>\n", ""},
    {"a removal that brings something", LKS_PKGLOG_DPKG, AT "remove a:all 1 2\n", ""},
    {"a date that is none", LKS_PKGLOG_DPKG, "2026-11-1x 03:12:09 upgrade a:all 1 2\n", ""},
    {"a time that is none", LKS_PKGLOG_DPKG, "2026-11-15 03:12 upgrade a:all 1 2\n", ""},
    {"a name that is none", LKS_PKGLOG_DPKG, AT "upgrade :all 1 2\n", ""},
    {"a version that would move the cursor", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2\x1b[A\n", ""},
    {"a version in other letters", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2\xc3\xa9\n", ""},
    {"the longest version", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 " WORD "\n",
     "a " AT "upgrade 1 -> " WORD ";"},
    {"a longer one", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 " WORD "7\n", ""},

    {"dnf: both lines of an upgrade", LKS_PKGLOG_DNF,
     DNF "Upgrade: openmpi-4.1.7-1.el9.x86_64\n" DNF "Upgraded: openmpi-4.1.6-1.el9.x86_64\n",
     "openmpi 2026-11-15 03:12:09+0000 upgrade 4.1.7-1.el9;openmpi replaced 4.1.6-1.el9;"},
    {"dnf: in UTC", LKS_PKGLOG_DNF, "2026-11-15T03:12:09Z SUBDEBUG Installed: a-1-2.noarch\n",
     "a 2026-11-15 03:12:09Z install 1-2;"},
    {"dnf: a name with dashes, an epoch", LKS_PKGLOG_DNF,
     DNF "Upgrade: openssl-libs-1:3.2.2-6.el9.x86_64\n",
     "openssl-libs 2026-11-15 03:12:09+0000 upgrade 1:3.2.2-6.el9;"},
    {"dnf: back, again, away", LKS_PKGLOG_DNF,
     DNF "Downgrade: a-1-1.x86_64\n" DNF "Downgraded: a-2-1.x86_64\n" DNF
         "Reinstall: a-1-1.x86_64\n" DNF "Erase: a-1-1.x86_64\n",
     "a 2026-11-15 03:12:09+0000 downgrade 1-1;a replaced 2-1;"
     "a 2026-11-15 03:12:09+0000 reinstall 1-1;a 2026-11-15 03:12:09+0000 remove 1-1;"},
    {"dnf: what else it writes", LKS_PKGLOG_DNF,
     "2026-11-15T03:12:09+0000 INFO --- logging initialized ---\n" DNF "Cleanup: a-1-1.x86_64\n"
     "2026-11-15T03:12:09+0000 DEBUG Upgrade: a-1-1.x86_64\n",
     ""},
    {"dnf: no package", LKS_PKGLOG_DNF,
     DNF "Upgrade: a\n" DNF "Upgrade: a-1\n" DNF "Upgrade: a-1.x86_64\n" DNF
         "Upgrade: -1-1.x86_64\n" DNF "Upgrade: .\n" DNF "Upgrade: a-1-1\n",
     ""},
    {"the other's log", LKS_PKGLOG_DNF, AT "upgrade a:all 1 2\n", ""},
};

static void test_next(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(SHOWN_MAX);
        lks_test_case("%s", texts[i].name);
        show(texts[i].format, lks_str_from(texts[i].text), &out);
        CHECK_STR(out.len > 0 ? lks_buf_view(&out) : LKS_STR(""), texts[i].shown);
    }
}

static void test_long_line(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(SHOWN_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(SHOWN_MAX);
    lks_buf_add(&text, LKS_STR(AT "upgrade a:all 1"));
    while (text.len < LKS_PKGLOG_LINE_MAX)
        lks_buf_addc(&text, ' ');
    lks_buf_add(&text, LKS_STR("2\n" AT "upgrade b:all 1 2\n"));
    show(LKS_PKGLOG_DPKG, lks_buf_view(&text), &out);
    CHECK_STR(lks_buf_view(&out), "b " AT "upgrade 1 -> 2;");
}

/* The last change of a package. */
static const struct {
    const char *name;
    enum lks_pkglog_format format;
    const char *text, *last;
} changes[] = {
    {"the later of two", LKS_PKGLOG_DPKG, AT "upgrade a:all 1 2\n" AT "upgrade a:all 2 3\n",
     AT "upgrade 2 -> 3"},
    {"what came and what it replaced", LKS_PKGLOG_DNF,
     DNF "Upgrade: a-2-1.x86_64\n" DNF "Upgraded: a-1-1.x86_64\n",
     "2026-11-15 03:12:09+0000 upgrade 1-1 -> 2-1"},
    {"replaced, of an upgrade and a step back", LKS_PKGLOG_DNF,
     DNF "Downgrade: a-1-1.x86_64\n" DNF "Upgraded: a-2-1.x86_64\n",
     "2026-11-15 03:12:09+0000 downgrade 1-1"},
    {"the first of two that were replaced", LKS_PKGLOG_DNF,
     DNF "Upgrade: a-3-1.x86_64\n" DNF "Upgraded: a-2-1.x86_64\n" DNF "Upgraded: a-1-1.x86_64\n",
     "2026-11-15 03:12:09+0000 upgrade 2-1 -> 3-1"},
    {"replaced by what the log no longer has", LKS_PKGLOG_DNF, DNF "Upgraded: a-1-1.x86_64\n", ""},
};

static void test_follow(void)
{
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        struct lks_str rest = lks_str_from(changes[i].text);
        struct lks_pkglog_change last = {0}, next;
        char told[LKS_PKGLOG_TEXT_SIZE] = "";
        lks_test_case("%s", changes[i].name);
        while (lks_pkglog_next(changes[i].format, &rest, &next))
            lks_pkglog_follow(&last, &next);
        if (last.verb != NULL)
            lks_pkglog_text(&last, told);
        CHECK_STR(lks_str_from(told), changes[i].last);
    }
}

static const struct {
    const char *name, *text, *came;
} told[] = {
    {"an upgrade", AT "upgrade 1-1 -> 2-1", "2-1"},
    {"an installation", AT "install 2-1", "2-1"},
    {"a removal", AT "remove 1-1", ""},
    {"nothing", "", ""},
    {"other words", "it was upgraded to 2-1", ""},
    {"no arrow", AT "upgrade 1-1 to 2-1", ""},
    {"more words", AT "upgrade 1-1 -> 2-1 now", ""},
};

static void test_came(void)
{
    for (size_t i = 0; i < LKS_COUNT(told); i++) {
        lks_test_case("%s", told[i].name);
        CHECK_STR(lks_pkglog_came(lks_str_from(told[i].text)), told[i].came);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"pkglog: lines", test_next},
                                                   {"pkglog: a long line", test_long_line},
                                                   {"pkglog: the last change", test_follow},
                                                   {"pkglog: what came", test_came},
                                                   {0}});
}
