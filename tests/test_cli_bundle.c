/* bundle and trust as a user has them: on this machine alone, and against the real daemon. */
#include "base/file.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/path.h"
#include "tests/controller.h"
#include "tests/packages.h"
#include "tests/run_cli.h"
#include "trust/signature.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 14, WORD_MAX = 512, LARGE = (9 << 20) + 5, FILE_MAX = 16 << 20 };

static struct ctl controller;

static const char *filled(const char *word, char out[WORD_MAX])
{
    static const char *const marks[] = {"SERVER", "DIR"};
    const char *values[] = {controller.socket, controller.tree.path};
    for (size_t i = 0; i < LKS_COUNT(marks); i++) {
        if (strncmp(word, marks[i], strlen(marks[i])) == 0) {
            snprintf(out, WORD_MAX, "%s%s", values[i], word + strlen(marks[i]));
            return out;
        }
    }
    return word;
}

static struct lks_run run_words(const char *const *words, const char *last)
{
    char storage[WORDS_MAX][WORD_MAX];
    const char *args[WORDS_MAX + 2];
    size_t count = 0;
    for (; words[count] != NULL; count++)
        args[count] = filled(words[count], storage[count]);
    args[count] = last;
    args[count + 1] = NULL;
    return lks_run(args);
}

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define HERE "--state", "DIR/state"
#define AT   "--server", "SERVER"

struct row {
    const char *name;
    const char *args[WORDS_MAX];
    int exit;
    const char *out, *err;
};

static void check_rows(const struct row *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s", table[i].name);
        struct lks_run run = run_words(table[i].args, NULL);
        CHECK_INT(run.exit, table[i].exit);
        CHECK_HAS(run.out, table[i].out);
        CHECK_HAS(run.err, table[i].err);
        if (table[i].err[0] == '\0')
            CHECK(lks_str_find(run.err, LKS_STR("note: ")) < 0);
        lks_run_fini(&run);
    }
}

static void read_whole(const char *name, struct lks_buf *out)
{
    struct lks_err err = {0};
    char path[WORD_MAX];
    lks_buf_fini(out);
    lks_buf_init(out, FILE_MAX);
    CHECK_CODE(lks_file_read(filled(name, path), out, &err), LKS_OK);
}

/* Making ------------------------------------------------------------------------------------ */

#define HEAD   "lockstep: 1\nkind: Bundle\nname: hgx\nversion: '25.02'\nvendor: Example\nfiles:\n"
#define BMC    "  - {file: bmc.bin, component: bmc, version: '1.4.2'}\n"
#define SAMPLE "  - {file: sub/pack.fwpkg, component: erot"

static const struct lks_tree_entry sources[] = {
    {"/in/bmc.bin", LKS_STR_C("the firmware of a BMC")},
    {"/in/empty", LKS_STR_C("")},
    {"/in/a b", LKS_STR_C("x")},
    {"/in/bundle.yaml", LKS_STR_C(HEAD BMC SAMPLE ", image: 1}\n" SAMPLE "-2"
                                                  ", version: '7', one_way: true}\n"
                                                  "  - {file: large.rom, component: bios, version: "
                                                  "'2.0', from: ['>=1.0 <2.0']}\n")},
    {"/in/missing.yaml", LKS_STR_C(HEAD BMC "  - {file: none, component: bios, version: '1'}\n")},
    {"/in/nothing.yaml", LKS_STR_C(HEAD "  - {file: empty, component: bios, version: '1'}\n")},
    {"/in/blank.yaml", LKS_STR_C(HEAD "  - {file: a b, component: bios, version: '1'}\n")},
    {"/in/twice.yaml", LKS_STR_C(HEAD BMC BMC)},
    {"/in/which.yaml", LKS_STR_C(HEAD SAMPLE "}\n")},
    {"/in/right.yaml", LKS_STR_C(HEAD SAMPLE ", version: '2.0'}\n")},
    {"/in/many.yaml",
     LKS_STR_C(HEAD "  - {file: sub/many.fwpkg, component: erot, version: '7'}\n")},
    {"/in/spelled.yaml", LKS_STR_C(HEAD SAMPLE ", version: 'V1.2.3_n04'}\n")},
    {"/in/crossed.yaml", LKS_STR_C(HEAD SAMPLE ", image: 1, version: '2.0'}\n")},
    {"/in/nowhere.yaml", LKS_STR_C(HEAD SAMPLE ", image: 9, version: '2.0'}\n")},
    {"/in/cutoff.yaml", LKS_STR_C(HEAD "  - {file: sub/cut.fwpkg, component: erot}\n")},
    {"/in/cut.yaml", LKS_STR_C(HEAD "  - {file: sub/cut.fwpkg, component: erot, version: '1'}\n")},
    {"/in/noimage.yaml", LKS_STR_C(HEAD SAMPLE ", image: 9}\n")},
    {"/in/unsaid.yaml", LKS_STR_C(HEAD "  - {file: bmc.bin, component: bmc}\n")},
    {"/in/slip.yaml", LKS_STR_C(HEAD "  - {file: bmc.bin, component: bmcs, version: '1'}\n")},
    {"/in/key.yaml", LKS_STR_C(HEAD "  - {file: bmc.bin, component: bmc, digest: x}\n")},
    {"/in/other/bmc.bin", LKS_STR_C("another one")},
    {"/in/same.yaml",
     LKS_STR_C(HEAD BMC "  - {file: other/bmc.bin, component: bios, version: '1'}\n")},
    {"/in/nobody.yaml",
     LKS_STR_C("lockstep: 1\nkind: Bundle\nname: hgx\nversion: '1'\nfiles:\n"
               "  - {file: bmc.bin, component: bmc, version: '1', hardware_classes: [c1, c2], "
               "hardware_revisions: [A01], from: ['1', '>=3']}\n")},
    {"/half.pem.pub", LKS_STR_C("somebody's")},
    {"/in/broken.pem", LKS_STR_C("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")},
};

