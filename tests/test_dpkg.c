#include "codec/package/dpkg.h"

#include "base/buf.h"
#include "tests/test.h"

enum { SHOWN_MAX = 1 << 20 };

/* Append "name|version|architecture|want|flag|state;" or "name!fault@line;". */
static void show(void *ctx, const struct lks_dpkg_package *p)
{
    struct lks_buf *out = ctx;
    if (p->fault != NULL) {
        lks_buf_addf(out, "%" LKS_STR_FMT "!%s@%u;", LKS_STR_ARG(p->name), p->fault, p->line);
        return;
    }
    const struct lks_str texts[] = {p->name, p->version, p->architecture, p->want, p->flag};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_buf_addf(out, "%" LKS_STR_FMT "|", LKS_STR_ARG(texts[i]));
    lks_buf_addf(out, "%" LKS_STR_FMT ";", LKS_STR_ARG(p->state));
}

#define NCCL "Package: libnccl2\nStatus: install ok installed\n"
#define OK   "Status: install ok installed\nVersion: 1\n"

static const struct {
    const char *name, *text, *shown;
    bool bare;
} texts[] = {
    {"nothing", "", "", false},
    {"blank lines", "\n\n\n", "", false},
    {"one package", NCCL "Architecture: amd64\nVersion: 2.28.3-1+cuda13.0\n\n",
     "libnccl2|2.28.3-1+cuda13.0|amd64|install|ok|installed;", false},
    {"without a blank line at the end", NCCL "Version: 2\n", "libnccl2|2||install|ok|installed;",
     false},
    {"two", NCCL "Version: 2\n\nPackage: b\n" OK "\n",
     "libnccl2|2||install|ok|installed;b|1||install|ok|installed;", false},
    {"several blank lines between", "\n" NCCL "Version: 2\n\n\n\nPackage: b\n" OK,
     "libnccl2|2||install|ok|installed;b|1||install|ok|installed;", false},
    {"other fields, of many lines",
     "Package: a\nDescription: x\n Version: 9\n .\n more\nDepends: libc6 (>= 2)\n" OK,
     "a|1||install|ok|installed;", false},
    {"case of fields", "PACKAGE: a\nstatus: install ok installed\nVERSION: 1\n",
     "a|1||install|ok|installed;", false},
    {"blanks around", "Package : \t a \nStatus:install ok installed\nVersion:\t1\t\n",
     "a|1||install|ok|installed;", false},
    {"a field that begins like ours", "Package: a\nVersions: 9\nPackage-Type: deb\n" OK,
     "a|1||install|ok|installed;", false},
    {"an empty field", "Package: a\nConffiles:\n /etc/a 0\n" OK, "a|1||install|ok|installed;",
     false},
    {"held", "Package: a\nStatus: hold ok installed\nVersion: 1\n", "a|1||hold|ok|installed;",
     false},
    {"removed", "Package: a\nStatus: deinstall ok config-files\nVersion: 1\n",
     "a|1||deinstall|ok|config-files;", false},
    {"never installed", "Package: a\nStatus: unknown ok not-installed\n",
     "a|||unknown|ok|not-installed;", false},
    {"half", "Package: a\nStatus: install reinstreq half-installed\nVersion: 1\n",
     "a|1||install|reinstreq|half-installed;", false},
    {"no Status, in an image without dpkg", "Package: a\nVersion: 1\n",
     "a|1||install|ok|installed;", true},

    {"no Status", "Package: a\nVersion: 1\n", "a!has no Status@1;", false},
    {"no Package", "\nVersion: 1\nStatus: install ok installed\n", "!has no Package@2;", false},
    {"no Version", "Package: a\nStatus: install ok installed\n", "a!has no Version@1;", false},
    {"a status of two words", "Package: a\nStatus: install ok\nVersion: 1\n",
     "a!its Status is not three words@1;", false},
    {"a status of four words", "Package: a\nStatus: install ok installed too\nVersion: 1\n",
     "a!its Status is not three words@1;", false},
    {"a state dpkg does not know", "Package: a\nStatus: install ok running\nVersion: 1\n",
     "a!its Status is none that dpkg knows@1;", false},
    {"a wish dpkg does not know", "Package: a\nStatus: maybe ok installed\nVersion: 1\n",
     "a!its Status is none that dpkg knows@1;", false},
    {"a flag dpkg does not know", "Package: a\nStatus: install bad installed\nVersion: 1\n",
     "a!its Status is none that dpkg knows@1;", false},
    {"an architecture of two words", "Package: a\nArchitecture: b c\n" OK,
     "a!its Architecture is none@1;", false},
    {"a line without a colon", "Package: a\nnonsense\n" OK, "a!a line has no colon@1;", false},
    {"words without a colon", "Package: a\nthis is nonsense\n" OK, "a!a line has no colon@1;",
     false},
    {"goes on with nothing", " x\nPackage: a\n" OK, "a!starts with a continuation line@1;", false},
    {"a name of two lines", "Package: a\n b\n" OK, "a!a field of one line goes over several@1;",
     false},
    {"a field twice", "Package: a\nVersion: 2\n" OK, "a!a field appears twice@1;", false},
    {"a name with a blank", "Package: a b\n" OK, "a b!its Package is no name@1;", false},
    {"a version with a blank", "Package: a\nStatus: install ok installed\nVersion: 1 2\n",
     "a!its Version is none@1;", false},
    {"cut off in a value", NCCL "Version: 2.28", "!is cut off in the middle of a line@1;", false},
    {"cut off in a name", NCCL "Version: 2\nArch", "!is cut off in the middle of a line@1;", false},
    {"one bad among good", "Package: a\n" OK "\nPackage: b\nx\n\nPackage: c\n" OK,
     "a|1||install|ok|installed;b!a line has no colon@5;c|1||install|ok|installed;", false},
};

