/* fleet import: tables of nodes as they come, and what the manifest says. */
#include "tests/run_cli.h"

#include <stdio.h>
#include <unistd.h>

/* A file with `text`; `path` ends as mkstemp() wants it. */
static void write_file(char *path, const char *text)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && dprintf(fd, "%s", text) >= 0);
    close(fd);
}

/* `option` is one more, with its value. */
static struct lks_run import(const char *table, const char *option, const char *value)
{
    char path[] = "/tmp/lks-import-XXXXXX";
    write_file(path, table);
    struct lks_run run =
        lks_run((const char *const[]){"fleet", "import", "--csv", path, option, value, NULL});
    unlink(path);
    return run;
}

static const struct {
    const char *name, *table, *has;
} good[] = {
    {"nodes of one place fold", "name,pool,class\ngpu1,a,hgx-h200-8\ngpu2,a,hgx-h200-8\n",
     "  - {hosts: \"gpu[1-2]\", pool: \"a\", class: \"hgx-h200-8\"}\n"},
    {"another rack is another entry",
     "name,pool,class,rack\ngpu1,a,hgx-h200-8,r1\ngpu2,a,hgx-h200-8,r2\n",
     "  - {hosts: \"gpu1\", pool: \"a\", class: \"hgx-h200-8\", rack: \"r1\"}\n"},
    {"pools get the posture of their rows", "name,pool,class,posture\nn1,a,hgx-h200-8,batch\n",
     "pools:\n  \"a\": {posture: \"batch\"}\n"},
    {"or of any of them",
     "name,pool,class,posture\nn1,a,hgx-h200-8,\nn2,a,hgx-h200-8,batch\nn3,a,hgx-h200-8,\n",
     "pools:\n  \"a\": {posture: \"batch\"}\n"},
    {"or the default", "name,pool,class\nn1,a,hgx-h200-8\n", "  \"a\": {posture: \"dev\"}\n"},
    {"sites are declared", "name,pool,class,site\nn1,a,hgx-h200-8,oslo\n",
     "sites:\n  \"oslo\": {}\n"},
    {"power zones name their site", "name,pool,class,site,power_zone\nn1,a,hgx-h200-8,oslo,z1\n",
     "power_zones:\n  \"z1\": {site: \"oslo\"}\n"},
    {"a host that stands there twice", "name,pool,class\nn1,a,hgx-h200-8\nn1,a,hgx-h200-8\n",
     "  - {hosts: \"n1\", pool: \"a\", class: \"hgx-h200-8\"}\n"},
    {"values stay text", "name,pool,class,rack\nn1,a,hgx-h200-8,012\n", "rack: \"012\""},
};

static void test_good(void)
{
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        lks_test_case("%s", good[i].name);
        struct lks_run run = import(good[i].table, "--name", "fleet");
        CHECK_INT(run.exit, 0);
        CHECK_HAS(run.out, good[i].has);
        lks_run_fini(&run);
    }
}

static const struct {
    const char *name, *table, *has;
} bad[] = {
    {"no pool column", "name,class\nn1,c\n", "names no column 'pool'"},
    {"a slip in a column", "name,poool,class\nn1,a,c\n",
     "line 1 names no column 'pool', which each node needs; rename the column 'poool' if that is"},
    {"a slip in a column that may be left out", "name,pool,class,rak\nn1,a,c,r\n",
     "line 1: a fleet has no column 'rak'; did you mean 'rack'?"},
    {"a column we do not know", "name,pool,class,colour\nn1,a,hgx-h200-8,red\n", "column 'colour'"},
    {"no name", "name,pool,class\n,a,c\n", "line 2: name, pool and class may not be empty"},
    {"not a host's name", "name,pool,class\nn 1,a,hgx-h200-8\n",
     "line 2: 'n 1' is not a host name"},
    {"one host in two places",
     "name,pool,class\nn1,a,hgx-h200-8\nn2,a,hgx-h200-8\nn1,b,hgx-h200-8\n",
     "line 4: 'n1' is elsewhere in line 2"},
    {"an unknown class", "name,pool,class\nn1,a,abacus\n", "no hardware class 'abacus'"},
    {"an unknown posture", "name,pool,class,posture\nn1,a,hgx-h200-8,proud\n", "'proud'"},
    {"two postures of a pool",
     "name,pool,class,posture\nn1,a,hgx-h200-8,dev\nn2,a,hgx-h200-8,batch\n",
     "pool 'a' has another posture in line"},
    {"a line break in a name", "name,pool,class\nn1,\"a\nb\",hgx-h200-8\n", "line 2: pool"},
    {"a zone without a site", "name,pool,class,power_zone\nn1,a,hgx-h200-8,z\n", "power_zones.z"},
    {"nothing", "name,pool,class\n", "has no nodes"},
    {"a row that is too short", "name,pool,class\nn1,a\n", "line 2"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("%s", bad[i].name);
        struct lks_run run = import(bad[i].table, "--name", "fleet");
        CHECK_INT(run.exit, 3);
        CHECK_HAS(run.err, bad[i].has);
        CHECK_STR(run.out, "");
        lks_run_fini(&run);
    }
}

static const struct {
    const char *name, *table, *option, *value, *has;
} warned[] = {
    {"a pool without a posture", "name,pool,class\nn1,a,hgx-h200-8\nn2,a,hgx-h200-8\n", "--name",
     "fleet", "1 pool without a posture, the first is 'a': written as dev"},
    {"two beside one that has it",
     "name,pool,class,posture\nn1,c,hgx-h200-8,\nn2,b,hgx-h200-8,\nn3,a,hgx-h200-8,batch\n",
     "--name", "fleet", "2 pools without a posture, the first is 'b'"},
    {"no pool without one", "name,pool,class,posture\nn1,a,hgx-h200-8,batch\n", "--name", "fleet",
     ""},
    {"dev as it was asked for", "name,pool,class\nn1,a,hgx-h200-8\n", "--posture", "dev", ""},
};

/* A fleet that is dev by omission has lost its protections: the manifest is written, with a word.
 */
static void test_warned(void)
{
    for (size_t i = 0; i < LKS_COUNT(warned); i++) {
        lks_test_case("%s", warned[i].name);
        struct lks_run run = import(warned[i].table, warned[i].option, warned[i].value);
        CHECK_INT(run.exit, 0);
        CHECK_HAS(run.err, warned[i].has);
        CHECK(warned[i].has[0] != '\0' || run.err.len == 0);
        lks_run_fini(&run);
    }
}

static void test_name(void)
{
    struct lks_run run = import("name,pool,class\nn1,a,hgx-h200-8\n", "--name", "a b");
    CHECK_INT(run.exit, 3);
    CHECK_HAS(run.err, "'a b' is not a name");
    lks_run_fini(&run);
}

static void test_classes(void)
{
    char path[] = "/tmp/lks-class-XXXXXX";
    write_file(path, "lockstep: 1\nkind: HardwareClass\nname: ours\nvendor: nvidia\n"
                     "gpu: {product: L40S, count: 4}\n");
    struct lks_run run = import("name,pool,class\nn1,a,ours\n", "--class", path);
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, "class: \"ours\"");
    lks_run_fini(&run);
    unlink(path);
}

static const struct lks_test tests[] = {
    {"what the manifest says", test_good},       {"refused", test_bad},
    {"pools that become dev", test_warned},      {"a fleet's name", test_name},
    {"classes of the site's own", test_classes}, {0},
};

int main(void)
{
    return lks_test_main(tests);
}