#define BUILD(file) ARGS("bundle", "build", "DIR/in/" file, "--output", "DIR/no")

static const struct row making[] = {
    {"a key of the site", ARGS("trust", "key", "site", "--output", "DIR/site.pem"), 0,
     "site: made, in ", ""},
    {"never over another", ARGS("trust", "key", "site", "--output", "DIR/site.pem"), 3, "",
     "site.pem: File exists"},
    {"never half of one", ARGS("trust", "key", "site", "--output", "DIR/half.pem"), 3, "",
     "half.pem.pub: File exists"},
    {"a key without a place", ARGS("trust", "key", "site"), 2, "", "--output"},
    {"a key without a name", ARGS("trust", "key", "a/b", "--output", "DIR/x"), 3, "",
     "no name of a key"},
    {"without a place", ARGS("bundle", "build", "DIR/in/bundle.yaml"), 2, "", "--output"},
    {"not signed", ARGS("bundle", "build", "DIR/in", "--output", "DIR/plain"), 0,
     "hgx 25.02 with 4 files",
     "note: sub/pack.fwpkg: devices will have to report version 7, which no image of the package "
     "has: 1 (1.2.3), 2 (2.0)\n"},
    {"a version that the package has",
     ARGS("bundle", "build", "DIR/in/right.yaml", "--output", "DIR/right"), 0, "with 1 file", ""},
    {"a version as a device may write it",
     ARGS("bundle", "build", "DIR/in/spelled.yaml", "--output", "DIR/spelled"), 0, "with 1 file",
     ""},
    {"the version of another image",
     ARGS("bundle", "build", "DIR/in/crossed.yaml", "--output", "DIR/crossed"), 0, "with 1 file",
     "devices will have to report version 2.0, which this image of the package has not: 1 "
     "(1.2.3), "},
    {"an image that is not there, its version said", BUILD("nowhere.yaml"), 3, "",
     "the package has no such image"},
    {"a package of many images",
     ARGS("pldm", "build", "DIR/in/sub/many.yaml", "--output", "DIR/in/sub/many.fwpkg"), 0, "", ""},
    {"a version that none of them has",
     ARGS("bundle", "build", "DIR/in/many.yaml", "--output", "DIR/many"), 0, "with 1 file",
     "report version 7, which no image of the package has: 1 (1.0), 2 (2.0), 3 (3.0), 4 (4.0), 5 "
     "(5.0), 6 (6.0) and 54 more; 'lockstep pldm inspect FILE' lists all\n"},
    {"half a package", ARGS("bundle", "build", "DIR/in/cut.yaml", "--output", "DIR/cut"), 0,
     "with 1 file", "note: sub/cut.fwpkg: not a PLDM package, although it starts as one: "},
    {"half a package that has to say its version", BUILD("cutoff.yaml"), 3, "",
     "cutoff.yaml:7:6: files[1].file: not a PLDM package, although it starts as one: "},
    {"signed by the site",
     ARGS("bundle", "build", "DIR/in/bundle.yaml", "--output", "DIR/ours", "--sign", "DIR/site.pem",
          "--name=hgx-site", "--version=25.02-1"),
     0, "signed for this site with key sha256:", "note: sub/pack.fwpkg: "},
    {"from one that nobody signed",
     ARGS("bundle", "build", "DIR/plain", "--output", "DIR/again", "--sign", "DIR/site.pem"), 0,
     "hgx 25.02 with 4 files", "note: pack.fwpkg: "},
    {"over another", ARGS("bundle", "build", "DIR/in", "--output", "DIR/plain"), 3, "",
     "plain: is there already; --output names a new folder"},
    {"over the root", ARGS("bundle", "build", "DIR/in", "--output", "/"), 3, "",
     "/: is there already"},
    {"no source", BUILD("none.yaml"), 3, "", "none.yaml: No such file"},
    {"no bundle in a folder", ARGS("bundle", "build", "DIR/in/sub", "--output", "DIR/no"), 3, "",
     "no bundle; it would have a bundle.json"},
    {"a file that is missing", BUILD("missing.yaml"), 3, "", "/in/none: No such file"},
    {"an empty file", BUILD("nothing.yaml"), 3, "", "nothing.yaml:7:6: files[1].file: the file is"},
    {"a blank in its name", BUILD("blank.yaml"), 3, "", "'a b' cannot be the name of a file in a"},
    {"two of one name", BUILD("same.yaml"), 3, "",
     "/in/other/bmc.bin: another file has the same name, and a bundle has no folders"},
    {"of a vendor that nobody names",
     ARGS("bundle", "build", "DIR/in/nobody.yaml", "--output", "DIR/nobody", "--sign",
          "DIR/site.pem"),
     0, "signed for this site", ""},
    {"twice", BUILD("twice.yaml"), 3, "", "'bmc.bin' is listed twice for bmc"},
    {"several images", BUILD("which.yaml"), 3, "",
     "the package has several such images; say version, or which image of: 1 (1.2.3), 2 (2.0)"},
    {"no such image", BUILD("noimage.yaml"), 3, "", "the package has no such image"},
    {"no version", BUILD("unsaid.yaml"), 3, "", "say its version: only PLDM packages say theirs"},
    {"no such component", BUILD("slip.yaml"), 3, "", "no component 'bmcs' is known"},
    {"what is not a source's", BUILD("key.yaml"), 3, "", "digest"},
    {"no key",
     ARGS("bundle", "build", "DIR/in", "--output", "DIR/no", "--sign", "DIR/in/broken.pem"), 3, "",
     "broken.pem: signing key: no PEM with a private key"},
};

