/* What a firmware device asks its update agent, and what it makes of the answers. */
#include "lab/pldm/fd_parts.h"

/* Answers in a row that bring nothing before a transfer is given up. */
enum { ODD_ANSWERS_MAX = 100 };

static void ask_complete(struct lks_fd *fd, lks_ms now, uint16_t command, uint8_t result,
                         uint16_t methods)
{
    bool good = result == LKS_PLDM_RESULT_OK ||
                (command == LKS_PLDM_APPLY_COMPLETE && result == LKS_PLDM_APPLY_OK_OTHER_METHOD);
    struct lks_pldm_message m = {.command = command};
    m.body.complete.result = result;
    m.body.complete.methods = methods;
    fd->work.result = result;
    fd->aux = good ? LKS_PLDM_AUX_SUCCESS : LKS_PLDM_AUX_FAILED;
    fd->aux_status = good ? 0 : LKS_PLDM_RESULT_GENERIC;
    lks_fd_ask(fd, now, &m);
}

/*
 * Never less than the baseline: the reference update agent refuses a shorter request even for the
 * last piece, and pads what lies behind the end with zeroes. libpldm's device asks for exactly what
 * is left; `exact_last_piece` does the same.
 */
void lks_fd_ask_data(struct lks_fd *fd, lks_ms now)
{
    uint32_t left = fd->update.size - fd->offset;
    struct lks_pldm_message m = {.command = LKS_PLDM_REQUEST_FIRMWARE_DATA};
    uint32_t length = left < fd->max_transfer ? left : fd->max_transfer;
    if (length < LKS_PLDM_BASELINE && !fd->o.exact_last_piece)
        length = LKS_PLDM_BASELINE;
    if (left == 0) {
        ask_complete(fd, now, LKS_PLDM_TRANSFER_COMPLETE, LKS_PLDM_RESULT_OK, 0);
        return;
    }
    m.body.data_ask.offset = fd->offset;
    m.body.data_ask.length = fd->asked_length = length;
    lks_fd_ask(fd, now, &m);
}

void lks_fd_ask_package_data(struct lks_fd *fd, lks_ms now, uint32_t handle, uint8_t operation)
{
    struct lks_pldm_message m = {.command = LKS_PLDM_GET_PACKAGE_DATA};
    m.body.part_ask.handle = handle;
    m.body.part_ask.operation = operation;
    lks_fd_ask(fd, now, &m);
}

void lks_fd_work_done(struct lks_fd *fd, lks_ms now)
{
    if (fd->state == LKS_PLDM_VERIFY) {
        ask_complete(fd, now, LKS_PLDM_VERIFY_COMPLETE, fd->work.result, 0);
    } else if (fd->state == LKS_PLDM_APPLY) {
        ask_complete(fd, now, LKS_PLDM_APPLY_COMPLETE, fd->work.result, fd->work.methods);
    } else if (fd->state == LKS_PLDM_ACTIVATE) {
        lks_fd_go(fd, LKS_PLDM_IDLE, now);
        fd->reason = LKS_PLDM_BY_ACTIVATION;
        if (fd->o.ops->activated != NULL)
            fd->o.ops->activated(fd->o.ctx);
    }
}

static void begin_work(struct lks_fd *fd, lks_ms now, enum lks_pldm_state state)
{
    lks_fd_go(fd, state, now);
    fd->work = state == LKS_PLDM_VERIFY ? fd->o.ops->verify(fd->o.ctx, &fd->update)
                                        : fd->o.ops->apply(fd->o.ctx, &fd->update);
    fd->work_due = now + fd->work.takes;
}

/* Ask the same again after FD_T2: the peer is there, and not ready. */
static void ask_later(struct lks_fd *fd, lks_ms now)
{
    fd->again_at = now + fd->o.timers.t2;
}

/* The agent refuses what it is asked. It alone can end this, with a cancel. */
static void stop_asking(struct lks_fd *fd)
{
    fd->asking = 0;
    fd->aux = LKS_PLDM_AUX_FAILED;
    fd->aux_status = LKS_PLDM_RESULT_GENERIC;
}

