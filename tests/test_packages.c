#include "probe/package/packages_log.h"
#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { SQLITE_BYTES_MAX = 1 << 20 };

#define STATUS "/var/lib/dpkg/status"
#define OK     "Status: install ok installed\n"
#define P(name, status, version)                                                                   \
    "Package: " name "\nStatus: " status "\nArchitecture: amd64\nVersion: " version "\n\n"
#define I(name, version) P(name, "install ok installed", version)

static const struct {
    const char *name, *status, *said;
} dpkgs[] = {
    {"nothing that matters", I("bash", "5.2-1"), ""},
    {"a plain one", I("libnccl2", "2.28.3-1+cuda13.0"),
     "nccl.package=2.28.3 < dpkg libnccl2 2.28.3-1+cuda13.0\n"},
    {"held", P("libnccl2", "hold ok installed", "2.28.3-1+cuda13.0"),
     "nccl.package=2.28.3 < dpkg libnccl2 2.28.3-1+cuda13.0\n"},
    {"removed, its configuration left", P("libnccl2", "deinstall ok config-files", "2.28.3-1"), ""},
    {"an epoch", I("datacenter-gpu-manager-4-core", "1:4.5.3-1"),
     "dcgm.package=4.5.3 < dpkg datacenter-gpu-manager-4-core 1:4.5.3-1\n"},
    {"three numbers of four", I("libcudnn9-cuda-13", "9.14.0.64-1"),
     "cudnn.package=9.14.0 < dpkg libcudnn9-cuda-13 9.14.0.64-1\n"},
    {"the number in the name", I("cuda-compat-13-0", "580.95.05-0ubuntu1"),
     "cuda-compat.package=13.0 < dpkg cuda-compat-13-0 580.95.05-0ubuntu1\n"},
    {"with the revision", I("doca-ofed", "3.2.1-044413"),
     "doca-ofed.package=3.2.1-044413 < dpkg doca-ofed 3.2.1-044413\n"},
    {"a release as a code", I("amdgpu-dkms", "1:6.16.6.30200100-2255209.24.04"),
     "amdgpu.package=30.20.1 < dpkg amdgpu-dkms 1:6.16.6.30200100-2255209.24.04\n"},
    {"a release as an older code", I("amdgpu-dkms", "1:6.2.4.50702-1683306.22.04"),
     "amdgpu.package=5.7.2 < dpkg amdgpu-dkms 1:6.2.4.50702-1683306.22.04\n"},
    {"a code that is none", I("amdgpu-dkms", "6.16.6-1"),
     "amdgpu.package?amdgpu-dkms 6.16.6-1 does not say a version of the component "
     "< dpkg amdgpu-dkms 6.16.6-1\n"},
    {"the driver's packages agree",
     I("nvidia-dkms-580-open", "580.95.05-0ubuntu1")
         I("libnvidia-compute-580", "580.95.05-0ubuntu1"),
     "driver.package=580.95.05 < dpkg nvidia-dkms-580-open 580.95.05-0ubuntu1\n"},
    {"the driver's packages do not agree",
     I("nvidia-dkms-580-open", "580.82.07-1") I("libnvidia-compute-580", "580.95.05-1"),
     "driver.package=580.95.05 < dpkg libnvidia-compute-580 580.95.05-1; "
     "dpkg nvidia-dkms-580-open 580.82.07-1\n"
     "driver.package@package nvidia-dkms-580-open=580.82.07 < dpkg nvidia-dkms-580-open "
     "580.82.07-1\n"},
    {"half configured",
     P("nvidia-dkms-580", "install ok half-configured", "580.95.05-1")
         I("cuda-drivers", "580.82.07-1"),
     "driver.package?nvidia-dkms-580 580.95.05-1 is half-configured < dpkg nvidia-dkms-580 "
     "580.95.05-1; dpkg cuda-drivers 580.82.07-1\n"},
    {"unpacked", P("libnccl2", "install ok unpacked", "2.28.3-1"),
     "nccl.package?libnccl2 2.28.3-1 is unpacked < dpkg libnccl2 2.28.3-1\n"},
    {"triggers pending", P("libnccl2", "install ok triggers-pending", "2.28.3-1"),
     "nccl.package?libnccl2 2.28.3-1 is triggers-pending < dpkg libnccl2 2.28.3-1\n"},
    {"to be installed again", P("libnccl2", "install reinstreq installed", "2.28.3-1"),
     "nccl.package?libnccl2 2.28.3-1 is reinstreq < dpkg libnccl2 2.28.3-1\n"},
    {"not the kernel's config package", I("cuda-toolkit-13-0-config-common", "13.0.96-1"), ""},
    {"the run time alone", I("cuda-cudart-13-0", "13.0.96-1"),
     "cuda.package=13.0 < dpkg cuda-cudart-13-0 13.0.96-1\n"},
    {"the run time beside more",
     I("cuda-cudart-13-0", "13.0.96-1") I("cuda-libraries-13-0", "13.0.2-1"),
     "cuda.package=13.0.2 < dpkg cuda-libraries-13-0 13.0.2-1\n"},
    {"two toolkits", I("cuda-toolkit-12-8", "12.8.1-1") I("cuda-toolkit-13-0", "13.0.2-1"),
     "cuda.package=13.0.2 < dpkg cuda-toolkit-13-0 13.0.2-1; dpkg cuda-toolkit-12-8 12.8.1-1\n"
     "cuda.package@package cuda-toolkit-12-8=12.8.1 < dpkg cuda-toolkit-12-8 12.8.1-1\n"},
    {"a paragraph that is broken", "Package: libnccl2\nnonsense\n" OK "Version: 2.28.3-1\n\n",
     "nccl.package?libnccl2 2.28.3-1 is damaged: a line has no colon < dpkg libnccl2 2.28.3-1\n"},
};

