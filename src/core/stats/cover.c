#include "core/stats/cover.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* What is covered, numbered --------------------------------------------------------------------
 *
 * Rows that are equal are one vector, combinations that are equal one item. Both are found in a
 * table of numbers by their hash.
 */

enum {
    FREE = 0,
    TABLE_FIRST = 64,
    SEARCH_STEPS_MAX = 200000, /* then what was found so far has to do */
};

struct table {
    uint32_t *slots; /* number + 1 */
    size_t size, count;
};

/* One way to cover: candidates that have the same vectors. */
struct class
{
    uint32_t best;         /* the candidate that stands for it */
    uint32_t first, count; /* its vectors */
    uint32_t item, items;  /* its items */
    uint64_t hash;
    uint32_t gain;
    bool picked;
};

struct covering {
    const struct lks_cover_question *q;
    struct lks_arena *arena;
    struct lks_err *err;
    uint32_t *vector_of;   /* by row */
    uint32_t *vector_rows; /* by vector: a row of it */
    size_t vectors;
    uint32_t *vector_lists; /* of classes */
    struct class *classes;
    size_t class_count;
    /* For one strength: */
    unsigned strength;
    struct lks_cover_item *items;
    size_t item_count, item_room;
    uint32_t *of_vector; /* by vector: its items, `each` of them */
    size_t each;
    uint32_t *class_items;
    uint32_t *times; /* by item: how many of the picked have it */
    size_t covered;
    uint64_t weight;
    uint32_t *order; /* classes in the order they were picked */
    size_t picked;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

static void *array(struct covering *c, size_t count, size_t size)
{
    return lks_arena_array(c->arena, count + 1, size);
}

static enum lks_code no_memory(struct covering *c)
{
    return lks_arena_fail(c->arena, c->err);
}

/* Room for `count` numbers. */
static bool table_init(struct covering *c, struct table *t, size_t count)
{
    t->size = TABLE_FIRST;
    while (t->size < 2 * count)
        t->size *= 2;
    t->slots = lks_arena_array(c->arena, t->size, sizeof(*t->slots));
    return t->slots != NULL;
}

static bool same_row(const struct covering *c, size_t a, size_t b)
{
    size_t width = c->q->width;
    return memcmp(c->q->rows + a * width, c->q->rows + b * width, width * sizeof(*c->q->rows)) == 0;
}

static uint64_t row_hash(const struct covering *c, size_t row)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < c->q->width; i++)
        hash = mix(hash, c->q->rows[row * c->q->width + i]);
    return hash;
}

static enum lks_code number_vectors(struct covering *c)
{
    struct table t = {0};
    c->vector_of = array(c, c->q->row_count, sizeof(*c->vector_of));
    c->vector_rows = array(c, c->q->row_count, sizeof(*c->vector_rows));
    if (c->vector_of == NULL || c->vector_rows == NULL || !table_init(c, &t, c->q->row_count))
        return no_memory(c);
    for (size_t row = 0; row < c->q->row_count; row++) {
        size_t at = row_hash(c, row) & (t.size - 1);
        while (t.slots[at] != FREE && !same_row(c, c->vector_rows[t.slots[at] - 1], row))
            at = (at + 1) & (t.size - 1);
        if (t.slots[at] == FREE) {
            c->vector_rows[c->vectors++] = (uint32_t)row;
            t.slots[at] = (uint32_t)c->vectors;
        }
        c->vector_of[row] = t.slots[at] - 1;
    }
    return LKS_OK;
}

/* Classes ----------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sort, and keep each once. */
static uint32_t tidy(uint32_t *list, uint32_t count)
{
    uint32_t kept = 0;
    if (count > 1)
        qsort(list, count, sizeof(*list), by_number);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || list[i] != list[kept - 1])
            list[kept++] = list[i];
    }
    return kept;
}

static bool same_class(const struct covering *c, const struct class *a, const struct class *b)
{
    return a->hash == b->hash && a->count == b->count &&
           memcmp(c->vector_lists + a->first, c->vector_lists + b->first,
                  a->count * sizeof(uint32_t)) == 0;
}

static bool is_liked_more(const struct covering *c, uint32_t a, uint32_t b)
{
    const struct lks_cover_candidate *x = &c->q->candidates[a], *y = &c->q->candidates[b];
    if (x->dislike != y->dislike)
        return x->dislike < y->dislike;
    return x->weight != y->weight ? x->weight < y->weight : a < b;
}

