#include "pldm/words.h"

const char *lks_words_text(const struct lks_pldm_word *words, size_t count, uint32_t value,
                           const char *otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (words[i].value == value)
            return words[i].text;
    return otherwise;
}