static void test_dpkg(void)
{
    for (size_t i = 0; i < LKS_COUNT(dpkgs); i++) {
        lks_test_case("%s", dpkgs[i].name);
        struct lks_tree tree = lks_tree_new();
        lks_tree_file(&tree, STATUS, dpkgs[i].status);
        CHECK_HEARD_SORTED(lks_probe_packages, &tree, dpkgs[i].said);
        lks_tree_free(&tree);
    }
}

/* Of two toolkits the one the link leads to counts, be it the lower. */
static void test_link(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, STATUS,
                  I("cuda-toolkit-12-8", "12.8.1-1") I("cuda-toolkit-13-0", "13.0.2-1"));
    lks_tree_dir(&tree, "/usr/local/cuda-12.8");
    lks_tree_link(&tree, "/usr/local/cuda", "/etc/alternatives/cuda");
    lks_tree_link(&tree, "/etc/alternatives/cuda", "/usr/local/cuda-12.8");
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "cuda.package=12.8.1 < dpkg cuda-toolkit-12-8 12.8.1-1; dpkg "
                       "cuda-toolkit-13-0 13.0.2-1\n"
                       "cuda.package@package cuda-toolkit-13-0=13.0.2 < dpkg cuda-toolkit-13-0 "
                       "13.0.2-1\n");
    lks_tree_free(&tree);
}

/* dpkg's later word, from files it has not merged yet, replaces its earlier one. */
static void test_updates(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, STATUS, I("libnccl2", "2.28.3-1") I("containerd.io", "1.7.27-1"));
    lks_tree_file(&tree, "/var/lib/dpkg/updates/0000",
                  P("libnccl2", "install ok half-installed", "2.29.2-1"));
    lks_tree_file(&tree, "/var/lib/dpkg/updates/tmp.i", P("containerd.io", "x", "9"));
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "containerd.package=1.7.27 < dpkg containerd.io 1.7.27-1\n"
                       "nccl.package?libnccl2 2.29.2-1 is half-installed < dpkg libnccl2 "
                       "2.29.2-1\n");
    lks_tree_free(&tree);
}

/* Images without dpkg have a file a package, without Status. */
static void test_status_d(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/var/lib/dpkg/status.d/libnccl2",
                  "Package: libnccl2\nVersion: 2.28.3-1+cuda13.0\n");
    lks_tree_file(&tree, "/var/lib/dpkg/status.d/libnccl2.md5sums", "0 usr/lib/x\n");
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "nccl.package=2.28.3 < dpkg libnccl2 2.28.3-1+cuda13.0\n");
    lks_tree_free(&tree);
}

