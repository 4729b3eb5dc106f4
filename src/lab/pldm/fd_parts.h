/* What the files of the firmware device share. */
#ifndef LKS_PLDM_FD_PARTS_H
#define LKS_PLDM_FD_PARTS_H

#include "lab/pldm/fd.h"
#include "lab/pldm/memory.h"

struct lks_fd {
    struct lks_fd_options o;
    uint8_t tid;

    enum lks_pldm_state state, previous;
    uint8_t reason;
    uint8_t aux, aux_status;
    uint8_t peer;     /* the update agent, when not idle */
    lks_ms silent_at; /* FD_T1 runs out; counts while the agent has the word */

    uint32_t max_transfer;
    bool table_begun;
    bool wants_data;  /* package data is still to come */
    uint64_t passed;  /* bit n: component n was announced */
    uint64_t applied; /* bit n: component n was applied in this update */
    struct lks_fd_update update;
    char version[UINT8_MAX];
    uint32_t offset;
    unsigned odd_answers; /* in a row that brought no data */

    lks_ms work_due; /* LKS_FD_NEVER: nothing is being worked at */
    struct lks_fd_result work;

    uint16_t asking; /* command of the question that is not answered; 0: none */
    uint8_t asked_instance, next_instance;
    uint32_t asked_length;
    lks_ms again_at;
    struct lks_buf question;
    bool question_ready;

    struct lks_buf entries; /* room for GetFirmwareParameters */
    struct lks_buf reply;
    uint8_t reply_peer;
    uint8_t reply_instance;
    bool reply_ready;
    struct lks_pldm_memory memory;
};

/* Into another state; work and questions of the last one are over. */
void lks_fd_go(struct lks_fd *fd, enum lks_pldm_state state, lks_ms now);

/* Ask the update agent, with the next instance number. The head of `m` is filled in. */
void lks_fd_ask(struct lks_fd *fd, lks_ms now, struct lks_pldm_message *m);

/* The next piece of the image, or TransferComplete behind the last. */
void lks_fd_ask_data(struct lks_fd *fd, lks_ms now);
void lks_fd_ask_package_data(struct lks_fd *fd, lks_ms now, uint32_t handle, uint8_t operation);

/* Work is done: tell its result, or be idle when it was activation. */
void lks_fd_work_done(struct lks_fd *fd, lks_ms now);

/* An answer to the question that is being asked. */
void lks_fd_hear(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m);

/* Carry a request out and fill in the answer's fields. */
uint8_t lks_fd_carry_out(struct lks_fd *fd, lks_ms now, const struct lks_pldm_message *m,
                         struct lks_pldm_message *answer);

/* May this command from this peer be carried out in the state it is in? */
uint8_t lks_fd_permit(const struct lks_fd *fd, uint8_t peer, uint16_t command);

/* True for commands that must not be carried out twice. */
bool lks_fd_changes(uint16_t command);

static inline bool lks_fd_at_component(const struct lks_fd *fd)
{
    return fd->state >= LKS_PLDM_DOWNLOAD && fd->state <= LKS_PLDM_APPLY;
}

#endif