static void test_making(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct stat st;
    char path[WORD_MAX];
    CHECK(chmod(filled("DIR/in/broken.pem", path), 0600) == 0); /* modes are checked first */
    check_rows(making, LKS_COUNT(making));
    lks_test_case("what was made");
    CHECK(stat(filled("DIR/no", path), &st) != 0); /* what failed left nothing */
    CHECK(stat(filled("DIR/half.pem", path), &st) != 0);
    CHECK(stat(filled("DIR/site.pem", path), &st) == 0 && (st.st_mode & 0777) == 0600);
    read_whole("DIR/nobody/bundle.json", &text);
    CHECK_HAS(lks_buf_view(&text), "\"signed_for\":\"unknown\""); /* it is in what is signed */
    read_whole("DIR/ours/bundle.json", &text);
    CHECK_HAS(lks_buf_view(&text), "\"component\":\"erot\"");
    CHECK_HAS(lks_buf_view(&text), "\"version\":\"1.2.3\""); /* as the package says */
    CHECK_HAS(lks_buf_view(&text), "\"signed_for\":\"Example\"");
    CHECK_HAS(lks_buf_view(&text), "\"name\":\"hgx-site\"");
    read_whole("DIR/ours/bundle.sig", &text);
    CHECK_HAS(lks_buf_view(&text), "\"site\":true");
    read_whole("DIR/plain/bundle.json", &text);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("signed_for")) < 0);
}

/* The shipped example, beside files that pass for a vendor's. */
static void test_example(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    static const struct row rows[] = {
        {"built", ARGS("bundle", "build", "DIR/example/bundle.yaml", "--output", "DIR/example/out"),
         0, "dgx-h100 2026.11 with 3 files", ""},
        {"its versions", ARGS("bundle", "inspect", "DIR/example/out", HERE), 0,
         "2.0 (irreversible)", ""},
    };
    read_whole("examples/bundle.yaml", &bytes);
    lks_tree_bytes(&controller.tree, "/example/bundle.yaml", lks_buf_view(&bytes));
    read_whole("DIR/in/sub/pack.fwpkg", &bytes);
    lks_tree_bytes(&controller.tree, "/example/baseboard.fwpkg", lks_buf_view(&bytes));
    lks_tree_file(&controller.tree, "/example/bios.rom", "a BIOS");
    check_rows(rows, LKS_COUNT(rows));
}