/* The vectors of a candidate, behind those of the classes so far. */
static struct class class_of(struct covering *c, uint32_t candidate, uint32_t first)
{
    const struct lks_cover_candidate *who = &c->q->candidates[candidate];
    struct class class = {.best = candidate, .first = first, .hash = 1};
    for (uint32_t i = 0; i < who->count; i++)
        c->vector_lists[first + i] = c->vector_of[who->first + i];
    class.count = tidy(c->vector_lists + first, who->count);
    for (uint32_t i = 0; i < class.count; i++)
        class.hash = mix(class.hash, c->vector_lists[first + i]);
    return class;
}

static enum lks_code number_classes(struct covering *c)
{
    struct table t = {0};
    uint32_t used = 0;
    c->vector_lists = array(c, c->q->row_count, sizeof(*c->vector_lists));
    c->classes = array(c, c->q->count, sizeof(*c->classes));
    if (c->vector_lists == NULL || c->classes == NULL || !table_init(c, &t, c->q->count))
        return no_memory(c);
    for (uint32_t i = 0; i < c->q->count; i++) {
        if (c->q->candidates[i].barred)
            continue;
        struct class class = class_of(c, i, used);
        size_t at = class.hash & (t.size - 1);
        while (t.slots[at] != FREE && !same_class(c, &c->classes[t.slots[at] - 1], &class))
            at = (at + 1) & (t.size - 1);
        if (t.slots[at] == FREE) {
            c->classes[c->class_count++] = class;
            t.slots[at] = (uint32_t)c->class_count;
            used += class.count;
        } else if (is_liked_more(c, i, c->classes[t.slots[at] - 1].best)) {
            c->classes[t.slots[at] - 1].best = i;
        }
    }
    return LKS_OK;
}

/* Items ------------------------------------------------------------------------------------- */

/* The next choice of `strength` attributes, rising; false behind the last. */
static bool next_choice(uint32_t *chosen, unsigned strength, size_t width)
{
    for (unsigned i = strength; i-- > 0;) {
        if (chosen[i] + 1 + (strength - 1 - i) < width) {
            chosen[i]++;
            for (unsigned j = i + 1; j < strength; j++)
                chosen[j] = chosen[j - 1] + 1;
            return true;
        }
    }
    return false;
}

static uint64_t item_hash(const struct lks_cover_item *item, unsigned strength)
{
    uint64_t hash = 2;
    for (unsigned i = 0; i < strength; i++)
        hash = mix(mix(hash, item->attributes[i]), item->values[i]);
    return hash;
}

static enum lks_code rehash(struct covering *c, struct table *t)
{
    if (t->slots != NULL && 2 * c->item_count < t->size)
        return LKS_OK;
    if (!table_init(c, t, 2 * c->item_count))
        return no_memory(c);
    for (size_t i = 0; i < c->item_count; i++) {
        size_t at = item_hash(&c->items[i], c->strength) & (t->size - 1);
        while (t->slots[at] != FREE)
            at = (at + 1) & (t->size - 1);
        t->slots[at] = (uint32_t)i + 1;
    }
    return LKS_OK;
}

static enum lks_code number_item(struct covering *c, struct table *t,
                                 const struct lks_cover_item *item, uint32_t *out)
{
    if (LKS_VEC_RESERVE_IN(c->arena, c->items, c->item_room, c->item_count + 1, c->err) != LKS_OK ||
        rehash(c, t) != LKS_OK)
        return c->err->code;
    size_t at = item_hash(item, c->strength) & (t->size - 1);
    while (t->slots[at] != FREE && memcmp(&c->items[t->slots[at] - 1], item, sizeof(*item)) != 0)
        at = (at + 1) & (t->size - 1);
    if (t->slots[at] == FREE) {
        c->items[c->item_count++] = *item;
        t->slots[at] = (uint32_t)c->item_count;
    }
    *out = t->slots[at] - 1;
    return LKS_OK;
}

static size_t choices(size_t width, unsigned strength)
{
    size_t n = 1;
    for (unsigned i = 0; i < strength; i++)
        n = n * (width - i) / (i + 1);
    return n;
}

static enum lks_code number_items(struct covering *c)
{
    struct table t = {0};
    c->each = choices(c->q->width, c->strength);
    c->of_vector = lks_arena_array(c->arena, c->vectors * c->each + 1, sizeof(*c->of_vector));
    if (c->of_vector == NULL)
        return no_memory(c);
    for (size_t v = 0; v < c->vectors; v++) {
        const uint32_t *row = c->q->rows + c->vector_rows[v] * c->q->width;
        struct lks_cover_item item = {0};
        uint32_t *out = c->of_vector + v * c->each;
        for (unsigned i = 0; i < c->strength; i++)
            item.attributes[i] = i;
        do {
            for (unsigned i = 0; i < c->strength; i++)
                item.values[i] = row[item.attributes[i]];
            if (number_item(c, &t, &item, out++) != LKS_OK)
                return c->err->code;
        } while (next_choice(item.attributes, c->strength, c->q->width));
    }
    return LKS_OK;
}

