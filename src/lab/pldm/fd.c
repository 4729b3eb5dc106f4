#include "lab/pldm/fd.h"

#include "lab/pldm/fd_parts.h"

#include <stdlib.h>

enum {
    T1 = 120 * 1000,
    T2 = 1000,
    TRANSFER = 4096,
    DESCRIPTORS_MAX = 32 * 1024,
};

static void forget_talk(struct lks_fd *fd)
{
    fd->state = fd->previous = LKS_PLDM_IDLE;
    fd->reason = LKS_PLDM_BY_START;
    fd->aux = LKS_PLDM_AUX_NONE;
    fd->aux_status = 0;
    fd->passed = fd->applied = 0;
    fd->work_due = LKS_FD_NEVER;
    fd->asking = 0;
    fd->question_ready = fd->reply_ready = false;
    fd->memory = (struct lks_pldm_memory){0};
}

static enum lks_code check(const struct lks_fd_options *o, struct lks_err *err)
{
    if (o->component_count > LKS_FD_COMPONENTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a firmware device has %d components at the most",
                        LKS_FD_COMPONENTS_MAX);
    if (o->descriptors.len > DESCRIPTORS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "descriptors of %zu bytes (%d at the most)",
                        o->descriptors.len, DESCRIPTORS_MAX);
    if (o->metadata.len > UINT16_MAX)
        return lks_fail(err, LKS_E_LIMIT, "device metadata of %zu bytes (%d at the most)",
                        o->metadata.len, UINT16_MAX);
    if (lks_pldm_message_transfer_check(o->max_transfer, "asked for", err) != LKS_OK)
        return err->code;
    LKS_ASSERT(o->ops != NULL && o->ops->write != NULL && o->ops->verify != NULL &&
               o->ops->apply != NULL && o->ops->activate != NULL);
    return LKS_OK;
}

enum lks_code lks_fd_new(const struct lks_fd_options *options, struct lks_fd **out,
                         struct lks_err *err)
{
    enum lks_code code = check(options, err);
    struct lks_fd *fd = code == LKS_OK ? calloc(1, sizeof(*fd)) : NULL;
    if (fd == NULL)
        return code != LKS_OK ? code : lks_fail_nomem(err);
    fd->o = *options;
    fd->tid = options->tid;
    fd->o.timers.t1 = fd->o.timers.t1 == 0 ? T1 : fd->o.timers.t1;
    fd->o.timers.t2 = fd->o.timers.t2 == 0 ? T2 : fd->o.timers.t2;
    fd->o.max_transfer = fd->o.max_transfer == 0 ? TRANSFER : fd->o.max_transfer;
    lks_buf_init(&fd->question, LKS_PLDM_MESSAGE_MAX);
    lks_buf_init(&fd->reply, LKS_PLDM_MESSAGE_MAX);
    lks_buf_init(&fd->entries, LKS_PLDM_MESSAGE_MAX);
    fd->next_instance = 1;
    forget_talk(fd);
    *out = fd;
    return LKS_OK;
}

void lks_fd_free(struct lks_fd *fd)
{
    if (fd == NULL)
        return;
    lks_buf_fini_all((struct lks_buf *const[]){&fd->question, &fd->reply, &fd->entries, NULL});
    free(fd);
}

void lks_fd_reset(struct lks_fd *fd)
{
    forget_talk(fd);
}

enum lks_pldm_state lks_fd_state(const struct lks_fd *fd)
{
    return fd->state;
}

uint32_t lks_fd_offset(const struct lks_fd *fd)
{
    return lks_fd_at_component(fd) ? fd->offset : 0;
}

void lks_fd_go(struct lks_fd *fd, enum lks_pldm_state state, lks_ms now)
{
    bool works = state >= LKS_PLDM_DOWNLOAD;
    fd->previous = fd->state;
    fd->state = state;
    fd->aux = works ? LKS_PLDM_AUX_RUNNING : LKS_PLDM_AUX_NONE;
    fd->aux_status = 0;
    fd->work_due = LKS_FD_NEVER;
    fd->asking = 0;
    fd->question_ready = false;
    fd->silent_at = now + fd->o.timers.t1;
}

void lks_fd_ask(struct lks_fd *fd, lks_ms now, struct lks_pldm_message *m)
{
    fd->question_ready = lks_pldm_message_ask(m, &fd->next_instance, &fd->question);
    fd->asking = m->command;
    fd->asked_instance = m->instance;
    fd->again_at = now + fd->o.timers.t2;
}

/* Does silence of the update agent count? Not while the device itself is at work. */
static bool counts_silence(const struct lks_fd *fd)
{
    return fd->state != LKS_PLDM_IDLE && fd->state != LKS_PLDM_ACTIVATE &&
           fd->work_due == LKS_FD_NEVER;
}

