/* fleet import: tables of nodes as they come, and what the manifest says. */
#include "tests/run_cli.h"

#include <stdio.h>
#include <unistd.h>

static struct lks_run import(const char *table)
{
    char path[] = "/tmp/lks-import-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && dprintf(fd, "%s", table) >= 0);
    close(fd);
    struct lks_run run = lks_run((const char *const[]){"fleet", "import", "--csv", path, NULL});
    unlink(path);
    return run;
}

static const struct {
    const char *name, *table, *has;
} good[] = {
    {"nodes of one place fold", "name,pool,class\ngpu1,a,h200-8\ngpu2,a,h200-8\n",
     "  - {hosts: \"gpu[1-2]\", pool: \"a\", class: \"h200-8\"}\n"},
    {"another rack is another entry", "name,pool,class,rack\ngpu1,a,h200-8,r1\ngpu2,a,h200-8,r2\n",
     "  - {hosts: \"gpu1\", pool: \"a\", class: \"h200-8\", rack: \"r1\"}\n"},
    {"pools get the posture of their rows", "name,pool,class,posture\nn1,a,c,batch\n",
     "pools:\n  \"a\": {posture: \"batch\"}\n"},
    {"or the default", "name,pool,class\nn1,a,c\n", "  \"a\": {posture: \"dev\"}\n"},
    {"sites are declared", "name,pool,class,site\nn1,a,c,oslo\n", "sites:\n  \"oslo\": {}\n"},
    {"power zones name their site", "name,pool,class,site,power_zone\nn1,a,c,oslo,z1\n",
     "power_zones:\n  \"z1\": {site: \"oslo\"}\n"},
    {"values stay text", "name,pool,class,rack\nn1,a,c,012\n", "rack: \"012\""},
};

static void test_good(void)
{
    for (size_t i = 0; i < LKS_COUNT(good); i++) {
        lks_test_case("%s", good[i].name);
        struct lks_run run = import(good[i].table);
        CHECK_INT(run.exit, 0);
        CHECK_HAS(run.out, good[i].has);
        lks_run_fini(&run);
    }
}

static const struct {
    const char *name, *table, *has;
} bad[] = {
    {"no pool column", "name,class\nn1,c\n", "names no column 'pool'"},
    {"a column we do not know", "name,pool,class,colour\nn1,a,c,red\n", "column 'colour'"},
    {"no name", "name,pool,class\n,a,c\n", "line 2: name, pool and class may not be empty"},
    {"not a host's name", "name,pool,class\nn 1,a,c\n", "n 1"},
    {"nothing", "name,pool,class\n", "has no nodes"},
    {"a row that is too short", "name,pool,class\nn1,a\n", "line 2"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("%s", bad[i].name);
        struct lks_run run = import(bad[i].table);
        CHECK_INT(run.exit, 3);
        CHECK_HAS(run.err, bad[i].has);
        lks_run_fini(&run);
    }
}

static const struct lks_test tests[] = {
    {"what the manifest says", test_good},
    {"refused", test_bad},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