/* The same whatever the pieces. */
static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        struct lks_str text = lks_str_from(texts[i].text);
        for (size_t piece = 1; piece <= text.len + 1; piece = piece < 8 ? piece + 1 : 2 * piece) {
            lks_test_case("%s, in pieces of %zu", texts[i].name, piece);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
            struct lks_dpkg d;
            lks_dpkg_init(&d, texts[i].bare, show, &shown);
            for (size_t at = 0; at < text.len; at += piece)
                lks_dpkg_feed(&d, (struct lks_str){text.ptr + at,
                                                   text.len - at < piece ? text.len - at : piece});
            lks_dpkg_end(&d);
            CHECK_STR(lks_buf_view(&shown), texts[i].shown);
        }
    }
}

/* Lines of any length are passed over; a value we keep has a limit. */
static void test_long(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF((size_t)4 << 20);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
    struct lks_dpkg d;
    lks_dpkg_init(&d, false, show, &shown);
    lks_buf_addf(&text, "Package: a\nDescription: ");
    lks_buf_pad(&text, 'x', 2 << 20);
    lks_buf_addf(&text, "\n" OK "\nPackage: b\nStatus: install ok installed\nVersion: ");
    lks_buf_pad(&text, '9', LKS_DPKG_VALUE_MAX);
    lks_buf_addf(&text, "\n\nPackage: c\nStatus: install ok installed\nVersion: ");
    lks_buf_pad(&text, '9', LKS_DPKG_VALUE_MAX + 1);
    lks_buf_addf(&text, "\n\n");
    lks_buf_pad(&text, 'f', 100);
    lks_buf_addf(&text, ": long\nPackage: d\n" OK);
    lks_dpkg_feed(&d, lks_buf_view(&text));
    lks_dpkg_end(&d);
    CHECK_HAS(lks_buf_view(&shown), "a|1||install|ok|installed;b|99999");
    CHECK_HAS(lks_buf_view(&shown), "c!a value is too long@10;d|1||install|ok|installed;");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"dpkg: paragraphs", test_texts}, {"dpkg: long lines", test_long}, {0}});
}
