/*
 * What the controller answers, taken apart: pure, and bounded in everything.
 *
 * Members we do not know are left alone, so that a newer controller can say more. What is needed
 * and missing, or of another kind than it should be, is INVALID.
 */
#ifndef LKS_AGENT_ANSWERS_H
#define LKS_AGENT_ANSWERS_H

#include "agent/hooks/node_stack.h"
#include "base/time.h"
#include "codec/format/docs.h"
#include "codec/notation/hostlist.h"
#include "trust/key.h"

#define LKS_ANSWER_MAX         ((size_t)4 << 20)
#define LKS_ANSWER_URL_MAX     1100 /* of all of them */
#define LKS_ANSWER_DETAIL_SIZE 256
#define LKS_MAIL_COMMANDS_MAX  64
#define LKS_MAIL_LOAD_SIZE     64
#define LKS_HEARTBEAT_MIN_MS   100
#define LKS_HEARTBEAT_MAX_MS   600000

/* Whom this node belongs to; kept as controller.json. */
struct lks_controller {
    char node[LKS_HOST_NAME_MAX + 1];
    char journal[LKS_JOURNAL_ID_SIZE];
    struct lks_public_key journal_key, command_key;
    char
        agents[LKS_ANSWER_URL_MAX]; /* https://host:port, of each controller, with blanks between */
    lks_ms heartbeat;
};

enum lks_code lks_answer_controller_parse(struct lks_str json, struct lks_controller *out,
                                          struct lks_err *err) LKS_MUST_CHECK;
void lks_answer_controller_json(const struct lks_controller *c, struct lks_buf *out);

/* The answer to an enrolment: that, and two texts of certificates, which are initialised here. */
enum lks_code lks_answer_enroll(struct lks_str json, struct lks_controller *controller,
                                struct lks_buf *certificate, struct lks_buf *ca,
                                struct lks_err *err) LKS_MUST_CHECK;

struct lks_beat_answer {
    char head[LKS_HEAD_TEXT_MAX + 1]; /* empty: none */
    bool mail;
    bool changing; /* the node is changed, or drains for a change */
    bool barred;   /* no step of a job should start on the node */
    lks_ms time;
    lks_ms heartbeat; /* how often from now on; 0: it does not say */
};
enum lks_code lks_answer_beat(struct lks_str json, struct lks_beat_answer *out,
                              struct lks_err *err) LKS_MUST_CHECK;

struct lks_mail {
    struct lks_docs docs; /* owns the texts */
    bool want_tuple;
    struct lks_str commands[LKS_MAIL_COMMANDS_MAX]; /* signed envelopes, not looked at yet */
    size_t count;
    char mirrors[LKS_ANSWER_URL_MAX]; /* servers of artifacts, with blanks between */
    char load[LKS_MAIL_LOAD_SIZE];    /* the reference load to run; empty: none */
};
/* The caller owes lks_answer_mail_fini(). */
enum lks_code lks_answer_mail(struct lks_str json, struct lks_mail *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_answer_mail_fini(struct lks_mail *mail);

/* What of the environment is not for jobs is left out: agent/hooks/node_stack.h. */
enum lks_code lks_answer_stack(struct lks_str json, struct lks_node_stack *out,
                               struct lks_err *err) LKS_MUST_CHECK;

enum lks_code lks_answer_renew(struct lks_str json, struct lks_buf *certificate,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The detail of a problem (RFC 9457) as one printable line; empty where there is none. */
void lks_answer_problem(struct lks_str json, char out[LKS_ANSWER_DETAIL_SIZE]);

#endif