/* The private half stands in its file and nowhere else. */
static void test_secret(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0};
    read_whole("DIR/site.pem", &key);
    struct lks_str rest = lks_buf_view(&key), line;
    (void)lks_str_cut(rest, '\n', &line, &rest);
    (void)lks_str_cut(rest, '\n', &line, &rest); /* its base64 */
    CHECK(line.len > 40);
    static const char *const commands[][6] = {
        {"bundle", "inspect", "DIR/ours", "--json", NULL},
        {"bundle", "build", "DIR/in", "--output", "DIR/site.pem", NULL},
        {"trust", "add", "x", "DIR/site.pem", "--reason=r", NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        const char *words[WORDS_MAX] = {0};
        memcpy(words, commands[i], sizeof(commands[i]));
        lks_test_case("command %zu", i);
        struct lks_run run = run_words(words, "--state=/nonexistent");
        CHECK(lks_str_find(run.out, line) < 0 && lks_str_find(run.err, line) < 0);
        lks_run_fini(&run);
    }
}

/* On this machine --------------------------------------------------------------------------- */

static const struct row local[] = {
    {"nobody is trusted", ARGS("trust", "ls", HERE), 0, " --reason TEXT --state ", ""},
    {"not signed", ARGS("bundle", "verify", "DIR/plain", HERE), 1,
     "missing: it has no signature (bundle.sig); ask its vendor for one, or sign it for your site",
     ""},
    {"nobody to believe", ARGS("bundle", "verify", "DIR/ours", HERE), 1,
     "bad: no key is pinned to check its signature with", ""},
    {"no reason", ARGS("trust", "add", "site", "DIR/site.pem.pub", HERE), 2, "", "--reason"},
    {"no key", ARGS("trust", "add", "site", "DIR/in/bmc.bin", "--reason=ours", HERE), 3, "",
     "bmc.bin: public key: expected"},
    {"a private key", ARGS("trust", "add", "site", "DIR/site.pem", "--reason=ours", HERE), 3, "",
     "this is a private key"},
    {"no name", ARGS("trust", "add", "a/b", "DIR/site.pem.pub", "--reason=ours", HERE), 3, "",
     "no name of a key"},
    {"both places", ARGS("trust", "add", "site", "DIR/site.pem.pub", "--reason=ours", HERE, AT), 2,
     "", "--server does not go with it"},
    {"pinned", ARGS("trust", "add", "site", "DIR/site.pem.pub", "--reason=ours", HERE), 0,
     "site: pinned, in ", ""},
    {"once more", ARGS("trust", "add", "site", "DIR/site.pem.pub", "--reason=ours", HERE), 0,
     "site: pinned, in ", ""},
    {"under another name", ARGS("trust", "add", "us", "DIR/site.pem.pub", "--reason=ours", HERE), 1,
     "", "this key is pinned already, as 'site'"},
    {"another key", ARGS("trust", "add", "site", "DIR/vendor.pem", "--reason=r", HERE), 1, "",
     "'site' is another key already"},
    {"listed", ARGS("trust", "ls", HERE), 0, "site  ed25519  sha256:", ""},
    {"good", ARGS("bundle", "verify", "DIR/ours", HERE), 0, "good: signed by 'site', for this site",
     ""},
    {"each file", ARGS("bundle", "verify", "DIR/ours", HERE), 0,
     "good: bmc.bin is what the manifest names", ""},
    {"good too", ARGS("bundle", "verify", "DIR/again", HERE), 0, "good: signed by 'site'", ""},
    {"by a key that is given", ARGS("bundle", "verify", "DIR/ours", "--key", "DIR/site.pem.pub"), 0,
     "good: signed by 'the key that was given'", ""},
    {"by another", ARGS("bundle", "verify", "DIR/ours", "--key", "DIR/vendor.pem"), 1,
     "bad: its signature by sha256:", ""},
    {"both", ARGS("bundle", "verify", "DIR/ours", "--key", "DIR/vendor.pem", HERE), 2, "",
     "do not go together"},
    {"shown", ARGS("bundle", "inspect", "DIR/ours", HERE), 0, "large.rom", ""},
    {"shown: for what hardware", ARGS("bundle", "inspect", "DIR/nobody", HERE), 0,
     "bmc.bin is only for hardware class c1, c2\nbmc.bin is only for hardware revision A01\n"
     "bmc.bin is only to follow version 1, >=3\n",
     ""},
    {"shown: as JSON", ARGS("bundle", "inspect", "DIR/nobody", "--json", HERE), 0,
     "\"hardware_classes\":[\"c1\",\"c2\"],\"hardware_revisions\":[\"A01\"],\"from\":[\"1\",\">="
     "3\"]",
     ""},
    {"shown without trust", ARGS("bundle", "inspect", "DIR/plain", HERE), 0, "2.0", ""},
    {"no bundle", ARGS("bundle", "inspect", "DIR/in", HERE), 3, "", "no bundle; it would have a"},
    {"by openssl, DER", ARGS("bundle", "verify", "DIR/vendor", "--key", "DIR/vendor.pem"), 0,
     "good: signed by 'the key that was given'", ""},
    {"by openssl, base64", ARGS("bundle", "verify", "DIR/text", "--key", "DIR/vendor.pem"), 0,
     "good: signed by 'the key that was given'", ""},
    {"another manifest", ARGS("bundle", "verify", "DIR/forged", HERE), 1,
     "bad: its signature says it is by 'site', and is not", ""},
    {"another file", ARGS("bundle", "verify", "DIR/swapped", HERE), 1,
     "it is not what the manifest names: its digest is sha256:", ""},
    {"a longer file", ARGS("bundle", "verify", "DIR/longer", HERE), 1, "and the manifest says", ""},
    {"a link to the file", ARGS("bundle", "verify", "DIR/linked", HERE), 1, "bmc.bin: ", ""},
    {"a pipe", ARGS("bundle", "verify", "DIR/piped", HERE), 1, "bmc.bin: not a plain file", ""},
    {"a file less", ARGS("bundle", "verify", "DIR/less", HERE), 1, "missing: ", ""},
    {"removed, why", ARGS("trust", "rm", "site", HERE), 2, "", "--reason"},
    {"removed", ARGS("trust", "rm", "site", "--reason=lost", HERE), 0, "site: removed", ""},
    {"removed again", ARGS("trust", "rm", "site", "--reason=lost", HERE), 3, "",
     "no key 'site' is pinned in "},
    {"no state folder", ARGS("bundle", "verify", "DIR/ours"), 2, "", "say where with --state DIR"},
};

