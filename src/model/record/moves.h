/*
 * The state machines that records move: which transitions of a change, a wave, a member, an update
 * of firmware and a command are legal (model/record/machine.h). The writer of a record asserts it;
 * core/fold/transition.h says which transition a record makes.
 */
#ifndef LKS_MODEL_MOVES_H
#define LKS_MODEL_MOVES_H

#include "model/record/machine.h"
#include "model/record/record_words.h"

/* How far an update of firmware is. Its outcomes follow in the order of enum lks_bmc_outcome, of
 * which OPEN is the first two here. */
enum lks_flash_stage {
    LKS_FLASH_ASKED, /* nothing was sent to the endpoint */
    LKS_FLASH_SENT,  /* something may have been sent: a checkpoint is kept */
    LKS_FLASH_ENDED, /* the first of the outcomes */
    LKS_FLASH_RESOLVED = LKS_FLASH_ENDED + LKS_BMC_OUTCOME_COUNT - 1,
    LKS_FLASH_STAGE_COUNT
};
enum lks_flash_stage lks_moves_flash_stage(enum lks_bmc_outcome outcome, bool sent, bool resolved);

/* How far a command is: OPEN, then the outcomes in the order of enum lks_outcome. */
enum lks_command_stage {
    LKS_COMMAND_OPEN,
    LKS_COMMAND_ENDED, /* the first of the outcomes */
    LKS_COMMAND_STAGE_COUNT = LKS_COMMAND_ENDED + LKS_OUTCOME_COUNT
};
enum lks_command_stage lks_moves_command_stage(bool ended, enum lks_outcome outcome);

extern const struct lks_machine lks_moves_change, lks_moves_wave, lks_moves_member, lks_moves_flash,
    lks_moves_command;

#endif
