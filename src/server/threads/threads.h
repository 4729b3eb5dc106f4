/* The daemon's threads and the messages between them. For the files that are these threads. */
#ifndef LKS_SERVER_THREADS_H
#define LKS_SERVER_THREADS_H

#include "drivers/http/httpd.h"
#include "drivers/store/seen.h"
#include "engine/lease.h"
#include "model/facts/facts.h"
#include "server/api/events.h"
#include "server/auth/audit.h"
#include "server/auth/authz.h"
#include "server/auth/decision_writer.h"
#include "server/auth/oidc.h"
#include "server/base/daemon_parts.h"
#include "server/base/intake.h"
#include "server/call/call.h"
#include "server/call/fair_queue.h"
#include "server/threads/client_thread.h"

#include <stdatomic.h>

#define LKS_BEATS_MAX    256
#define LKS_SERVER_DAY_S 86400

enum lks_mail_kind {
    LKS_MAIL_CALL,     /* struct lks_call: server to state, perhaps to store, and back; or client to
                          state, and back */
    LKS_MAIL_BEATS,    /* struct lks_beats: server to state */
    LKS_MAIL_BATCH,    /* struct lks_batch: state to store, durable back, then to server */
    LKS_MAIL_STALLED,  /* struct lks_stalled: store to state */
    LKS_MAIL_SNAPSHOT, /* struct lks_snapshot: state to store */
    LKS_MAIL_FOLLOW,   /* struct lks_follow: state to store, once */
    LKS_MAIL_NEWS,     /* struct lks_news: store to state */
    LKS_MAIL_POST,     /* struct lks_post: state to server */
    LKS_MAIL_FLASH,    /* struct lks_flash_mail: state to client */
    LKS_MAIL_AUDITED,  /* struct lks_audited_mail: server to state */
    LKS_MAIL_RELOAD,   /* to state: the configuration is another */
    LKS_MAIL_STOP,     /* to state, to store, to client */
    LKS_MAIL_STOPPED,  /* state to server */
};

struct lks_beats {
    struct lks_mail mail;
    size_t count;
    struct {
        uint32_t node;
        struct lks_beat beat;
    } items[LKS_BEATS_MAX];
};

struct lks_audited_mail {
    struct lks_mail mail;
    struct lks_rec_audited record;
};

struct lks_batch {
    struct lks_mail mail;
    struct lks_engine_batch batch;
    lks_ms handed; /* mono */
    uint64_t us;   /* the store's own time */
    uint64_t whole_us;
    char head[LKS_HEAD_TEXT_MAX]; /* for the server thread: the newest one; empty: as before */
    lks_ms heartbeat;             /* the same: what agents are told */
};

struct lks_stalled {
    struct lks_mail mail;
    struct lks_err why;
};

struct lks_snapshot {
    struct lks_mail mail;
    uint64_t seq;
    char path[4096]; /* a file of its own: the next one may be written before this one is kept */
};

/* Begin to follow from here. */
struct lks_follow {
    struct lks_mail mail;
    struct lks_engine_place place;
};

/* What another controller wrote. */
struct lks_news {
    struct lks_mail mail;
    struct lks_lease_news lease; /* its clock is CLOCK_BOOTTIME */
};

/* What the answer to a heartbeat of a node has, as bits. */
enum { LKS_TOLD_MAIL = 1, LKS_TOLD_CHANGING = 2, LKS_TOLD_BARRED = 4, LKS_TOLD_ALL = 7 };

/* Which agents have something to fetch, and which nodes are changed, where that is new. */
struct lks_post {
    struct lks_mail mail;
    size_t count;
    struct {
        uint32_t node;
        uint8_t told;
    } items[LKS_BEATS_MAX];
};

/* A message without content. */
struct lks_mail *lks_mail_new(enum lks_mail_kind kind); /* dies when memory runs out */
/* Release a message of any kind. */
void lks_mail_drop(struct lks_mail *mail);

/* Store thread ------------------------------------------------------------------------------ */

struct lks_lead { /* server/threads/lead.h */
    struct lks_lease_controller lease;
    uv_timer_t timer;
};

struct lks_seen_noting { /* server/threads/seen.h */
    struct lks_seen last;
    uint64_t written; /* the row in the file, */
    lks_ms written_at;
    uv_timer_t timer;
    bool failed; /* and that was said */
};