/* A folder that is like `from`, but for one file. */
static void copy_but(const char *from, const char *to, const char *name, const char *content)
{
    static const char *const files[] = {"bundle.json", "bundle.sig", "bmc.bin", "pack.fwpkg",
                                        "large.rom"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        char path[WORD_MAX], target[WORD_MAX];
        bool other = strcmp(files[i], name) == 0;
        if (other && content == NULL)
            continue;
        snprintf(path, sizeof(path), "DIR/%s/%s", from, files[i]);
        if (access(filled(path, target), F_OK) != 0 && !other)
            continue;
        if (!other)
            read_whole(path, &bytes);
        snprintf(path, sizeof(path), "/%s/%s", to, files[i]);
        lks_tree_bytes(&controller.tree, path,
                       other ? lks_str_from(content) : lks_buf_view(&bytes));
    }
}

/* A signature of plain's manifest by a P-384 key, as `openssl dgst -sha384 -sign` leaves it, in two
 * forms; and the public half. */
static void sign_as_vendor(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0};
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384");
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    BIO *bio = BIO_new(BIO_s_mem());
    uint8_t der[LKS_SIGNATURE_BYTES_MAX];
    unsigned char text[sizeof(der) * 2];
    size_t len = sizeof(der);
    char *pem = NULL;
    read_whole("DIR/plain/bundle.json", &manifest);
    LKS_ASSERT(key != NULL && ctx != NULL && bio != NULL && PEM_write_bio_PUBKEY(bio, key) == 1 &&
               EVP_DigestSignInit(ctx, NULL, EVP_sha384(), NULL, key) == 1 &&
               EVP_DigestSign(ctx, der, &len, (const unsigned char *)manifest.ptr, manifest.len) ==
                   1);
    long pem_len = BIO_get_mem_data(bio, &pem);
    lks_tree_bytes(&controller.tree, "/vendor.pem", (struct lks_str){pem, (size_t)pem_len});
    copy_but("plain", "vendor", "", NULL);
    lks_tree_bytes(&controller.tree, "/vendor/bundle.sig", (struct lks_str){(char *)der, len});
    copy_but("plain", "text", "", NULL);
    EVP_EncodeBlock(text, der, (int)len);
    lks_tree_file(&controller.tree, "/text/bundle.sig", (const char *)text);
    BIO_free(bio);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
}