/* What is not there is absent where the database was read, and unmeasured where it was not. */
static void test_absence(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_test_case("no database");
    CHECK_HEARD_LINE(lks_probe_packages, &tree, "nccl.package~ < no package database");
    lks_test_case("not in the database");
    lks_tree_file(&tree, STATUS, I("bash", "5.2-1"));
    CHECK_HEARD_LINE(lks_probe_packages, &tree, "nccl.package~ < " STATUS);
    lks_test_case("a paragraph without a name");
    lks_tree_file(&tree, STATUS, "Status: install ok installed\nVersion: 1\n\n");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?an entry of " STATUS " has no Package < " STATUS);
    lks_test_case("cut off");
    lks_tree_file(&tree, STATUS, I("bash", "5.2-1") "Package: li");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?an entry of " STATUS
                     " is cut off in the middle of a line < " STATUS);
    lks_test_case("a pipe");
    lks_tree_free(&tree);
    tree = lks_tree_new();
    lks_tree_fifo(&tree, STATUS);
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?" STATUS ": not a plain file < " STATUS);
    lks_tree_free(&tree);
}

/* rpm ---------------------------------------------------------------------------------------- */

static void add32(struct lks_buf *b, uint32_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        lks_buf_addc(b, (char)(unsigned char)(n >> shift));
}

struct rpm {
    const char *name, *version, *release;
    uint32_t epoch;
    int filler; /* bytes before the architecture, as a long description would be */
};

static void build_header(struct lks_buf *out, const struct rpm *r)
{
    const char *texts[] = {r->name, r->version, r->release, "x86_64"};
    static const uint32_t tags[] = {1000, 1001, 1002, 1022};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf data = LKS_BUF(SQLITE_BYTES_MAX);
    lks_buf_init(out, SQLITE_BYTES_MAX);
    add32(&data, r->epoch);
    size_t at[4];
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_buf_pad(&data, 'd', i == 3 ? r->filler : 0);
        at[i] = data.len;
        lks_buf_add(&data, (struct lks_str){texts[i], strlen(texts[i]) + 1});
    }
    add32(out, LKS_COUNT(texts) + 1);
    add32(out, (uint32_t)data.len);
    const uint32_t epoch[] = {r->epoch > 0 ? 1003 : 9999, 4, 0, 1};
    for (size_t i = 0; i < LKS_COUNT(epoch); i++)
        add32(out, epoch[i]);
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        const uint32_t entry[] = {tags[i], 6, (uint32_t)at[i], 1};
        for (size_t j = 0; j < LKS_COUNT(entry); j++)
            add32(out, entry[j]);
    }
    lks_buf_add(out, lks_buf_view(&data));
}

static void insert(sqlite3 *db, struct lks_str blob)
{
    sqlite3_stmt *row = NULL;
    CHECK(sqlite3_prepare_v2(db, "INSERT INTO Packages(blob) VALUES(?)", -1, &row, NULL) ==
          SQLITE_OK);
    CHECK(sqlite3_bind_blob(row, 1, blob.ptr, (int)blob.len, SQLITE_STATIC) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_DONE);
    (void)sqlite3_finalize(row);
}