/* What each class has, and none of it is covered yet. */
static enum lks_code list_items(struct covering *c)
{
    size_t total = 0;
    for (size_t i = 0; i < c->class_count; i++)
        total += c->classes[i].count * c->each;
    c->class_items = array(c, total, sizeof(*c->class_items));
    c->times = array(c, c->item_count, sizeof(*c->times));
    c->order = array(c, c->class_count, sizeof(*c->order));
    if (c->class_items == NULL || c->times == NULL || c->order == NULL)
        return no_memory(c);
    uint32_t used = 0;
    for (size_t i = 0; i < c->class_count; i++) {
        struct class *class = &c->classes[i];
        class->item = used;
        for (uint32_t v = 0; v < class->count; v++) {
            memcpy(c->class_items + used,
                   c->of_vector + c->vector_lists[class->first + v] * c->each,
                   c->each * sizeof(*c->class_items));
            used += (uint32_t)c->each;
        }
        class->items = tidy(c->class_items + class->item, used - class->item);
        used = class->item + class->items;
    }
    return LKS_OK;
}

static enum lks_code set_strength(struct covering *c, unsigned strength)
{
    c->strength = strength;
    c->items = NULL;
    c->item_count = c->item_room = c->covered = c->picked = 0;
    c->weight = 0;
    for (size_t i = 0; i < c->class_count; i++)
        c->classes[i].picked = false;
    return number_items(c) == LKS_OK ? list_items(c) : c->err->code;
}

/* Picking ----------------------------------------------------------------------------------- */

static uint32_t weight_of(const struct covering *c, uint32_t class)
{
    return c->q->candidates[c->classes[class].best].weight;
}

static void pick(struct covering *c, uint32_t class)
{
    struct class *picked = &c->classes[class];
    if (picked->picked)
        return;
    picked->picked = true;
    c->order[c->picked++] = class;
    c->weight += weight_of(c, class);
    for (uint32_t i = 0; i < picked->items; i++)
        c->covered += c->times[c->class_items[picked->item + i]]++ == 0;
}

static uint32_t gain_of(const struct covering *c, uint32_t class)
{
    const struct class *of = &c->classes[class];
    uint32_t gain = 0;
    for (uint32_t i = 0; i < of->items; i++)
        gain += c->times[c->class_items[of->item + i]] == 0;
    return gain;
}

/* More for its weight; among equals whom one likes more. */
static bool is_better(const struct covering *c, uint32_t a, uint32_t b)
{
    uint64_t left = (uint64_t)c->classes[a].gain * weight_of(c, b);
    uint64_t right = (uint64_t)c->classes[b].gain * weight_of(c, a);
    if (left != right)
        return left > right;
    return is_liked_more(c, c->classes[a].best, c->classes[b].best);
}

static void sift(const struct covering *c, uint32_t *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_better(c, heap[child + 1], heap[child]);
        if (!is_better(c, heap[child], heap[at]))
            return;
        uint32_t other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
    }
}

/* A gain only falls: a candidate on top with a current gain is the best there is. */
static enum lks_code pick_greedily(struct covering *c, uint64_t weight_max)
{
    size_t count = 0;
    uint32_t *heap = array(c, c->class_count, sizeof(*heap));
    if (heap == NULL)
        return no_memory(c);
    for (uint32_t i = 0; i < c->class_count; i++) {
        c->classes[i].gain = gain_of(c, i);
        if (c->classes[i].gain > 0)
            heap[count++] = i;
    }
    for (size_t i = count / 2; i-- > 0;)
        sift(c, heap, count, i);
    while (count > 0) {
        uint32_t top = heap[0], gain = gain_of(c, top);
        bool heavy = weight_max > 0 && c->weight + weight_of(c, top) > weight_max;
        if (gain == 0 || heavy) {
            heap[0] = heap[--count];
        } else if (gain == c->classes[top].gain) {
            pick(c, top);
            heap[0] = heap[--count];
        } else {
            c->classes[top].gain = gain;
        }
        sift(c, heap, count, 0);
    }
    return LKS_OK;
}

static bool is_needless(const struct covering *c, const struct class *class)
{
    for (uint32_t i = 0; i < class->items; i++) {
        if (c->times[c->class_items[class->item + i]] < 2)
            return false;
    }
    return true;
}