static void give_up(struct lks_fd *fd, lks_ms now)
{
    unsigned state = fd->state;
    if (lks_fd_at_component(fd) && fd->o.ops->cancel != NULL)
        (void)fd->o.ops->cancel(fd->o.ctx, &fd->update);
    lks_fd_go(fd, LKS_PLDM_IDLE, now);
    fd->reason = (uint8_t)(LKS_PLDM_BY_LEARN_TIMEOUT + (state - LKS_PLDM_LEARN));
}

lks_ms lks_fd_next(const struct lks_fd *fd)
{
    lks_ms next = fd->work_due;
    if (fd->asking != 0 && fd->again_at < next)
        next = fd->again_at;
    if (counts_silence(fd) && fd->silent_at < next)
        next = fd->silent_at;
    return next;
}

void lks_fd_tick(struct lks_fd *fd, lks_ms now)
{
    if (fd->work_due != LKS_FD_NEVER && now >= fd->work_due) {
        fd->work_due = LKS_FD_NEVER;
        fd->silent_at = now + fd->o.timers.t1;
        lks_fd_work_done(fd, now);
    }
    if (counts_silence(fd) && now >= fd->silent_at)
        give_up(fd, now);
    if (fd->asking != 0 && now >= fd->again_at) {
        fd->question_ready = fd->question.failed == LKS_OK;
        fd->again_at = now + fd->o.timers.t2;
    }
}

bool lks_fd_send(struct lks_fd *fd, uint8_t *peer, struct lks_str *bytes)
{
    if (fd->reply_ready) {
        fd->reply_ready = false;
        *peer = fd->reply_peer;
        *bytes = lks_buf_view(&fd->reply);
        return true;
    }
    if (!fd->question_ready)
        return false;
    fd->question_ready = false;
    *peer = fd->peer;
    *bytes = lks_buf_view(&fd->question);
    return true;
}

/* A request that came before is not carried out again. The last answer is repeated; an older one
 * was heard, since its requester has asked something else after it. */
static bool came_before(struct lks_fd *fd, lks_ms now, uint8_t peer, struct lks_str bytes,
                        const struct lks_pldm_message *m)
{
    bool again = lks_pldm_memory_note(&fd->memory, now, peer, m->instance, bytes);
    if (!again || !lks_fd_changes(m->command))
        return false;
    fd->reply_ready =
        fd->reply_ready || (fd->reply_instance == m->instance && fd->reply_peer == peer &&
                            fd->reply.len > LKS_PLDM_HEAD && bytes.ptr[2] == fd->reply.ptr[2]);
    return true;
}

static void answer(struct lks_fd *fd, uint8_t peer, const struct lks_pldm_message *m)
{
    lks_buf_truncate(&fd->reply, 0);
    fd->reply.failed = LKS_OK;
    lks_pldm_message_encode(m, &fd->reply);
    fd->reply_peer = peer;
    fd->reply_instance = m->instance;
    fd->reply_ready = fd->reply.failed == LKS_OK;
}

static void hear_request(struct lks_fd *fd, lks_ms now, uint8_t peer, struct lks_str bytes)
{
    struct lks_pldm_message m, reply;
    if (!lks_pldm_message_head(bytes, &m) || m.datagram || came_before(fd, now, peer, bytes, &m))
        return;
    reply = (struct lks_pldm_message){.command = m.command, .answer = true, .instance = m.instance};
    reply.code = lks_fd_permit(fd, peer, m.command);
    if (reply.code == LKS_PLDM_CC_SUCCESS)
        reply.code = (uint8_t)lks_pldm_message_decode(bytes, &m);
    if (peer == fd->peer)
        fd->silent_at = now + fd->o.timers.t1;
    if (reply.code == LKS_PLDM_CC_SUCCESS) {
        if (m.command == LKS_PLDM_REQUEST_UPDATE)
            fd->peer = peer;
        reply.code = lks_fd_carry_out(fd, now, &m, &reply);
    }
    answer(fd, peer, &reply);
}

void lks_fd_receive(struct lks_fd *fd, lks_ms now, uint8_t peer, struct lks_str bytes)
{
    struct lks_pldm_message m;
    lks_fd_tick(fd, now);
    if (!lks_pldm_message_head(bytes, &m))
        return;
    if (!m.answer) {
        hear_request(fd, now, peer, bytes);
        return;
    }
    if (fd->asking == 0 || peer != fd->peer || m.command != fd->asking ||
        m.instance != fd->asked_instance ||
        lks_pldm_message_decode(bytes, &m) != LKS_PLDM_CC_SUCCESS)
        return;
    fd->silent_at = now + fd->o.timers.t1;
    fd->question_ready = false;
    lks_fd_hear(fd, now, &m);
}