static void test_local(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0}, history = {0};
    char path[WORD_MAX];
    sign_as_vendor();
    read_whole("DIR/ours/bundle.json", &manifest);
    char *version = strstr(manifest.ptr, "25.02-1");
    LKS_ASSERT(version != NULL);
    version[0] = '3';
    copy_but("ours", "forged", "bundle.json", manifest.ptr);
    copy_but("ours", "swapped", "bmc.bin", "the firmware of a BMX");
    copy_but("ours", "longer", "bmc.bin", "the firmware of a BMC!");
    copy_but("ours", "less", "bmc.bin", NULL);
    copy_but("ours", "linked", "bmc.bin", NULL);
    copy_but("ours", "piped", "bmc.bin", NULL);
    CHECK(symlink("../ours/bmc.bin", filled("DIR/linked/bmc.bin", path)) == 0);
    CHECK(mkfifo(filled("DIR/piped/bmc.bin", path), 0600) == 0);
    check_rows(local, LKS_COUNT(local));
    lks_test_case("history");
    read_whole("DIR/state/trust/history", &history);
    CHECK_HAS(lks_buf_view(&history), "\"act\":\"pinned\",\"name\":\"site\"");
    CHECK_HAS(lks_buf_view(&history), "\"reason\":\"lost\"");
}

/* What depends on where one stands is no state folder. */
static void test_state_folder(void)
{
    static const struct {
        const char *state_home, *home;
        enum lks_code code;
        const char *is;
    } folders[] = {
        {NULL, "/home/u", LKS_OK, "/home/u/.local/state/lockstep/trust"},
        {"/state", "relative", LKS_OK, "/state/lockstep/trust"},
        {"relative", "/home/u", LKS_OK, "/home/u/.local/state/lockstep/trust"},
        {NULL, "relative", LKS_E_USAGE, ""},
        {NULL, "", LKS_E_USAGE, ""},
        {NULL, NULL, LKS_E_USAGE, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(folders); i++) {
        const struct lks_cli cli = {.state_home = folders[i].state_home, .home = folders[i].home};
        struct lks_err err = {0};
        char path[PATH_MAX] = "";
        lks_test_case("%zu", i);
        CHECK_CODE(lks_path_state(&cli, "trust", path, &err), folders[i].code);
        CHECK_STR(lks_str_from(path), folders[i].is);
    }
}

/* Whom one trusts is nobody else's to say. */
static void test_others_may_write(void)
{
    char path[WORD_MAX];
    static const struct row refused[] = {
        {"a folder that others can write", ARGS("bundle", "verify", "DIR/ours", HERE), 1, "",
         "others can write there"},
        {"in a folder that others can write", ARGS("bundle", "verify", "DIR/ours", HERE), 1, "",
         "/state: others can write there"},
        {"a key that others can read",
         ARGS("bundle", "build", "DIR/plain", "--output", "DIR/open", "--sign", "DIR/site.pem"), 5,
         "", "site.pem: others may read this key (mode 644)"},
    };
    CHECK(chmod(filled("DIR/state/trust", path), 0777) == 0);
    check_rows(refused, 1);
    CHECK(chmod(filled("DIR/state/trust", path), 0700) == 0);
    CHECK(chmod(filled("DIR/state", path), 0777) == 0);
    check_rows(refused + 1, 1);
    CHECK(chmod(filled("DIR/state", path), 01777) == 0);
    lks_test_case("in a folder where nobody can move what is ours");
    struct lks_run run = run_words(refused[0].args, NULL);
    CHECK(lks_str_find(run.err, LKS_STR("others can write")) < 0);
    lks_run_fini(&run);
    CHECK(chmod(filled("DIR/state", path), 0700) == 0);
    CHECK(chmod(filled("DIR/site.pem", path), 0644) == 0);
    check_rows(refused + 2, 1);
    CHECK(chmod(filled("DIR/site.pem", path), 0600) == 0);
    CHECK(access(filled("DIR/open", path), F_OK) != 0);
}

/* At lockstepd ------------------------------------------------------------------------------ */

static const struct row remote[] = {
    {"nothing yet", ARGS("bundle", "ls", AT), 0, "no bundle was found good yet", ""},
    {"nobody yet", ARGS("trust", "ls", AT), 0, "no key is pinned", ""},
    {"not signed", ARGS("bundle", "push", "DIR/plain", AT), 1, "", "it has no signature"},
    {"by nobody it trusts", ARGS("bundle", "push", "DIR/ours", AT), 1, "", "no key is pinned"},
    {"pinned", ARGS("trust", "add", "site", "DIR/site.pem.pub", "--reason=ours", AT), 0,
     "site: pinned at lockstepd", ""},
    {"listed", ARGS("trust", "ls", AT), 0, "ours", ""},
    {"by another", ARGS("bundle", "push", "DIR/vendor", AT), 1, "",
     "is of none of the 1 pinned keys"},
    {"another file", ARGS("bundle", "push", "DIR/swapped", AT), 1, "",
     "it is not what the manifest names"},
    {"good", ARGS("bundle", "push", "DIR/ours", AT), 0, "good, signed by 'site', for this site",
     "uploading"},
    {"once more", ARGS("bundle", "push", "DIR/ours", AT), 0, "good, signed by 'site'", ""},
    {"listed as well", ARGS("bundle", "ls", AT), 0, "hgx-site", ""},
    {"no such bundle", ARGS("bundle", "revoke", "sha256:00", "--reason=r", AT), 3, "", "no bundle"},
    {"removed", ARGS("trust", "rm", "site", "--reason=lost", AT), 0, "stay valid", ""},
    {"nobody left", ARGS("trust", "rm", "site", "--reason=lost", AT), 3, "", "no key 'site'"},
    {"still there", ARGS("bundle", "ls", AT), 0, "hgx-site", ""},
};

/* The bytes in the depot are those of the folder. */
static void check_depot(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = {0};
    struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE], path[256];
    struct lks_client *client = ctl_client(&controller, CTL_UNIX);
    read_whole("DIR/ours/large.rom", &file);
    CHECK_CODE(lks_digest_text(lks_buf_view(&file), digest, &err), LKS_OK);
    snprintf(path, sizeof(path), "/v1/artifacts/%s", digest);
    if (CHECK(client != NULL) &&
        CHECK_CODE(lks_client_exchange(client, "GET", path, NULL, LKS_STR(""), "", &answer, &err),
                   LKS_OK)) {
        CHECK_INT(answer.status, 200);
        CHECK(lks_str_eq(lks_buf_view(&answer.body), lks_buf_view(&file)));
    }
    lks_http_answer_fini(&answer);
    lks_client_free(client);
}

