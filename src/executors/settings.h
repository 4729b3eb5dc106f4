/*
 * Settings of a machine: how each is set, how it is read back, what it takes, and how it outlives a
 * boot. The table is lks_settings; its paths are those of a stack (lks_order_settings).
 */
#ifndef LKS_EXECUTORS_SETTINGS_H
#define LKS_EXECUTORS_SETTINGS_H

#include "executors/executor.h"
#include "model/facts/facts.h"
#include "model/tuple/tuple.h"

enum lks_setting_needs {
    LKS_SETTING_NOTHING, /* takes effect at once, also under a job */
    LKS_SETTING_DRAIN,   /* at once; nothing may use the GPU */
    LKS_SETTING_RESET,   /* when the GPU is reset, which is done here */
    LKS_SETTING_BOOT,    /* when the machine boots; until then it is as good as set */
};
extern const char *const lks_setting_needs_words[];

/* `words`: the value, a list as its elements with blanks between; empty: as it is born. */
typedef enum lks_code lks_setting_set_fn(const struct lks_order_item *item, struct lks_str words,
                                         struct lks_err *err);
/* Whether it is so, or will be after the next boot, where readings do not tell. */
typedef enum lks_code lks_setting_placed_fn(const struct lks_order_item *item, struct lks_str words,
                                            bool *out, struct lks_err *err);

struct lks_setting {
    const char *path; /* codec/notation/glob.h */
    enum lks_setting_needs needs;
    bool keeps;          /* lost when the machine boots: set again then, by settings --boot */
    const char *pending; /* RESET: the reading that tells what it will be */
    const char *born;    /* its value if it is never set; NULL: that is not known beforehand, */
    bool lets_go;        /* and yet it can be set so; else it is left as it is */
    const char *how;     /* for people: how it is set and kept */
    lks_setting_set_fn *set;
    lks_setting_placed_fn *placed; /* or NULL */
    const char *takes; /* its values with "|" between, or LKS_SETTING_NUMBER; NULL: others judge */
};
#define LKS_SETTING_NUMBER "a number above 0"
extern const struct lks_setting lks_settings[];
extern const size_t lks_setting_count;

const struct lks_setting *lks_setting_find(struct lks_str path);

/* Whether it can have this value at all, before anything is kept or set. */
enum lks_code lks_setting_check(const struct lks_setting *setting, struct lks_str words,
                                struct lks_err *err) LKS_MUST_CHECK;

/* What the machine says of itself. */
struct lks_machine {
    struct lks_facts facts;
    struct lks_tuple tuple;
};
enum lks_code lks_settings_machine_read(struct lks_machine *out,
                                        struct lks_err *err) LKS_MUST_CHECK;
void lks_settings_machine_fini(struct lks_machine *m);

/* Whether every device that has readings called `name` has this value. `why`, of SIZE bytes, says
 * what the first other one has. Nothing that has it, or one that does not tell, is a no. */
#define LKS_MACHINE_WHY_SIZE 160
bool lks_settings_machine_holds(const struct lks_machine *m, struct lks_str name,
                                struct lks_str words, char why[LKS_MACHINE_WHY_SIZE]);

/* Whether a line has all of these words, each as it is and in their order. */
bool lks_settings_words_hold(struct lks_str line, struct lks_str words);

/* settings_files.c: ways that are files. */
lks_setting_set_fn lks_settings_set_cmdline, lks_settings_set_memory_mode,
    lks_settings_set_upgrades, lks_settings_set_variable;
lks_setting_placed_fn lks_settings_placed_cmdline, lks_settings_placed_memory_mode,
    lks_settings_placed_upgrades;

#endif
