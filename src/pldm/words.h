/* Numbers of the standard and their names. */
#ifndef LKS_PLDM_WORDS_H
#define LKS_PLDM_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct lks_pldm_word {
    uint32_t value;
    const char *text;
};

/* The name of a value; `otherwise` where it has none. */
const char *lks_words_text(const struct lks_pldm_word *words, size_t count, uint32_t value,
                           const char *otherwise);

#endif