static bool wait_and_see(uint8_t code)
{
    return code == LKS_PLDM_CC_NOT_READY || code == LKS_PLDM_CC_RETRY_DATA ||
           code == LKS_PLDM_CC_BUSY;
}

/* A piece came. More than was asked for, or less than is left, is no answer to the question. */
static void take_data(struct lks_fd *fd, lks_ms now, struct lks_str data)
{
    uint32_t left = fd->update.size - fd->offset;
    uint32_t want = left < fd->asked_length ? left : fd->asked_length;
    if (data.len != fd->asked_length && data.len != want) {
        fd->odd_answers++;
        ask_later(fd, now);
        return;
    }
    fd->odd_answers = 0;
    uint8_t result =
        fd->o.ops->write(fd->o.ctx, &fd->update, fd->offset, (struct lks_str){data.ptr, want});
    if (result != LKS_PLDM_RESULT_OK) {
        ask_complete(fd, now, LKS_PLDM_TRANSFER_COMPLETE, result, 0);
        return;
    }
    fd->offset += want;
    lks_fd_ask_data(fd, now);
}

static void hear_data(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->code == LKS_PLDM_CC_SUCCESS) {
        take_data(fd, now, m->body.data);
    } else if (m->code == LKS_PLDM_CC_CANCEL_PENDING) {
        fd->asking = 0;
    } else if (wait_and_see(m->code)) {
        fd->odd_answers++;
        ask_later(fd, now);
    } else {
        ask_complete(fd, now, LKS_PLDM_TRANSFER_COMPLETE, LKS_PLDM_TRANSFER_ABORTED, 0);
    }
    if (fd->odd_answers > ODD_ANSWERS_MAX) {
        fd->odd_answers = 0;
        ask_complete(fd, now, LKS_PLDM_TRANSFER_COMPLETE, LKS_PLDM_TRANSFER_ABORTED, 0);
    }
}

static void hear_complete(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m)
{
    bool good = fd->aux == LKS_PLDM_AUX_SUCCESS;
    if (wait_and_see(m->code)) {
        ask_later(fd, now);
    } else if (m->code != LKS_PLDM_CC_SUCCESS) {
        stop_asking(fd);
    } else if (!good) {
        fd->asking = 0; /* stays where it failed until it is cancelled */
    } else if (fd->state == LKS_PLDM_DOWNLOAD) {
        begin_work(fd, now, LKS_PLDM_VERIFY);
    } else if (fd->state == LKS_PLDM_VERIFY) {
        begin_work(fd, now, LKS_PLDM_APPLY);
    } else {
        fd->applied |= UINT64_C(1) << fd->update.component;
        lks_fd_go(fd, LKS_PLDM_READY, now);
    }
}

static void hear_package_data(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m)
{
    bool more = m->code == LKS_PLDM_CC_SUCCESS && (m->body.part.flag & LKS_PLDM_PART_END) == 0;
    if (wait_and_see(m->code)) {
        ask_later(fd, now);
        return;
    }
    fd->asking = 0;
    fd->wants_data = more;
    if (fd->o.package_data != NULL && m->code == LKS_PLDM_CC_SUCCESS) {
        if (m->body.part.data.len > 0)
            fd->o.package_data(fd->o.ctx, m->body.part.data);
        if (!more)
            fd->o.package_data(fd->o.ctx, LKS_STR(""));
    }
    if (more)
        lks_fd_ask_package_data(fd, now, m->body.part.next, LKS_PLDM_NEXT_PART);
}

void lks_fd_hear(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m)
{
    if (m->command == LKS_PLDM_REQUEST_FIRMWARE_DATA)
        hear_data(fd, now, m);
    else if (m->command == LKS_PLDM_GET_PACKAGE_DATA)
        hear_package_data(fd, now, m);
    else
        hear_complete(fd, now, m);
}