/* What later ones made needless is dropped, the last first. */
static void drop_needless(struct covering *c)
{
    size_t kept = c->picked;
    for (size_t i = c->picked; i-- > 0;) {
        struct class *class = &c->classes[c->order[i]];
        if (!is_needless(c, class))
            continue;
        for (uint32_t k = 0; k < class->items; k++)
            c->times[c->class_items[class->item + k]]--;
        class->picked = false;
        c->weight -= weight_of(c, c->order[i]);
        memmove(c->order + i, c->order + i + 1, (kept - i - 1) * sizeof(*c->order));
        kept--;
    }
    c->picked = kept;
}

/* The best ----------------------------------------------------------------------------------
 *
 * Each item is the set of classes that have it, as bits; each such set has to be hit.
 */

struct search {
    const struct covering *c;
    uint64_t *sets;
    size_t count;
    uint64_t best_picked, best_weight;
    uint64_t steps;
};

static unsigned bits(uint64_t set)
{
    unsigned n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static unsigned lowest(uint64_t set)
{
    unsigned n = 0;
    while ((set >> n & 1) == 0)
        n++;
    return n;
}

static uint64_t least_weight(const struct search *s, uint64_t set)
{
    uint64_t least = UINT64_MAX;
    for (; set != 0; set &= set - 1) {
        uint64_t weight = weight_of(s->c, lowest(set));
        least = weight < least ? weight : least;
    }
    return least;
}

/* The set that leaves the least choice among those that are not hit, or 0; and what all of them
 * will weigh at the least: sets that share nothing are hit one by one. */
static uint64_t open_set(const struct search *s, uint64_t picked, uint64_t *at_least)
{
    uint64_t fewest = 0, taken = 0;
    unsigned choice = 65;
    *at_least = 0;
    for (size_t i = 0; i < s->count; i++) {
        if ((s->sets[i] & picked) != 0)
            continue;
        unsigned n = bits(s->sets[i]);
        if (n < choice) {
            choice = n;
            fewest = s->sets[i];
        }
        if ((s->sets[i] & taken) == 0) {
            *at_least += least_weight(s, s->sets[i]);
            taken |= s->sets[i];
        }
    }
    return fewest;
}

/* Depth is at most the number of classes. NOLINTNEXTLINE(misc-no-recursion) */
static void look(struct search *s, uint64_t picked, uint64_t barred, uint64_t weight)
{
    uint64_t at_least = 0;
    uint64_t set = s->steps++ < SEARCH_STEPS_MAX ? open_set(s, picked, &at_least) : 0;
    if (s->steps > SEARCH_STEPS_MAX || weight + at_least >= s->best_weight)
        return;
    if (set == 0) {
        s->best_picked = picked;
        s->best_weight = weight;
        return;
    }
    for (uint64_t rest = set & ~barred; rest != 0; rest &= rest - 1) {
        unsigned class = lowest(rest);
        uint64_t bit = UINT64_C(1) << class;
        look(s, picked | bit, barred, weight + weight_of(s->c, class));
        barred |= bit; /* covers with it were all seen */
    }
}

static int by_set(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    unsigned x = bits(*a), y = bits(*b);
    if (x != y)
        return x < y ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* A set that another one is part of is hit with it. */
static void drop_supersets(struct search *s)
{
    size_t kept = 0;
    qsort(s->sets, s->count, sizeof(*s->sets), by_set);
    for (size_t i = 0; i < s->count; i++) {
        bool hit = s->sets[i] == 0;
        for (size_t k = 0; k < kept && !hit; k++)
            hit = (s->sets[i] & s->sets[k]) == s->sets[k];
        if (!hit)
            s->sets[kept++] = s->sets[i];
    }
    s->count = kept;
}

/* Better than what was picked, if there is something better. */
static enum lks_code pick_best(struct covering *c, bool *exact)
{
    struct search s = {.c = c, .count = c->item_count, .best_weight = c->weight};
    s.sets = array(c, c->item_count, sizeof(*s.sets));
    if (s.sets == NULL)
        return no_memory(c);
    for (uint32_t i = 0; i < c->class_count; i++) {
        for (uint32_t k = 0; k < c->classes[i].items; k++)
            s.sets[c->class_items[c->classes[i].item + k]] |= UINT64_C(1) << i;
    }
    drop_supersets(&s);
    look(&s, 0, 0, 0);
    *exact = s.steps <= SEARCH_STEPS_MAX;
    if (s.best_picked == 0)
        return LKS_OK;
    for (size_t i = 0; i < c->class_count; i++)
        c->classes[i].picked = false;
    memset(c->times, 0, c->item_count * sizeof(*c->times));
    c->picked = c->covered = 0;
    c->weight = 0;
    for (uint32_t i = 0; i < c->class_count; i++) {
        if ((s.best_picked >> i & 1) != 0)
            pick(c, i);
    }
    return LKS_OK;
}

/* The whole --------------------------------------------------------------------------------- */

static enum lks_code pick_all(struct covering *c, bool *exact)
{
    *exact = false;
    if (pick_greedily(c, 0) != LKS_OK)
        return c->err->code;
    drop_needless(c);
    if (c->class_count == 0 || c->class_count > LKS_COVER_EXACT || c->q->greedy)
        return LKS_OK;
    return pick_best(c, exact);
}

/* Single attributes first, as far as it goes, then whatever more combinations can be had. */
static enum lks_code pick_some(struct covering *c)
{
    size_t count = 0;
    uint32_t *first = array(c, c->class_count, sizeof(*first));
    if (first == NULL)
        return no_memory(c);
    if (set_strength(c, 1) != LKS_OK || pick_greedily(c, c->q->weight_max) != LKS_OK)
        return c->err->code;
    drop_needless(c);
    count = c->picked;
    memcpy(first, c->order, count * sizeof(*first));
    if (set_strength(c, c->q->strength) != LKS_OK)
        return c->err->code;
    for (size_t i = 0; i < count; i++)
        pick(c, first[i]);
    return pick_greedily(c, c->q->weight_max);
}

static enum lks_code answer(struct covering *c, struct lks_cover *out)
{
    out->count = c->picked;
    out->items = c->item_count;
    out->covered = c->covered;
    out->strength = c->strength;
    out->picked = array(c, c->picked, sizeof(*out->picked));
    out->uncovered = array(c, c->item_count - c->covered, sizeof(*out->uncovered));
    if (out->picked == NULL || out->uncovered == NULL)
        return no_memory(c);
    for (size_t i = 0; i < c->picked; i++)
        out->picked[i] = c->classes[c->order[i]].best;
    if (out->count > 1)
        qsort(out->picked, out->count, sizeof(*out->picked), by_number);
    for (size_t i = 0, n = 0; i < c->item_count; i++) {
        if (c->times[i] == 0)
            out->uncovered[n++] = c->items[i];
    }
    return LKS_OK;
}

enum lks_code lks_cover_choose(const struct lks_cover_question *q, struct lks_arena *arena,
                               struct lks_cover *out, struct lks_err *err)
{
    LKS_ASSERT(q->width > 0 && q->width <= LKS_COVER_ATTRIBUTES_MAX && q->strength > 0 &&
               q->strength <= q->width);
    struct covering c = {.q = q, .arena = arena, .err = err};
    struct lks_cover cover = {0};
    if (number_vectors(&c) != LKS_OK || number_classes(&c) != LKS_OK ||
        set_strength(&c, q->strength) != LKS_OK || pick_all(&c, &cover.exact) != LKS_OK)
        return err->code;
    if (q->weight_max > 0 && c.weight > q->weight_max) {
        cover.exact = false;
        if (pick_some(&c) != LKS_OK)
            return err->code;
    }
    if (answer(&c, &cover) != LKS_OK)
        return err->code;
    *out = cover;
    return LKS_OK;
}

/* How many ---------------------------------------------------------------------------------- */

static double share_of(uint32_t millionths)
{
    return (double)millionths / LKS_COVER_MILLION;
}

/* The chance that none of `n` out of endlessly many has it. */
static double missed_by(double good, uint64_t n)
{
    double missed = 1;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1)
            missed *= good;
        good *= good;
    }
    return missed;
}

static uint64_t size_of_endless(double good, double allowed)
{
    uint64_t low = 0, high = 1;
    while (missed_by(good, high) > allowed)
        high *= 2;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (missed_by(good, middle) > allowed)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* One by one without putting them back: each that was good leaves fewer good ones. */
uint64_t lks_cover_size(uint64_t population, uint32_t failure_share, uint32_t confidence_share)
{
    LKS_ASSERT(failure_share > 0 && failure_share < LKS_COVER_MILLION && confidence_share > 0 &&
               confidence_share < LKS_COVER_MILLION);
    double allowed = share_of(LKS_COVER_MILLION - confidence_share), missed = 1;
    if (population == 0)
        return size_of_endless(share_of(LKS_COVER_MILLION - failure_share), allowed);
    uint64_t bad = (population * failure_share + LKS_COVER_MILLION - 1) / LKS_COVER_MILLION, n = 0;
    bad = bad > 0 ? bad : 1;
    while (n < population && missed > allowed) {
        uint64_t good = population - bad;
        missed *= n < good ? (double)(good - n) / (double)(population - n) : 0;
        n++;
    }
    return n;
}
