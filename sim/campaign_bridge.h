/*
 * Schedulers behind bridges, in the world of campaign.h: some seeds have them. lockstepd asks them
 * as in production, by its book (core/actions/sched_book.h) and the driver of bridges, and the
 * bridges answer by the code of bridge/view. campaign_asks.c is lockstepd's side, and what a site
 * has beside nodes is in campaign_site.c.
 *
 *     silence      a bridge, or both of a site, answer nothing for up to 45 minutes
 *     stuck        a bridge answers with what it read before, older and older
 *     failing      a bridge answers with errors, right after it showed that a drain is lost
 *     reboots      Slurm reboots a node once it is empty, which ends every drain
 *     jobs         whose id, nodes or start cannot be read, or that slurmctld does not know
 *     verdicts     that are published in part, forgotten, or changed by another program
 *     reservations of lockstep that are lost, changed or refused, and those of others
 */
#ifndef LKS_SIM_CAMPAIGN_BRIDGE_H
#define LKS_SIM_CAMPAIGN_BRIDGE_H

#include "base/rng.h"
#include "bridge/view/book.h"
#include "bridge/view/request.h"
#include "core/actions/sched_book.h"
#include "port/sched.h"

struct cam;
struct cam_command;
struct cam_flash;
struct cam_machine;
struct lks_message;
struct lks_record;

#define CAM_BRIDGE_USER     "slurm" /* as which bridges run */
#define CAM_BRIDGE_FEATURES 192
#define CAM_BRIDGE_SITES    2
#define CAM_BRIDGE_PAIR     2  /* bridges of a site */
#define CAM_BRIDGE_HEARD    8  /* answers that are remembered of a node */
#define CAM_BRIDGE_RESERVED 24 /* reservations of a site */

/* A reading counts so long: its age is known when it comes, the answer travelled, and old ones are
 * looked for once a second. */
#define CAM_BRIDGE_COUNTS (LKS_SCHED_FRESH + LKS_SCHED_OLD + 4 * LKS_SECOND)

enum cam_bridge_event {
    CAM_BRIDGE_SILENT,   /* `node`: the bridge; `value`: for so many seconds */
    CAM_BRIDGE_STUCK,    /* the same */
    CAM_BRIDGE_ENDS,     /* a person ends a drain of lockstep */
    CAM_BRIDGE_REBOOTS,  /* a person has `node` rebooted as soon as it is empty */
    CAM_BRIDGE_EMPTY,    /* it may be empty by now, and goes down then */
    CAM_BRIDGE_RESUMES,  /* it is back */
    CAM_BRIDGE_FORGETS,  /* slurmctld reads its configuration: features are those of it */
    CAM_BRIDGE_FEATURED, /* another program changes features of `node` */
    CAM_BRIDGE_RESERVES, /* a person changes a reservation of the site `node` */
    CAM_BRIDGE_GOES,     /* both bridges of the site `node` go away for hours, */
    CAM_BRIDGE_GONE,     /* and are about to come back */
};

/* What a bridge read of a node, by the truth. */
struct cam_seen {
    lks_ms at;
    bool drained; /* by lockstep, nothing runs there, and Slurm does not reboot it */
};
struct cam_heard {
    struct cam_seen seen;
    lks_ms came; /* then lockstepd had it */
};

struct cam_bridge {
    struct lks_bridge_book book;
    lks_ms silent, stuck;  /* until then */
    lks_ms failing;        /* until then it answers each request with an error */
    struct cam_seen *seen; /* owned; by node */
};

struct cam_bridge_node {
    struct cam_heard heard[CAM_BRIDGE_HEARD]; /* a ring */
    unsigned heard_next;
    lks_ms taken;        /* the latest reading that came, */
    uint32_t taken_life; /* to the lockstepd of that life */
    lks_ms reboots;      /* since when Slurm is to reboot it; 0: it is not */
    char features[CAM_BRIDGE_FEATURES];
    char extra[LKS_SCHED_DIGEST_MAX + 32], comment[LKS_SCHED_DIGEST_MAX + 32];
    char wanted[CAM_BRIDGE_FEATURES]; /* what it should show, */
    lks_ms shown;                     /* and it does since then */
    lks_ms differs;       /* since when it shows something else, or does not keep it; 0: it does */
    unsigned undone;      /* so often another program still undoes what is published */
    lks_ms drained, held; /* by the rows, for the last time */
};

