/* What the commands of `change` share. */
#ifndef LKS_CLI_CMD_CHANGE_H
#define LKS_CLI_CMD_CHANGE_H

#include "cli/shared/listing.h"

/* The progress of a wave or a change, as a form: `12/20 done, 3 in progress, 1 fenced: why`. */
#define LKS_CHANGE_SOME(member, word) "[{members." member "?}, {members." member "} " word "]"
#define LKS_CHANGE_UNDER_WAY          "members.waiting+members.asked+members.reading"
#define LKS_CHANGE_PROGRESS                                                                        \
    "{members.done#}/{members#} done"                                                              \
    "[{" LKS_CHANGE_UNDER_WAY "?}, {" LKS_CHANGE_UNDER_WAY                                         \
    "#} in progress]" LKS_CHANGE_SOME("reverted", "reverted") LKS_CHANGE_SOME("fenced", "fenced")  \
        LKS_CHANGE_SOME("needs_hands", "needing manual intervention")                              \
            LKS_CHANGE_SOME("unknown", "unknown")                                                  \
                LKS_CHANGE_SOME("skipped", "skipped") "[{state!passed}: {text}]"

/* The state of a wave, as alternatives of a form: a wave that was in progress when its change was
 * rolled back or aborted has ended, though its own record does not move. */
#define LKS_CHANGE_WAVE_LEFT(wave, change) "{state=" wave "}{^state=" change "}" change "|"
#define LKS_CHANGE_WAVE_STATE                                                                      \
    LKS_CHANGE_WAVE_LEFT("begun", "rolling back")                                                  \
    LKS_CHANGE_WAVE_LEFT("begun", "rolled back")                                                   \
    LKS_CHANGE_WAVE_LEFT("begun", "aborted")                                                       \
    LKS_CHANGE_WAVE_LEFT("soaks", "rolling back")                                                  \
    LKS_CHANGE_WAVE_LEFT("soaks", "rolled back")                                                   \
    LKS_CHANGE_WAVE_LEFT("soaks", "aborted") "{state}"

/* The plan of an answer, for people: notes, waves, steps there and back. */
enum lks_code lks_change_print_plan(struct lks_cli *cli, const struct lks_doc *change,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* A forecast is not as exact as its milliseconds: "90 s", "45 min", "6.5 h". `out` is returned. */
const char *lks_change_rough_text(lks_ms ms, char out[LKS_SPAN_TEXT_SIZE]);

/* Follow a change until it is over or halted; the answer is no where it did not end well. */
enum lks_code lks_change_follow(struct lks_cli *cli, const struct lks_args *args, const char *id,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
