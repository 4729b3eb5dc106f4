/* What the files of this room share. */
#ifndef LKS_BRIDGE_SLURM_PARTS_H
#define LKS_BRIDGE_SLURM_PARTS_H

#include "bridge/slurm/slurm_client.h"
#include "bridge/slurm/slurm_version.h"
#include "bridge/view/since.h"

/* Jobs or reservations of a node, as a list. */
struct lks_slurm_link {
    uint32_t which, next; /* place in `jobs` or `reservations`; of the next link + 1, 0: none */
};

struct lks_slurm {
    uid_t own;
    /* As slurmctld sent them last; NULL: not yet. */
    node_info_msg_t *node_msg;
    job_info_msg_t *job_msg;
    reserve_info_msg_t *reservation_msg;
    struct lks_bridge_since since; /* of these three */
    time_t conf_time;
    uint32_t min_job_age; /* s: so long slurmctld keeps jobs that ended; 0: for good */
    bool conf_known;      /* it was read once */
    bool runs_fresh;      /* jobs came that lks_slurm_runs() has not had */
    bool stale;           /* what is below was not made of the last two yet */
    bool unread;          /* something came that no reading of all nodes has had */
    bool set_back;        /* slurmctld's clock, in the reading of all that is made now */
    /* Made of the last two, with texts in them and in the arena. */
    struct lks_arena arena;
    struct lks_bridge_job *jobs;
    uint32_t job_count;
    struct lks_bridge_reservation *reservations;
    uint32_t reservation_count;
    uint32_t *unplaced; /* places in `jobs` of those whose nodes cannot be read; in the arena */
    uint32_t unplaced_count;
    char warning[LKS_ERR_MSG_MAX]; /* of the first job or reservation whose nodes cannot be read */
    /* Which jobs and which reservations are where: by the id of the node's name. */
    struct lks_intern names;
    struct lks_slurm_place {
        uint32_t jobs, reservations; /* the first link + 1, 0: none */
    } * places;
    uint32_t place_room;
    struct lks_slurm_link *links;
    uint32_t link_count, link_room;
    struct lks_intern users; /* names of users, by the text of their number */
    struct lks_str *user_names;
    uint32_t user_room;
};

/* Jobs and reservations, and the index of jobs, from the messages. */
enum lks_code lks_slurm_index(struct lks_slurm *s, struct lks_err *err) LKS_MUST_CHECK;

/* Add a node to a reading, with what runs on it. */
enum lks_code lks_slurm_index_add(struct lks_slurm *s, const node_info_t *node,
                                  struct lks_bridge_reading *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* A text of Slurm's, which has NULL for an empty one. */
const char *lks_slurm_text(const char *maybe);

/* The name of a user, or the number where there is none. Stays for good. */
struct lks_str lks_slurm_user(struct lks_slurm *s, uid_t uid);

/* The node as it is shown. The text of its state is written to `state`. */
#define LKS_SLURM_STATE_MAX 256
void lks_slurm_convert_node(struct lks_slurm *s, const node_info_t *from,
                            char state[LKS_SLURM_STATE_MAX], struct lks_bridge_node *out);

/* The id of a job, as Slurm prints it; and when its run started, 0: it does not run. */
struct lks_str lks_slurm_convert_id(struct lks_arena *arena, const slurm_job_info_t *from);
lks_ms lks_slurm_convert_started(const slurm_job_info_t *from);

/* NULL arena memory leaves the id empty. */
void lks_slurm_convert_job(struct lks_slurm *s, const slurm_job_info_t *from,
                           struct lks_bridge_job *out);
void lks_slurm_convert_reservation(struct lks_slurm *s, const reserve_info_t *from,
                                   struct lks_bridge_reservation *out);

/* A failure of Slurm, by its number: what libslurm left in errno, or an answer for one job. */
enum lks_code lks_slurm_fail(int number, const char *what, struct lks_err *err) LKS_MUST_CHECK;

#endif