/* Names and lists are as Slurm has them. */
struct cam_reserved {
    bool there, maint;
    char name[LKS_SCHED_RESERVATION_NAME + 1], nodes[256], user[16];
    lks_ms from, until; /* wall */
    lks_ms left;        /* since when it is left over; 0: it is not */
};

struct cam_bridge_site {
    struct cam_bridge bridges[CAM_BRIDGE_PAIR];
    struct cam_reserved reserved[CAM_BRIDGE_RESERVED];
    lks_ms refuses; /* requests about reservations, until then */
    lks_ms gone;    /* both bridges, until then */
};

/* No decision depends on a reservation: two worlds that differ in these alone have one journal.
 * Bridges answer all the time there, because a bridge that fails is followed by its twin. */
enum cam_twin { CAM_NO_TWIN, CAM_TWIN_RESERVES, CAM_TWIN_REFUSES };

struct cam_ask; /* campaign_asks.c */
struct cam_bridges {
    bool on;
    struct lks_rng rng, aside; /* `aside`: of requests about reservations */
    enum cam_twin twin;
    bool reserves[3], holds[3];    /* by pool: reserve, and on_resume: hold */
    struct cam_bridge_node *nodes; /* owned; by machine */
    struct cam_bridge_site sites[CAM_BRIDGE_SITES];
    struct lks_sched_book book; /* of lockstepd, in this life */
    struct cam_ask *asks;       /* owned */
    uint64_t asked;             /* conversations */
    unsigned split;             /* this bridge of a site + 1 fails when it showed a lost drain */
    uint64_t verdicts;          /* alarms of that kind that are open, by the rows: bits */
    lks_ms good;                /* since when nothing goes wrong between lockstepd and bridges */
    uint64_t silences, unheard, reboots, denied, undone, reserved; /* of all that happened */
};

/* campaign_bridge.c */
void cam_bridge_draw(struct cam *w);
void cam_bridge_fini(struct cam *w);
void cam_bridge_plan(struct cam *w, lks_ms storm);
void cam_bridge_calm(struct cam *w);
void cam_bridge_event(struct cam *w, const struct lks_message *msg);
bool cam_bridge_percent(struct cam *w, unsigned percent);
lks_ms cam_bridge_within(struct cam *w, lks_ms low, lks_ms high);
void cam_bridge_later(struct cam *w, enum cam_bridge_event event, uint32_t i, lks_ms in);
struct cam_bridge_node *cam_bridge_node(const struct cam *w, const struct cam_machine *m);
bool cam_bridge_silent(const struct cam *w, unsigned site, unsigned turn);
bool cam_bridge_gone(const struct cam *w); /* all of one site */
/* A request at a bridge: the status of the answer, and its body. `seen`: of the node. */
int cam_bridge_take(struct cam *w, unsigned site, unsigned turn, lks_ms began,
                    const struct lks_http_request *request, struct lks_buf *body,
                    struct cam_seen *seen);
bool cam_bridge_read(struct cam *w, unsigned site, struct cam_bridge *b);
bool cam_bridge_shows(const struct cam_machine *m, const struct cam_seen *seen);
/* An answer with a reading came; and a conversation ended with that one. */
void cam_bridge_told(struct cam *w, const struct cam_machine *m, const struct cam_seen *seen);
void cam_bridge_heard(struct cam *w, struct cam_machine *m, const struct cam_seen *seen);
void cam_bridge_command(struct cam *w, const struct cam_command *c);
void cam_bridge_flash(struct cam *w, const struct cam_flash *f);

/* campaign_site.c */
void cam_site_list(const struct cam *w, unsigned site, struct lks_bridge_reading *out);
int cam_site_take(struct cam *w, unsigned site, struct lks_bridge_request *r, struct lks_buf *body);
void cam_site_event(struct cam *w, const struct lks_message *msg);
void cam_site_plan(struct cam *w, lks_ms storm);
void cam_site_check(struct cam *w);
void cam_site_end(struct cam *w);
const char *cam_site_rest(const struct cam *w);
void cam_site_alarm(struct cam *w, const struct lks_record *r);
void cam_site_reserves(struct cam *w, const struct lks_sched_reservation *wish);
struct lks_bridge_reservation cam_site_reservation(const struct cam_reserved *r);
void cam_site_say(struct lks_buf *body, const char *error);

/* campaign_asks.c */
void cam_asks_begin(struct cam *w); /* lockstepd started */
void cam_asks_forget(struct cam *w);
void cam_asks_silence(struct cam *w); /* before changes are looked at */
void cam_asks_go(struct cam *w, const struct lks_message *msg);

#endif
