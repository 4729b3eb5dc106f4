#include "base/bitset.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

static size_t word_count(const struct lks_bitset *b)
{
    return b->size / WORD_BITS + (b->size % WORD_BITS > 0);
}

static uint64_t mask_of(size_t bit)
{
    return UINT64_C(1) << bit % WORD_BITS;
}

enum lks_code lks_bitset_init(struct lks_bitset *b, size_t size, struct lks_err *err)
{
    struct lks_bitset made = {.size = size};
    if (size > 0) {
        made.words = calloc(word_count(&made), sizeof(made.words[0]));
        if (made.words == NULL)
            return lks_fail_nomem(err);
    }
    *b = made;
    return LKS_OK;
}

void lks_bitset_fini(struct lks_bitset *b)
{
    free(b->words);
    *b = (struct lks_bitset){0};
}

void lks_bitset_set(struct lks_bitset *b, size_t bit)
{
    LKS_ASSERT(bit < b->size);
    b->words[bit / WORD_BITS] |= mask_of(bit);
}

void lks_bitset_clear(struct lks_bitset *b, size_t bit)
{
    LKS_ASSERT(bit < b->size);
    b->words[bit / WORD_BITS] &= ~mask_of(bit);
}

bool lks_bitset_test(const struct lks_bitset *b, size_t bit)
{
    LKS_ASSERT(bit < b->size);
    return (b->words[bit / WORD_BITS] & mask_of(bit)) != 0;
}

void lks_bitset_and(struct lks_bitset *b, const struct lks_bitset *other)
{
    LKS_ASSERT(b->size == other->size);
    for (size_t i = 0; i < word_count(b); i++)
        b->words[i] &= other->words[i];
}

void lks_bitset_or(struct lks_bitset *b, const struct lks_bitset *other)
{
    LKS_ASSERT(b->size == other->size);
    for (size_t i = 0; i < word_count(b); i++)
        b->words[i] |= other->words[i];
}

void lks_bitset_andnot(struct lks_bitset *b, const struct lks_bitset *other)
{
    LKS_ASSERT(b->size == other->size);
    for (size_t i = 0; i < word_count(b); i++)
        b->words[i] &= ~other->words[i];
}

size_t lks_bitset_count(const struct lks_bitset *b)
{
    size_t count = 0;
    for (size_t i = 0; i < word_count(b); i++)
        count += (size_t)__builtin_popcountll(b->words[i]);
    return count;
}

bool lks_bitset_any(const struct lks_bitset *b)
{
    return lks_bitset_next(b, 0) < b->size;
}

bool lks_bitset_equal(const struct lks_bitset *a, const struct lks_bitset *b)
{
    if (a->size != b->size)
        return false;
    return a->size == 0 || memcmp(a->words, b->words, word_count(a) * sizeof(a->words[0])) == 0;
}

size_t lks_bitset_next(const struct lks_bitset *b, size_t from)
{
    if (from >= b->size)
        return b->size;
    size_t at = from / WORD_BITS;
    uint64_t word = b->words[at] & (UINT64_MAX << from % WORD_BITS);
    while (word == 0) {
        if (++at == word_count(b))
            return b->size;
        word = b->words[at];
    }
    return at * WORD_BITS + (size_t)__builtin_ctzll(word);
}
