#include "agent/loop/events.h"

#include "base/embedded.h"
#include "base/file.h"
#include "core/state/heartbeat.h"
#include "model/facts/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KMSG       "/dev/kmsg"
#define PORTS      "/sys/class/infiniband"
#define LOG_MAX    ((size_t)1 << 20)
#define NUMBER_MAX 64

enum { RECORDS_EACH = 4096, DEVICES_MAX = 64, PORTS_MAX = 8, USEC = 1000 };

void lks_agent_events_fini(struct lks_agent_events *e)
{
    if (e->kmsg > 0)
        (void)close(e->kmsg);
    free(e->fatal);
    *e = (struct lks_agent_events){0};
}

/* Xids ---------------------------------------------------------------------------------------- */

/* The catalog's severities that begin so: fatal for the GPU, the machine or a virtual one. */
static void learn(struct lks_agent_events *e)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint8_t *fatal = calloc(LKS_KMSG_XID_MAX + 1, 1);
    if (fatal == NULL || lks_facts_load(lks_embedded_data, NULL, 0, &facts, &err) != LKS_OK) {
        free(fatal);
        return;
    }
    for (size_t i = 0; i < facts.xids.count; i++) {
        const struct lks_xid *x = &facts.xids.rows[i];
        if (x->number >= 0 && x->number <= LKS_KMSG_XID_MAX && lks_str_starts(x->severity, "fatal"))
            fatal[x->number] = 1;
    }
    e->fatal = fatal;
}

static bool is_fatal(const struct lks_agent_events *e, struct lks_str record,
                     struct lks_kmsg_xid *xid)
{
    return lks_kmsg_xid(record, xid) && e->fatal[xid->xid] != 0;
}

/* The kernel counts from the boot, by a clock that is off by and by; what is new since we had read
 * all there was happened since then. */
static struct lks_event_seen seen_at(const struct lks_agent_events *e, uint64_t usec, lks_ms mono)
{
    lks_ms at = usec / USEC;
    at = at > e->looked ? at : e->looked;
    return (struct lks_event_seen){true, at < mono ? at : mono, usec / USEC / LKS_SECOND};
}

/* Records that are new, one a call; the first time all that the kernel still has. */
static bool read_kmsg(struct lks_agent_events *e, lks_ms mono)
{
    char record[LKS_KMSG_RECORD_MAX];
    struct lks_kmsg_xid xid;
    if (e->kmsg == 0)
        e->kmsg = open(KMSG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (e->kmsg <= 0)
        return false;
    for (int i = 0; i < RECORDS_EACH; i++) {
        ssize_t n = read(e->kmsg, record, sizeof(record));
        if (n < 0 && (errno == EPIPE || errno == EINTR))
            continue; /* some were overwritten: on with the oldest there is */
        if (n < 0 && errno == EAGAIN) {
            e->looked = mono;
            return true;
        }
        if (n <= 0)
            return false;
        if (is_fatal(e, (struct lks_str){record, (size_t)n}, &xid))
            e->xid = seen_at(e, xid.usec, mono);
    }
    return true;
}

static bool read_captured(struct lks_agent_events *e, const char *root, struct lks_now now)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LOG_MAX);
    struct lks_kmsg_xid xid;
    struct lks_err err = {0};
    struct stat st = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s" LKS_EVENTS_KMSG, root);
    if (stat(path, &st) != 0 || lks_file_read_plain(path, &text, &err) != LKS_OK)
        return false;
    lks_ms at = (lks_ms)st.st_mtim.tv_sec * LKS_SECOND + (lks_ms)st.st_mtim.tv_nsec / 1000000;
    lks_ms age = now.wall > at ? now.wall - at : 0;
    for (struct lks_str rest = lks_buf_view(&text), line; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (is_fatal(e, line, &xid))
            e->xid =
                (struct lks_event_seen){true, now.mono > age ? now.mono - age : 0, at / LKS_SECOND};
    }
    return true;
}