/* Once a bundle is published, Ctrl-C no longer says that it is not. */
static void check_interrupt(void)
{
    char said[256] = "";
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)raise(SIGINT);
        _exit(0);
    }
    close(ends[1]);
    CHECK_INT(read(ends[0], said, sizeof(said) - 1), 0);
    CHECK_STR(lks_str_from(said), "");
    close(ends[0]);
    CHECK(waitpid(pid, NULL, 0) == pid);
}

static void test_remote(void)
{
    check_rows(remote, LKS_COUNT(remote));
    check_interrupt();
    check_depot();
}

/* Each command's JSON has the members that its help names. */
static const struct row json[] = {
    {"trust key", ARGS("trust", "key", "two", "--output", "DIR/two.pem"), 0, "", ""},
    {"trust add", ARGS("trust", "add", "two", "DIR/two.pem.pub", "--reason=r", HERE), 0, "", ""},
    {"trust ls", ARGS("trust", "ls", HERE), 0, "", ""},
    {"bundle build",
     ARGS("bundle", "build", "DIR/in", "--output", "DIR/two", "--sign", "DIR/two.pem"), 0, "", ""},
    {"bundle inspect", ARGS("bundle", "inspect", "DIR/two", HERE), 0, "", ""},
    {"bundle verify", ARGS("bundle", "verify", "DIR/less", HERE), 1, "", ""},
    {"trust rm", ARGS("trust", "rm", "two", "--reason=r", HERE), 0, "", ""},
    {"trust add", ARGS("trust", "add", "two", "DIR/two.pem.pub", "--reason=r", AT), 0, "", ""},
    {"trust ls", ARGS("trust", "ls", AT), 0, "", ""},
    {"bundle push", ARGS("bundle", "push", "DIR/two", AT), 0, "", ""},
    {"bundle ls", ARGS("bundle", "ls", AT), 0, "", ""},
    {"bundle show", ARGS("bundle", "show", "hgx", AT), 0, "", ""},
    {"trust rm", ARGS("trust", "rm", "two", "--reason=r", AT), 0, "", ""},
};

static void check_member(const char *command, struct lks_run *run)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *answer = lks_run_json(run, &docs);
    if (CHECK(answer != NULL && answer->kind == LKS_DOC_MAP))
        lks_run_check_members(command, answer);
    lks_run_fini(run);
}

#define UNHEARD "sha256:0000000000000000000000000000000000000000000000000000000000000000"

