#include "cli/sim/fleetdir.h"

#include "base/file.h"
#include "cli/sim/spawn.h"
#include "codec/format/json.h"
#include "codec/format/yaml.h"
#include "core/state/heartbeat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIR_MODE = 0700, DEPTH_MAX = 32, COPY_MAX = 64 << 20, RACK = 8, FILES_MAX = 8 };

#define BMC_FIRST UINT32_C(0x7f400001) /* LKS_FLEETDIR_BMC_FIRST */
#define BOOT_ID   "proc/sys/kernel/random/boot_id"

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

bool lks_fleetdir_remove(const char *dir)
{
    return nftw(dir, remove_entry, FILES_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
}

enum lks_code lks_fleetdir_check(const char *root, struct lks_err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (stat(root, &st) != 0) {
        (void)!lks_file_fail(err, root);
        return lks_wrap(err, "--root");
    }
    if (lks_path_join(path, root, BOOT_ID, err) != LKS_OK)
        return lks_wrap(err, "--root");
    if (lstat(path, &st) != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "--root: %s: not a captured machine, for it has no %s ('lockstep inventory "
                        "--capture DIR' makes one)",
                        root, BOOT_ID);
    return LKS_OK;
}

void lks_fleetdir_node(char out[32], uint64_t number)
{
    snprintf(out, 32, "sim%04" PRIu64, number);
}

enum lks_code lks_fleetdir_agent(char out[PATH_MAX], const char *dir, const char *node,
                                 struct lks_err *err)
{
    char agents[PATH_MAX];
    if (lks_path_join(agents, dir, "agents", err) != LKS_OK ||
        lks_path_join(out, agents, node, err) != LKS_OK)
        return err->code;
    if ((mkdir(agents, DIR_MODE) != 0 && errno != EEXIST) || mkdir(out, DIR_MODE) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", out, strerror(errno));
    return LKS_OK;
}

/* Copying a machine ------------------------------------------------------------------------- */

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

/* Each node has files of its own, since people edit one node to see it drift. Where the file system
 * can, they share their blocks until then. */
static enum lks_code copy_file(const char *from, const char *to, struct lks_err *err)
{
    LKS_CLEANUP(fd_close) int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    LKS_CLEANUP(fd_close) int out = -1;
    struct stat st;
    if (in < 0 || fstat(in, &st) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", from, strerror(errno));
    if (st.st_size > COPY_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: larger than %d bytes", from, COPY_MAX);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (st.st_mode & 0777) | S_IWUSR);
    if (out < 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", to, strerror(errno));
    if (ioctl(out, FICLONE, in) == 0)
        return LKS_OK;
    for (ssize_t n; (n = sendfile(out, in, NULL, COPY_MAX)) != 0;) {
        if (n < 0 && errno != EINTR)
            return lks_fail(err, LKS_E_IO, "%s: %s", to, strerror(errno));
    }
    return LKS_OK;
}

static enum lks_code copy_link(const char *from, const char *to, struct lks_err *err)
{
    char target[PATH_MAX];
    ssize_t len = readlink(from, target, sizeof(target) - 1);
    target[len > 0 ? len : 0] = '\0';
    if (len <= 0 || symlink(target, to) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", to, strerror(errno));
    return LKS_OK;
}

static enum lks_code copy_tree(const char *from, const char *to, int depth, struct lks_err *err);

static enum lks_code copy_entry(const char *from, const char *to, const char *name, int depth,
                                struct lks_err *err)
{
    char source[PATH_MAX], target[PATH_MAX];
    struct stat st;
    if (lks_path_join(source, from, name, err) != LKS_OK ||
        lks_path_join(target, to, name, err) != LKS_OK)
        return err->code;
    if (lstat(source, &st) != 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", source, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return copy_tree(source, target, depth + 1, err);
    if (S_ISLNK(st.st_mode))
        return copy_link(source, target, err);
    return S_ISREG(st.st_mode) ? copy_file(source, target, err) : LKS_OK;
}

static enum lks_code copy_tree(const char *from, const char *to, int depth, struct lks_err *err)
{
    if (depth > DEPTH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: deeper than %d directories", from, DEPTH_MAX);
    DIR *dir = opendir(from);
    if (dir == NULL || mkdir(to, DIR_MODE) != 0) {
        int number = errno;
        if (dir != NULL)
            closedir(dir);
        return lks_fail(err, LKS_E_IO, "%s: %s", dir == NULL ? from : to, strerror(number));
    }
    enum lks_code code = LKS_OK;
    for (struct dirent *e; code == LKS_OK && (e = readdir(dir)) != NULL;) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            code = copy_entry(from, to, e->d_name, depth, err);
    }
    closedir(dir);
    return code;
}

/* A boot id of its own, by chance. */
static enum lks_code make_boot_id(const char *root, struct lks_err *err)
{
    uint8_t bytes[16];
    char path[PATH_MAX], id[LKS_BOOT_TEXT_SIZE];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return lks_fail(err, LKS_E_IO, "the kernel gives no chance");
    lks_heartbeat_boot_text(bytes, id);
    if (lks_path_join(path, root, BOOT_ID, err) != LKS_OK)
        return err->code;
    return lks_file_replace(path, lks_str_from(id), err);
}

enum lks_code lks_fleetdir_copy(const char *from, const char *to, struct lks_err *err)
{
    if (copy_tree(from, to, 0, err) != LKS_OK)
        return lks_wrap(err, "the captured machine");
    return make_boot_id(to, err);
}

/* The manifest ------------------------------------------------------------------------------ */

/* The hardware class that the drafted stack is for. */
static enum lks_code find_class(struct lks_str manifest, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, "stack", err) != LKS_OK ||
        lks_yaml_parse(manifest, &docs, err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *d = docs.first; d != NULL; d = d->next) {
        const struct lks_doc *classes = lks_doc_member(d, "hardware");
        if (classes != NULL && classes->kind == LKS_DOC_LIST && classes->first != NULL) {
            lks_buf_add(out, classes->first->text);
            return lks_buf_check(out, err);
        }
    }
    return lks_fail(err, LKS_E_INVALID, "the drafted stack names no hardware class");
}

/* A part of the fleet: racks of one size, one after the other. */
struct part {
    const char *pool, *posture;
    unsigned criticality;
    const char *rack; /* the beginning of the names of its racks */
    uint64_t first, nodes, size;
    bool domains; /* a rack is one */
};
enum {
    PARTS = 4,
    TRAYS_OF_DOMAIN = 9,
    SHELVES_OF_DOMAIN = 2,
    SPARED = 4, /* one in so many nodes may be drained without a wait */
};

static void divide(const struct lks_fleetdir_fleet *f, struct part out[PARTS])
{
    uint64_t domains = f->domains * LKS_FLEETDIR_DOMAIN, rest = f->nodes - domains - f->lab;
    uint64_t train = (rest + 1) / 2;
    const struct part parts[PARTS] = {
        {"train", "pre-training", 90, "nvl", 0, domains, LKS_FLEETDIR_DOMAIN, true},
        {"train", "pre-training", 90, "train", 0, train, RACK, false},
        {"serve", "online-inference", 50, "serve", 0, rest - train, RACK, false},
        {"lab", "dev", 0, "lab", 0, f->lab, RACK, false},
    };
    uint64_t first = 1;
    for (size_t i = 0; i < PARTS; i++) {
        out[i] = parts[i];
        out[i].first = first;
        first += parts[i].nodes;
    }
}

static uint64_t racks_of(const struct part *p)
{
    return (p->nodes + p->size - 1) / p->size;
}

static uint64_t count_assets(const struct lks_fleetdir_fleet *f, uint64_t of_domain)
{
    struct part parts[PARTS];
    uint64_t count = 0;
    divide(f, parts);
    for (size_t i = 0; i < PARTS; i++)
        count += racks_of(&parts[i]) * (parts[i].domains ? of_domain : 1);
    return count;
}

uint64_t lks_fleetdir_trays(const struct lks_fleetdir_fleet *f)
{
    return count_assets(f, TRAYS_OF_DOMAIN);
}

uint64_t lks_fleetdir_shelves(const struct lks_fleetdir_fleet *f)
{
    return count_assets(f, SHELVES_OF_DOMAIN);
}

void lks_fleetdir_assets(char out[64], const char *kind, uint64_t count)
{
    snprintf(out, 64, "sim-%s[001-%03" PRIu64 "]", kind, count);
}

/* The `number`th BMC, counted from 0. */
static void add_bmc(struct lks_buf *out, const struct lks_fleetdir_fleet *f, uint64_t number)
{
    uint32_t address = BMC_FIRST + (uint32_t)number;
    if (f->bmc_port == 0)
        return;
    lks_buf_addf(out,
                 ",\n     bmc: {url: \"https://%u.%u.%u.%u:%u\", trust: \"file:%s/bmcs/ca.pem\", "
                 "credentials: \"file:%s/bmcs/login\"}",
                 address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255, f->bmc_port,
                 f->dir, f->dir);
}

/* The hardware revision of the node of this number, as the BMCs have it, too. */
static void add_revision(struct lks_buf *out, const struct lks_fleetdir_fleet *f, uint64_t number)
{
    struct lks_str rest = lks_str_from(f->revisions != NULL ? f->revisions : ""), word;
    uint64_t count = 1;
    for (size_t i = 0; i < rest.len; i++)
        count += rest.ptr[i] == ',';
    for (uint64_t i = 0; i <= (number - 1) % count; i++)
        lks_str_cut(rest, ',', &word, &rest);
    if (word.len > 0)
        lks_buf_addf(out, ", hardware_revision: \"%" LKS_STR_FMT "\"", LKS_STR_ARG(word));
}

static void add_rack(struct lks_buf *out, const struct part *p, uint64_t rack)
{
    lks_buf_addf(out, ", site: here, rack: %s%03" PRIu64, p->rack, rack);
    if (p->domains)
        lks_buf_addf(out, ", domain: %s%03" PRIu64, p->rack, rack);
}

/* A rack at a time. An address on loopback tells no name, so nodes with BMCs are written down one
 * by one, as are those of several hardware revisions. */
static void add_nodes(struct lks_buf *out, const struct lks_fleetdir_fleet *f, struct lks_str class,
                      const struct part *p)
{
    bool single = f->bmc_port != 0 || f->revisions != NULL;
    uint64_t step = single ? 1 : p->size;
    for (uint64_t at = 0; at < p->nodes; at += step) {
        uint64_t end = at + step < p->nodes ? at + step : p->nodes;
        lks_buf_addf(
            out, "  - {hosts: \"sim[%04" PRIu64 "-%04" PRIu64 "]\", pool: %s, class: %" LKS_STR_FMT,
            p->first + at, p->first + end - 1, p->pool, LKS_STR_ARG(class));
        add_rack(out, p, at / p->size + 1);
        add_revision(out, f, p->first + at);
        add_bmc(out, f, p->first + at - 1);
        lks_buf_addf(out, "}\n");
    }
}

/* So many of them in each domain, on both sides of it where there are two. */
struct asset_kind {
    const char *kind, *class;
    uint64_t of_domain;
    bool sides;
};

static void add_assets(struct lks_buf *out, const struct lks_fleetdir_fleet *f,
                       const struct asset_kind *k, uint64_t first_bmc)
{
    struct part parts[PARTS];
    uint64_t number = 0;
    divide(f, parts);
    for (size_t i = 0; i < PARTS; i++) {
        uint64_t each = parts[i].domains ? k->of_domain : 1;
        for (uint64_t at = 0; at < racks_of(&parts[i]) * each; at++, number++) {
            lks_buf_addf(out, "  - {hosts: \"sim-%s%03" PRIu64 "\", class: %s", k->kind, number + 1,
                         k->class);
            add_rack(out, &parts[i], at / each + 1);
            if (k->sides && each > 1)
                lks_buf_addf(out, ", side: %s", at % each == 0 ? "a" : "b");
            add_bmc(out, f, first_bmc + number);
            lks_buf_addf(out, "}\n");
        }
    }
}

static void add_pools(struct lks_buf *out, const struct lks_fleetdir_fleet *f,
                      const struct part parts[PARTS])
{
    lks_buf_addf(out, "---\nlockstep: 1\nkind: Fleet\nname: sim\nsites:\n  here: {}\n");
    if (f->domains > 0)
        lks_buf_addf(out, "domains:\n");
    for (uint64_t i = 1; i <= f->domains; i++)
        lks_buf_addf(out, "  nvl%03" PRIu64 ": {site: here, spares: 1}\n", i);
    lks_buf_addf(out, "pools:\n");
    for (size_t i = 1; i < PARTS; i++) { /* those of domains are in the pool of the next */
        uint64_t nodes = parts[i].nodes + (parts[i - 1].domains ? parts[i - 1].nodes : 0);
        uint64_t spared = (nodes + SPARED - 1) / SPARED;
        if (parts[i - 1].domains && f->domains > 0 && spared < LKS_FLEETDIR_DOMAIN)
            spared = LKS_FLEETDIR_DOMAIN;
        if (parts[i].nodes > 0)
            lks_buf_addf(
                out, "  %s: {posture: %s, criticality: %u, stack: golden, headroom: %" PRIu64 "}\n",
                parts[i].pool, parts[i].posture, parts[i].criticality, spared);
    }
}

static void add_fleet(struct lks_buf *out, const struct lks_fleetdir_fleet *f, struct lks_str class)
{
    static const struct asset_kind trays = {"switch", "switch-tray", TRAYS_OF_DOMAIN, false};
    static const struct asset_kind shelves = {"shelf", "power-shelf", SHELVES_OF_DOMAIN, true};
    struct part parts[PARTS];
    divide(f, parts);
    add_pools(out, f, parts);
    lks_buf_addf(out, "nodes:\n");
    for (size_t i = 0; i < PARTS; i++)
        add_nodes(out, f, class, &parts[i]);
    lks_buf_addf(out, "assets:\n");
    add_assets(out, f, &trays, f->nodes);
    add_assets(out, f, &shelves, f->nodes + lks_fleetdir_trays(f));
}

/* What the captured machine does not show in-band, and its BMC does: pinned, and ours to flash. */
static enum lks_code pin(const struct lks_fleetdir_fleet *f, struct lks_buf *stack,
                         struct lks_err *err)
{
    static const char section[] = "\nfirmware:";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_str rest = lks_str_from(f->flash != NULL ? f->flash : ""), item, class, version;
    ptrdiff_t at = lks_str_find(lks_buf_view(stack), lks_str_from(section));
    if (rest.len == 0)
        return LKS_OK;
    if (at < 0)
        return lks_fail(err, LKS_E_INVALID, "it has no firmware, so none can be pinned beside");
    lks_buf_add(&before, (struct lks_str){stack->ptr, (size_t)at + strlen(section)});
    for (bool more = true; more;) {
        more = lks_str_cut(rest, ',', &item, &rest);
        if (!lks_str_cut(item, '=', &class, &version))
            return lks_fail(err, LKS_E_USAGE, "--flash: '%" LKS_STR_FMT "' is not CLASS=VERSION",
                            LKS_STR_ARG(item));
        lks_buf_addf(&before,
                     "\n  - {class: %" LKS_STR_FMT ", version: \"%" LKS_STR_FMT
                     "\", owner: bundle}",
                     LKS_STR_ARG(class), LKS_STR_ARG(version));
    }
    struct lks_str tail = {stack->ptr + at + strlen(section),
                           stack->len - (size_t)at - strlen(section)};
    struct lks_str ignored;
    lks_str_cut(tail, '\n', &ignored, &tail); /* the remark behind the word */
    lks_buf_addf(&before, "\n");
    lks_buf_add(&before, tail);
    lks_buf_truncate(stack, 0);
    lks_buf_add(stack, lks_buf_view(&before));
    return lks_buf_check(stack, err);
}

enum lks_code lks_fleetdir_manifest(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err)
{
    char stack[PATH_MAX], fleet[PATH_MAX];
    if (lks_path_join(stack, f->dir, "stack.yaml", err) != LKS_OK ||
        lks_path_join(fleet, f->dir, "fleet.yaml", err) != LKS_OK)
        return err->code;
    const char *argv[] = {"lockstep", "stack",  "init",   "--quick", "--root",
                          f->root,    "--name", "golden", NULL};
    enum lks_code code = lks_spawn_wait(cli, argv, stack, err);
    if (code == LKS_E_REFUSED)
        return lks_fail(err, LKS_E_INVALID,
                        "--root: %s: no stack can be drafted from it; 'lockstep stack init --root "
                        "%s' says why",
                        f->root, f->root);
    if (code != LKS_OK || lks_file_read(stack, out, err) != LKS_OK || pin(f, out, err) != LKS_OK)
        return lks_wrap(err, "a stack from %s", f->root);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf class = LKS_BUF(PATH_MAX);
    if (find_class(lks_buf_view(out), &class, err) != LKS_OK)
        return lks_wrap(err, "%s", stack);
    add_fleet(out, f, lks_buf_view(&class));
    if (lks_buf_check(out, err) != LKS_OK)
        return err->code;
    return lks_file_replace(fleet, lks_buf_view(out), err);
}

/* BMCs -------------------------------------------------------------------------------------- */

static bool is_listed(struct lks_str list, struct lks_str class)
{
    struct lks_str item, name, ignored;
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &item, &list);
        lks_str_cut(item, '=', &name, &ignored);
        if (lks_str_eq(name, class))
            return true;
    }
    return false;
}

/* One version of each class: what a stack can pin is one as well. */
static void add_version(struct lks_buf *out, const struct lks_doc *reading)
{
    struct lks_str name = lks_doc_text(reading, "name"), value = lks_doc_text(reading, "value");
    size_t skip = strlen("firmware/");
    if (!lks_str_starts(name, "firmware/") || value.len == 0 ||
        memchr(value.ptr, ',', value.len) != NULL || memchr(value.ptr, '=', value.len) != NULL)
        return;
    name = (struct lks_str){name.ptr + skip, name.len - skip};
    if (is_listed(lks_buf_view(out), name))
        return;
    lks_buf_addf(out, "%s%" LKS_STR_FMT "=%" LKS_STR_FMT, out->len > 0 ? "," : "",
                 LKS_STR_ARG(name), LKS_STR_ARG(value));
}

enum lks_code lks_fleetdir_versions(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char file[PATH_MAX];
    if (lks_path_join(file, f->dir, "inventory.json", err) != LKS_OK)
        return err->code;
    const char *argv[] = {"lockstep", "inventory", "--quick", "--json", "--root", f->root, NULL};
    enum lks_code code = lks_spawn_wait(cli, argv, file, err);
    if ((code != LKS_OK && code != LKS_E_REFUSED) || lks_file_read(file, &text, err) != LKS_OK ||
        lks_docs_init(&docs, file, err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&text), &docs, err) != LKS_OK)
        return lks_wrap(err, "an inventory of %s", f->root);
    lks_buf_add(out, lks_str_from(f->flash != NULL ? f->flash : ""));
    const struct lks_doc *readings = lks_doc_member(docs.first, "readings");
    for (const struct lks_doc *r = readings != NULL ? readings->first : NULL; r; r = r->next)
        add_version(out, r);
    return lks_buf_check(out, err);
}