/* Links --------------------------------------------------------------------------------------- */

static bool is_entry(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static bool add_port(const char *port, uint64_t *sum)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(NUMBER_MAX);
    struct lks_err err = {0};
    char path[PATH_MAX];
    struct lks_str line, rest;
    uint64_t number = 0;
    if (snprintf(path, sizeof(path), "%s/counters/link_downed", port) >= (int)sizeof(path) ||
        lks_file_read_plain(path, &text, &err) != LKS_OK ||
        !(lks_str_cut(lks_buf_view(&text), '\n', &line, &rest) &&
          lks_str_number(line, UINT32_MAX, &number)))
        return false;
    *sum += number;
    return true;
}

static bool add_device(const char *device, uint64_t *sum)
{
    char ports[PATH_MAX / 2];
    bool any = false;
    if (snprintf(ports, sizeof(ports), "%s/ports", device) >= (int)sizeof(ports))
        return false;
    DIR *dir = opendir(ports);
    int count = 0;
    for (struct dirent *d; dir != NULL && count < PORTS_MAX && (d = readdir(dir)) != NULL;) {
        char port[PATH_MAX];
        if (!is_entry(d) ||
            snprintf(port, sizeof(port), "%s/%s", ports, d->d_name) >= (int)sizeof(port))
            continue;
        count++;
        any = add_port(port, sum) || any;
    }
    if (dir != NULL)
        (void)closedir(dir);
    return any;
}

/* False: there is no port that counts. */
static bool count_links(const char *root, uint64_t *out)
{
    char folder[PATH_MAX / 4];
    uint64_t sum = 0;
    bool any = false;
    int count = 0;
    if (snprintf(folder, sizeof(folder), "%s" PORTS, root != NULL ? root : "") >=
        (int)sizeof(folder))
        return false;
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir != NULL && count < DEVICES_MAX && (d = readdir(dir)) != NULL;) {
        char device[PATH_MAX / 3];
        if (!is_entry(d) ||
            snprintf(device, sizeof(device), "%s/%s", folder, d->d_name) >= (int)sizeof(device))
            continue;
        count++;
        any = add_device(device, &sum) || any;
    }
    if (dir != NULL)
        (void)closedir(dir);
    *out = sum;
    return any;
}

static bool look_at_links(struct lks_agent_events *e, const char *root, lks_ms mono)
{
    uint64_t sum = 0;
    bool known = count_links(root, &sum);
    if (known && e->links_known && sum > e->links)
        e->link = (struct lks_event_seen){true, mono, mono / LKS_SECOND};
    e->links = known ? sum : e->links;
    e->links_known = e->links_known || known;
    return known;
}

static uint64_t tell(const struct lks_event_seen *seen, enum lks_heartbeat_event sort, uint64_t bit,
                     lks_ms mono, lks_ms hold)
{
    if (!seen->any)
        return 0;
    struct lks_health_event event = {seen->which, mono > seen->at ? mono - seen->at : 0};
    return lks_heartbeat_health_tell(sort, &event) | (event.age < hold ? bit : 0);
}

uint64_t lks_agent_events_look(struct lks_agent_events *e, const char *root, struct lks_now now,
                               lks_ms hold)
{
    uint64_t health = 0;
    if (e->fatal == NULL) {
        learn(e);
        (void)malloc_trim(0); /* the tables were large */
    }
    if (e->fatal != NULL && (root != NULL ? read_captured(e, root, now) : read_kmsg(e, now.mono)))
        health |= LKS_HEALTH_XIDS_KNOWN;
    if (look_at_links(e, root, now.mono))
        health |= LKS_HEALTH_LINKS_KNOWN;
    return health | tell(&e->xid, LKS_HEARTBEAT_XID, LKS_HEALTH_XID, now.mono, hold) |
           tell(&e->link, LKS_HEARTBEAT_LINK_DOWN, LKS_HEALTH_LINK_DOWN, now.mono, hold);
}