/* A database as rpm makes it, with `damaged` headers that are none. */
static void make_rpmdb(const struct lks_tree *tree, const char *dir, const struct rpm *rpms,
                       size_t count, bool damaged)
{
    char path[256];
    sqlite3 *db = NULL;
    lks_tree_dir(tree, dir);
    snprintf(path, sizeof(path), "%s%s/rpmdb.sqlite", tree->path, dir);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db,
                       "CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY AUTOINCREMENT, "
                       "blob BLOB NOT NULL)",
                       NULL, NULL, NULL) == SQLITE_OK);
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf header = {0};
        build_header(&header, &rpms[i]);
        insert(db, lks_buf_view(&header));
    }
    if (damaged)
        insert(db, LKS_STR("nonsense"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

static const struct rpm rpms[] = {
    {"kmod-nvidia-open-dkms", "580.95.05", "1.el9", 3, 0},
    {"libnccl", "2.28.3", "1+cuda13.0", 0, 40000}, /* what is wanted lies behind the beginning */
    {"doca-ofed", "3.2.1", "044413.el9", 0, 0},
    {"containerd.io", "1.7.28", "1.el9_4", 0, 0},
};

#define RPMDB "/var/lib/rpm/rpmdb.sqlite"
#define OLDDB "/var/lib/rpm/Packages"
#define RPM_SAID                                                                                   \
    "containerd.package=1.7.28 < rpm containerd.io 1.7.28-1.el9_4\n"                               \
    "doca-ofed.package=3.2.1-044413 < rpm doca-ofed 3.2.1-044413.el9\n"                            \
    "driver.package=580.95.05 < rpm kmod-nvidia-open-dkms 3:580.95.05-1.el9\n"                     \
    "nccl.package=2.28.3 < rpm libnccl 2.28.3-1+cuda13.0\n"

static void test_rpm(void)
{
    lks_test_case("in the newer place");
    struct lks_tree tree = lks_tree_new();
    make_rpmdb(&tree, "/usr/lib/sysimage/rpm", rpms, LKS_COUNT(rpms), false);
    CHECK_HEARD_SORTED(lks_probe_packages, &tree, RPM_SAID);
    lks_test_case("and a link to it in the older");
    lks_tree_link(&tree, "/var/lib/rpm", "../../usr/lib/sysimage/rpm");
    CHECK_HEARD_SORTED(lks_probe_packages, &tree, RPM_SAID);
    lks_test_case("and dpkg beside it");
    lks_tree_file(&tree, STATUS, I("libnccl2", "2.29.2-1+cuda13.1"));
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "containerd.package=1.7.28 < rpm containerd.io 1.7.28-1.el9_4\n"
                       "doca-ofed.package=3.2.1-044413 < rpm doca-ofed 3.2.1-044413.el9\n"
                       "driver.package=580.95.05 < rpm kmod-nvidia-open-dkms 3:580.95.05-1.el9\n"
                       "nccl.package=2.29.2 < dpkg libnccl2 2.29.2-1+cuda13.1; rpm libnccl "
                       "2.28.3-1+cuda13.0\n"
                       "nccl.package@package libnccl=2.28.3 < rpm libnccl 2.28.3-1+cuda13.0\n");
    lks_tree_free(&tree);
}

/* rpm, which begins to work while the database is read. */
struct rpm_at_work {
    const struct lks_tree *tree;
    const char *file; /* that it writes to */
    int asked;
};

static void rpm_works(void *ctx, const char *what)
{
    struct rpm_at_work *rpm = ctx;
    if (lks_str_find(lks_str_from(what), LKS_STR("rpmdb.sqlite")) < 0 || rpm->asked++ == 0)
        return; /* before it is opened */
    char path[256];
    snprintf(path, sizeof(path), "%s%s", rpm->tree->path, rpm->file);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0);
}

