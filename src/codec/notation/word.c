#include "codec/notation/word.h"

bool lks_word_fits(struct lks_str s)
{
    bool good = s.len > 0 && s.len <= LKS_WORD_MAX && !lks_str_is(s, "-");
    for (size_t i = 0; i < s.len && good; i++)
        good = s.ptr[i] > ' ' && s.ptr[i] < 0x7f;
    return good;
}
