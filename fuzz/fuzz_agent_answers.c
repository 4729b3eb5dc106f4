/* Any bytes as an answer of the controller: what is accepted stays within its limits, and whom a
 * node belongs to reads back from what is written of it. */
#include "agent/loop/answers.h"
#include "trust/x509.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_controller(const struct lks_controller *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(LKS_ANSWER_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(LKS_ANSWER_MAX);
    struct lks_controller back = {0};
    struct lks_err err = {0};
    LKS_ASSERT(strchr(c->node, '/') == NULL && c->node[0] != '\0' && c->node[0] != '.');
    LKS_ASSERT(c->heartbeat >= LKS_HEARTBEAT_MIN_MS && c->heartbeat <= LKS_HEARTBEAT_MAX_MS);
    LKS_ASSERT(strncmp(c->agents, "https://", 8) == 0);
    lks_answer_controller_json(c, &once);
    LKS_ASSERT(lks_answer_controller_parse(lks_buf_view(&once), &back, &err) == LKS_OK);
    lks_answer_controller_json(&back, &twice);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
}

static void try_enroll(struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = {0};
    struct lks_controller c = {0};
    struct lks_err err = {0};
    if (lks_answer_controller_parse(text, &c, &err) == LKS_OK)
        check_controller(&c);
    if (lks_answer_enroll(text, &c, &certificate, &ca, &err) == LKS_OK)
        LKS_ASSERT(certificate.len > 0 && ca.len > 0 && certificate.len <= LKS_X509_PEM_MAX);
}

static void try_mail(struct lks_str text)
{
    LKS_CLEANUP(lks_answer_mail_fini) struct lks_mail mail = {0};
    struct lks_err err = {0};
    if (lks_answer_mail(text, &mail, &err) != LKS_OK) {
        LKS_ASSERT(mail.count == 0 && mail.docs.first == NULL);
        return;
    }
    size_t bytes = 0;
    for (size_t i = 0; i < mail.count; i++)
        bytes += mail.commands[i].len;
    LKS_ASSERT(mail.count <= LKS_MAIL_COMMANDS_MAX && bytes <= text.len);
    LKS_ASSERT(strchr(mail.load, '/') == NULL && mail.load[0] != '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    struct lks_beat_answer beat = {0};
    struct lks_err err = {0};
    char detail[LKS_ANSWER_DETAIL_SIZE];
    if (lks_answer_beat(text, &beat, &err) == LKS_OK)
        LKS_ASSERT(lks_str_printable(lks_str_from(beat.head)) &&
                   beat.heartbeat <= LKS_HEARTBEAT_MAX_MS &&
                   (beat.heartbeat == 0 || beat.heartbeat >= LKS_HEARTBEAT_MIN_MS));
    if (lks_answer_renew(text, &certificate, &err) == LKS_OK)
        LKS_ASSERT(certificate.len > 0 && certificate.len <= text.len);
    lks_answer_problem(text, detail);
    LKS_ASSERT(lks_str_printable(lks_str_from(detail)));
    static struct lks_node_stack stack;
    if (lks_answer_stack(text, &stack, &err) == LKS_OK)
        LKS_ASSERT(lks_str_printable(lks_str_from(stack.why)));
    try_enroll(text);
    try_mail(text);
    return 0;
}
