/*
 * The text of a GRUB script as commands of words, with the variables that are put into them.
 *
 * A value that only a boot can tell is unknown, and so is every word it is part of.
 */
#ifndef LKS_CODEC_GRUB_TEXT_H
#define LKS_CODEC_GRUB_TEXT_H

#include "codec/machine/bootcfg.h"

struct lks_grub_word {
    struct lks_str text; /* unknown parts left out */
    bool unknown;        /* some of it is only known at boot */
    size_t known_from;   /* the end of its last unknown part */
};

struct lks_grub_var {
    struct lks_str name;
    struct lks_grub_word value;
};

struct lks_grub_text {
    struct lks_str rest;
    struct lks_arena *arena;                        /* the caller's; words live in it */
    struct lks_grub_word words[LKS_BOOT_WORDS_MAX]; /* of the present command */
    size_t count;
    struct lks_grub_var *vars; /* LKS_BOOT_VARS_MAX */
    size_t var_count;
};

/* A character that names of variables have. */
bool lks_grub_is_name(char c);

struct lks_grub_word lks_grub_value(const struct lks_grub_text *t, struct lks_str name);

enum lks_code lks_grub_assign(struct lks_grub_text *t, struct lks_str name,
                              struct lks_grub_word value, struct lks_err *err) LKS_MUST_CHECK;

/* Read the words up to the end of the line, a ';', or a word that ends a command by itself. Words
 * past the limit are read and forgotten. None at the end of the script. */
enum lks_code lks_grub_read(struct lks_grub_text *t, struct lks_err *err) LKS_MUST_CHECK;

#endif