struct lks_store_thread {
    struct lks_daemon *daemon;
    uv_thread_t thread;
    uv_loop_t loop;
    struct lks_mailbox box;
    uv_timer_t retry;
    struct lks_store store;
    struct lks_batch *held; /* could not be written yet */
    bool told;              /* that it is stalled */
    struct lks_lead lead;
    struct lks_seen_noting seen;
};
enum lks_code lks_store_thread_start(struct lks_store_thread *t, struct lks_daemon *daemon,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* State thread ------------------------------------------------------------------------------ */

struct lks_state_thread {
    struct lks_daemon *daemon;
    uv_thread_t thread;
    uv_loop_t loop;
    struct lks_mailbox box;
    uv_timer_t timer;
    uv_signal_t child;
    struct lks_authz authz;
    struct lks_admit_socket *admit; /* gone when the loop ends */
    struct lks_decision_writer decisions;
    struct lks_call *waiting, **waiting_end; /* for rows to become durable, in order */
    struct lks_call *sliced, **sliced_end;   /* to be called again */
    lks_ms mono;                             /* when the clocks were last compared */
    uint8_t *told;                           /* by node: whether the server thread knows of mail */
    uint32_t told_room;
    struct lks_post *post; /* being filled */
    uint64_t head_told;
    pid_t snapshotting; /* 0: no child works on one */
    int snapshot_tells; /* where that child writes why it failed */
    uint64_t snapshot_seq, snapshot_ready;
    lks_ms confirmed;      /* following: CLOCK_BOOTTIME when we last knew all there was */
    uint64_t command_told; /* nodes of commands below this number were looked at for mail */
    uint64_t flash_told;   /* the client thread knows of open updates below this number */
    uint64_t flash_noted;  /* and of those below this one as soon as */
    uint64_t flash_seq;    /* this row is durable; 0: there are none */
    bool stopping;
};
enum lks_code lks_state_thread_start(struct lks_state_thread *t, struct lks_daemon *daemon,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Server thread (the main one) -------------------------------------------------------------- */

struct lks_server {
    struct lks_daemon *daemon;
    uv_loop_t loop;
    struct lks_mailbox box;
    struct lks_httpd *people, *agents, *socket;
    struct lks_httpd *webhook; /* NULL: no API server of Kubernetes asks here */
    uv_signal_t terminate, interrupt, hangup;
    uv_timer_t second; /* constants, keep-alives, the end of a drain */
    uv_prepare_t flush;
    struct lks_beats *beats;                              /* being filled */
    struct lks_httpd_constant *answers[LKS_TOLD_ALL + 1]; /* to heartbeats */
    char head[LKS_HEAD_TEXT_MAX];                         /* in those answers */
    lks_ms heartbeat;                                     /* the same */
    uint8_t *told;                                        /* by node */
    uint32_t told_room;
    struct lks_events events;
    struct lks_audit audit;
    struct lks_depot_server *depot;
    struct lks_intake intake;
    uint64_t calls_open;          /* requests that are not answered yet */
    struct lks_fair_queue reads;  /* of them, those that read the journal, */
    struct lks_fair_queue bodies; /* those of people whose bodies are parsed or prepared, */
    struct lks_fair_queue logins; /* and those that wait for the OpenID provider */
    uint64_t beats_fast;
    uint64_t statuses[6];          /* answers by hundred */
    int64_t certificate_end;       /* of the served one; seconds since 1970, as the next */
    int64_t renew_at;              /* INT64_MAX: it is of another CA */
    lks_ms drain_until;            /* mono; 0: not draining */
    bool stop_sent, state_stopped; /* of the state thread */
};
enum lks_code lks_server_start(struct lks_server *s, struct lks_daemon *daemon,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_server_run(struct lks_server *s);
void lks_server_fini(struct lks_server *s);

/* server_calls.c: requests become calls, calls become answers. */
lks_httpd_handler lks_server_people, lks_server_agents, lks_server_webhook;
lks_httpd_gone lks_server_gone;
void lks_server_answer(struct lks_server *s, struct lks_call *call);
/* On to the state thread; or, where that is about to end, no. */
void lks_server_decide(struct lks_server *s, struct lks_call *call);
void lks_server_constants(struct lks_server *s);
void lks_server_flush(struct lks_server *s);

#endif