static void test_rpm_at_work(void)
{
    static const struct {
        const char *name, *file, *said;
    } rows[] = {
        {"the database", RPMDB, "nccl.package?" RPMDB ": rpm changed it while it was read\n"},
        {"its changes", RPMDB "-wal",
         "nccl.package?" RPMDB ": rpm is at work or was cut short, its changes are still in "
         "rpmdb.sqlite-wal\n"},
        {"its journal", RPMDB "-journal",
         "nccl.package?" RPMDB ": rpm is at work or was cut short, its changes are still in "
         "rpmdb.sqlite-journal\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_tree tree = lks_tree_new();
        struct rpm_at_work rpm = {&tree, rows[i].file, 0};
        struct lks_root root;
        struct lks_err err;
        LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
        lks_test_case("%s", rows[i].name);
        make_rpmdb(&tree, "/var/lib/rpm", rpms, LKS_COUNT(rpms), false);
        if (!CHECK_CODE(lks_root_open(tree.path, NULL, &root, &err), LKS_OK))
            return;
        root.asking = rpm_works;
        root.ctx = &rpm;
        lks_hear(lks_probe_packages, &root, NULL, &heard);
        CHECK_HAS(lks_buf_view(&heard.lines), rows[i].said);
        lks_root_close(&root);
        lks_tree_free(&tree);
    }
}

static void test_rpm_damage(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_test_case("a header that is none");
    make_rpmdb(&tree, "/var/lib/rpm", rpms, 1, true);
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?an entry of " RPMDB " cannot be read < " RPMDB);
    lks_test_case("changes beside it");
    lks_tree_file(&tree, "/var/lib/rpm/rpmdb.sqlite-wal", "changes");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?" RPMDB
                     ": rpm is at work or was cut short, its changes are still in "
                     "rpmdb.sqlite-wal < " RPMDB);
    lks_tree_file(&tree, "/var/lib/rpm/rpmdb.sqlite-wal", "");
    lks_test_case("a journal beside it");
    lks_tree_file(&tree, "/var/lib/rpm/rpmdb.sqlite-journal", "what was there before");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?" RPMDB
                     ": rpm is at work or was cut short, its changes are still in "
                     "rpmdb.sqlite-journal < " RPMDB);
    lks_tree_file(&tree, "/var/lib/rpm/rpmdb.sqlite-journal", "");
    lks_test_case("no database");
    lks_tree_file(&tree, RPMDB, "nothing of the kind, and long enough to be taken for one........");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?" RPMDB ": file is not a database < " RPMDB);
    lks_tree_free(&tree);
    tree = lks_tree_new();
    lks_test_case("without the table");
    lks_tree_file(&tree, RPMDB, "");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?" RPMDB ": no such table: Packages < " RPMDB);
    lks_tree_free(&tree);
}

/* The older formats are rpm's to read; a captured tree has what it said. */
static void test_rpm_program(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, OLDDB, "");
    lks_test_case("no rpm");
    CHECK_HEARD_LINE(lks_probe_packages, &tree,
                     "nccl.package?/var/lib/rpm: is in the format of Berkeley DB, and there is no "
                     "rpm to ask < " OLDDB);
    lks_test_case("nothing captured");
    lks_tree_file(&tree, "/usr/bin/rpm", "");
    CHECK_HEARD_LINE(
        lks_probe_packages, &tree,
        "nccl.package?/var/lib/rpm: is in the format of Berkeley DB, and what rpm says was "
        "not captured < " OLDDB);
    lks_test_case("captured");
    lks_tree_file(
        &tree, "/lockstep/command.csv",
        "key,code,value\n\"/usr/bin/rpm -qa --dbpath /var/lib/rpm --qf "
        "%{NAME}=%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}.%|ARCH?{%{ARCH}}:{none}|\\n\",ok,"
        "gpg-pubkey=1-2.none libnccl=2.28.3-1+cuda13.0.x86_64 docker-ce=3:28.3.3-1.el9.x86_64 \n");
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "docker.package=28.3.3 < rpm docker-ce 3:28.3.3-1.el9\n"
                       "nccl.package=2.28.3 < rpm libnccl 2.28.3-1+cuda13.0\n");
    lks_tree_free(&tree);
}

#define LOG "/var/log/dpkg.log"
#define DNF "/var/log/dnf.rpm.log"
#define AT  "2026-11-15 03:12:09 "
#define RPM "2026-11-15T03:12:09+0000 SUBDEBUG "