/* Where lockstepd is configured, what is revoked there is good nowhere. */
static void check_revoked(const char *digest)
{
    char server[WORD_MAX];
    struct lks_cli cli = {.server = filled("SERVER", server)};
    struct lks_err err = {0};
    CHECK_CODE(lks_bundledir_revoked(&cli, "DIR", digest, false, &err), LKS_E_REFUSED);
    CHECK_STR(lks_str_from(err.msg), "DIR: the bundle is revoked at lockstepd: it bricks");
    CHECK_CODE(lks_bundledir_revoked(&cli, "DIR", UNHEARD, false, &err), LKS_OK);
    CHECK_CODE(lks_bundledir_revoked(&cli, "DIR", UNHEARD, true, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "has no verdict on the bundle");
    cli.server = "unix:/nonexistent/lockstepd.sock";
    CHECK_CODE(lks_bundledir_revoked(&cli, "DIR", digest, false, &err), LKS_E_UNAVAILABLE);
}

static void test_json(void)
{
    for (size_t i = 0; i < LKS_COUNT(json); i++) {
        lks_test_case("%s --json", json[i].name);
        struct lks_run run = run_words(json[i].args, "--json");
        CHECK_INT(run.exit, json[i].exit);
        check_member(json[i].name, &run);
    }
    lks_test_case("bundle revoke --json");
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_run listed = run_words((const char *const[]){"bundle", "ls", AT, NULL}, "--json");
    const struct lks_doc *answer = lks_run_json(&listed, &docs);
    const struct lks_doc *items = lks_doc_member(answer, "items");
    if (CHECK(items != NULL && items->count == 2)) {
        char digest[LKS_DIGEST_SIZE];
        snprintf(digest, sizeof(digest), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_doc_text(items->first, "digest")));
        struct lks_run run = run_words(
            (const char *const[]){"bundle", "revoke", digest, "--reason=it bricks", AT, NULL},
            "--json");
        CHECK_INT(run.exit, 0);
        check_member("bundle revoke", &run);
        check_revoked(digest);
    }
    lks_run_fini(&listed);
    lks_test_case("every command has a row");
    for (size_t i = 0; i < lks_command_count; i++) {
        const char *name = lks_commands[i].name;
        bool ours = strncmp(name, "bundle ", 7) == 0 || strncmp(name, "trust ", 6) == 0;
        bool found = !ours || strcmp(name, "bundle revoke") == 0;
        for (size_t j = 0; j < LKS_COUNT(json); j++)
            found = found || strcmp(json[j].name, name) == 0;
        CHECK(found);
    }
}

/* The sources that are no text: a PLDM package of two images, and something large. */
static void make_sources(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, text = {0};
    lks_buf_init(&bytes, FILE_MAX);
    lks_buf_init(&text, FILE_MAX);
    lks_tree_entries(&controller.tree, sources, LKS_COUNT(sources));
    lks_test_package_sample_file(1, &bytes);
    lks_tree_bytes(&controller.tree, "/in/sub/pack.fwpkg", lks_buf_view(&bytes));
    lks_buf_addf(
        &text,
        "revision: 1\nversion: '1'\nreleased: '2026-11-15'\ndevices:\n"
        "  - {version: '1', descriptors: [{type: pci-vendor, value: '15b3'}]}\ncomponents:\n");
    for (unsigned i = 1; i <= 60; i++)
        lks_buf_addf(&text,
                     "  - {name: c%u, id: %u, version: '%u.0', file: ../bmc.bin, activation: "
                     "[medium-reset]}\n",
                     i, i, i);
    lks_tree_bytes(&controller.tree, "/in/sub/many.yaml", lks_buf_view(&text));
    lks_tree_bytes(&controller.tree, "/in/sub/cut.fwpkg", (struct lks_str){bytes.ptr, 40});
    lks_buf_truncate(&bytes, 0);
    for (size_t i = 0; i < LARGE / 16; i++)
        lks_buf_addf(&bytes, "%015zu\n", i);
    lks_tree_bytes(&controller.tree, "/in/large.rom", lks_buf_view(&bytes));
}

static const struct lks_test tests[] = {
    {"making", test_making},
    {"the example", test_example},
    {"the private half is not shown", test_secret},
    {"on this machine", test_local},
    {"others may write", test_others_may_write},
    {"the state folder", test_state_folder},
    {"at lockstepd", test_remote},
    {"JSON", test_json},
    {NULL, NULL},
};

int main(void)
{
    ctl_init(&controller, "");
    make_sources();
    if (!ctl_start(&controller))
        return 1;
    int result = lks_test_main(tests);
    int ended = ctl_stop(&controller);
    ctl_fini(&controller);
    return result != 0 ? result : ended;
}