/* What the package manager last did to a component. */
static const struct {
    const char *name, *path, *before, *text,
        *said; /* `before`: the log that was put away, or NULL */
} logs[] = {
    {"nothing that matters", LOG, NULL, AT "upgrade bash:amd64 1 2\n", ""},
    {"an upgrade", LOG, NULL, AT "upgrade libnccl2:amd64 2.27.7-1 2.28.3-1+cuda13.0\n",
     "nccl.package.changed=" AT "upgrade 2.27.7-1 -> 2.28.3-1+cuda13.0 < " LOG "\n"},
    {"only in the one that was put away", LOG, AT "install libnccl2:amd64 <none> 2.28.3-1\n", "",
     "nccl.package.changed=" AT "install 2.28.3-1 < " LOG ".1\n"},
    {"in both", LOG, AT "install libnccl2:amd64 <none> 2.27.7-1\n",
     AT "upgrade libnccl2:amd64 2.27.7-1 2.28.3-1\n",
     "nccl.package.changed=" AT "upgrade 2.27.7-1 -> 2.28.3-1 < " LOG "\n"},
    {"removed", LOG, NULL,
     AT "install libnccl2:amd64 <none> 2.27.7-1\n" AT "remove libnccl2:amd64 2.27.7-1 <none>\n",
     "nccl.package.changed=" AT "remove 2.27.7-1 < " LOG "\n"},
    {"one package in another's place", LOG, NULL,
     AT "install nvidia-dkms-580:amd64 <none> 580.95.05-1\n" AT
        "remove nvidia-dkms-570:amd64 570.1-1 <none>\n",
     "driver.package.changed=" AT "install 580.95.05-1 < " LOG "\n"},
    {"the run time beside more", LOG, NULL,
     AT "upgrade cuda-libraries-13-0:amd64 13.0.1-1 13.0.2-1\n" AT
        "upgrade cuda-cudart-13-0:amd64 13.0.95-1 13.0.96-1\n",
     "cuda.package.changed=" AT "upgrade 13.0.1-1 -> 13.0.2-1 < " LOG "\n"},
    {"the run time alone", LOG, NULL, AT "upgrade cuda-cudart-13-0:amd64 13.0.95-1 13.0.96-1\n",
     "cuda.package.changed=" AT "upgrade 13.0.95-1 -> 13.0.96-1 < " LOG "\n"},
    {"dnf", DNF, RPM "Upgrade: libnccl-2.27.7-1.x86_64\n",
     RPM "Upgrade: libnccl-2.28.3-1.x86_64\n" RPM "Upgraded: libnccl-static-1-1.x86_64\n" RPM
         "Upgraded: libnccl-2.27.7-1.x86_64\n",
     "nccl.package.changed=2026-11-15 03:12:09+0000 upgrade 2.27.7-1 -> 2.28.3-1 < " DNF "\n"},
    {"dpkg's packages in dnf's log", DNF, NULL, RPM "Upgrade: libnccl2-2.28.3-1.x86_64\n", ""},
};

static void test_logs(void)
{
    for (size_t i = 0; i < LKS_COUNT(logs); i++) {
        char before[64];
        struct lks_tree tree = lks_tree_new();
        lks_test_case("%s", logs[i].name);
        snprintf(before, sizeof(before), "%s.1", logs[i].path);
        lks_tree_file(&tree, logs[i].path, logs[i].text);
        if (logs[i].before != NULL)
            lks_tree_file(&tree, before, logs[i].before);
        CHECK_HEARD_SORTED(lks_probe_packages, &tree, logs[i].said);
        lks_tree_free(&tree);
    }
}

/* Of a log that is long its end counts. */
static void test_long_log(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(4 * LKS_PACKAGES_LOG_MAX);
    struct lks_tree tree = lks_tree_new();
    lks_buf_add(&text, LKS_STR(AT "upgrade containerd.io:amd64 1.7.26-1 1.7.27-1\n"));
    while (text.len < LKS_PACKAGES_LOG_MAX)
        lks_buf_add(&text, LKS_STR(AT "status installed bash:amd64 5.2-1\n"));
    lks_buf_add(&text, LKS_STR(AT "upgrade libnccl2:amd64 2.27.7-1 2.28.3-1\n"));
    lks_tree_bytes(&tree, LOG, lks_buf_view(&text));
    CHECK_HEARD_SORTED(lks_probe_packages, &tree,
                       "nccl.package.changed=" AT "upgrade 2.27.7-1 -> 2.28.3-1 < " LOG "\n");
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"packages: dpkg", test_dpkg},
                                                   {"packages: a link chooses", test_link},
                                                   {"packages: dpkg at work", test_updates},
                                                   {"packages: images without dpkg", test_status_d},
                                                   {"packages: absence", test_absence},
                                                   {"packages: logs", test_logs},
                                                   {"packages: a long log", test_long_log},
                                                   {"packages: rpm", test_rpm},
                                                   {"packages: rpm at work", test_rpm_at_work},
                                                   {"packages: damaged rpm", test_rpm_damage},
                                                   {"packages: older rpm", test_rpm_program},
                                                   {0}});
}
