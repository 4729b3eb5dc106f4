#include "core/state.h"

#include "codec/base64.h"
#include "core/pulse.h"
#include "core/state_room.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64 };

const struct lks_limits lks_limits_default = {
    .heartbeat = 10 * LKS_SECOND,
    .late = 30 * LKS_SECOND,
    .lost = 120 * LKS_SECOND,
    .mass_window = 300 * LKS_SECOND,
    .skew = 5 * LKS_SECOND,
    .mass_floor = 10,
    .mass_percent = 2,
    .call_nodes = 10,
};

/* Making room ------------------------------------------------------------------------------- */

void *lks_room(void *array, uint32_t *room, uint32_t count, size_t size, uint32_t max,
               struct lks_err *err)
{
    if (count <= *room)
        return array;
    if (count > max) {
        enum lks_code code =
            lks_fail(err, LKS_E_LIMIT, "the state holds %u of these at the most", max);
        (void)code;
        return NULL;
    }
    uint64_t grown = *room == 0 ? FIRST_ROOM : *room;
    while (grown < count)
        grown *= 2;
    if (grown > max)
        grown = max;
    char *made = reallocarray(array, grown, size);
    if (made == NULL) {
        enum lks_code code = lks_fail_nomem(err);
        (void)code;
        return NULL;
    }
    memset(made + *room * size, 0, (grown - *room) * size);
    *room = (uint32_t)grown;
    return made;
}

enum lks_code lks_state_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                              struct lks_err *err)
{
    uint32_t id = 0, room = s->node_room;
    uint32_t turns_room = room; /* the arrays grow together */
    if (lks_intern_id(&s->names, name, &id, err) != LKS_OK)
        return err->code;
    if (id == s->node_count) {
        if (LKS_ROOM(s->pulses, &room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK ||
            LKS_ROOM(s->turns, &turns_room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK ||
            LKS_ROOM(s->nodes, &s->node_room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK)
            return lks_wrap(err, "nodes");
        s->nodes[id].pool = LKS_NO_POOL;
        s->node_count++;
    }
    *out = id;
    return LKS_OK;
}

enum lks_code lks_state_pool_place(struct lks_state *s, struct lks_str name, uint32_t *out,
                                   struct lks_err *err)
{
    uint32_t id = 0, room = s->pool_room;
    lks_text text = 0;
    if (lks_intern_id(&s->pool_names, name, &id, err) != LKS_OK ||
        lks_intern_id(&s->texts, name, &text, err) != LKS_OK)
        return err->code;
    if (id == s->pool_count) {
        if (LKS_ROOM(s->mass, &room, id + 1, LKS_STATE_POOLS_MAX, err) != LKS_OK ||
            LKS_ROOM(s->pools, &s->pool_room, id + 1, LKS_STATE_POOLS_MAX, err) != LKS_OK)
            return lks_wrap(err, "pools");
        s->pools[id].name = text;
        s->pool_count++;
    }
    *out = id;
    return LKS_OK;
}

enum lks_code lks_state_tuple_place(struct lks_state *s, struct lks_str digest, uint32_t *out,
                                    struct lks_err *err)
{
    uint32_t id = 0, room = s->tuple_room;
    uint32_t texts_room = room; /* the arrays grow together, and each is told how far it is */
    if (lks_intern_id(&s->tuples, digest, &id, err) != LKS_OK ||
        LKS_ROOM(s->tuple_texts, &texts_room, id + 1, LKS_TEXT_OF_TUPLE, err) != LKS_OK ||
        LKS_ROOM(s->tuple_nodes, &room, id + 1, LKS_TEXT_OF_TUPLE, err) != LKS_OK ||
        LKS_ROOM(s->tuple_readings, &s->tuple_room, id + 1, LKS_TEXT_OF_TUPLE, err) != LKS_OK)
        return err->code;
    *out = id;
    return LKS_OK;
}

/* Beginning and end ------------------------------------------------------------------------- */

enum lks_code lks_state_init(struct lks_state *s, uint64_t seed, struct lks_err *err)
{
    *s = (struct lks_state){
        .limits = lks_limits_default,
        .next_alarm = 1,
        .next_command = 1,
        .commands_due = UINT64_MAX,
    };
    struct lks_intern *const interns[] = {&s->texts, &s->names, &s->pool_names, &s->tuples};
    for (size_t i = 0; i < LKS_COUNT(interns); i++) {
        lks_intern_init(interns[i], LKS_STATE_TEXT_MAX);
        lks_intern_seed(interns[i], seed + i);
    }
    lks_heap_init(&s->deadlines, LKS_STATE_NODES_MAX);
    lks_text empty = 0;
    return lks_intern_id(&s->texts, LKS_STR(""), &empty, err);
}

void lks_state_fini(struct lks_state *s)
{
    for (uint32_t i = 0; i < s->tuple_room; i++)
        free(s->tuple_texts[i]);
    lks_intern_fini(&s->texts);
    lks_intern_fini(&s->names);
    lks_intern_fini(&s->pool_names);
    lks_intern_fini(&s->tuples);
    lks_heap_fini(&s->deadlines);
    void *const arrays[] = {s->nodes,          s->pulses,      s->pools,       s->mass,
                            s->tuple_readings, s->tuple_nodes, s->tuple_texts, s->bindings,
                            s->tokens,         s->alarms,      s->commands,    s->turns};
    for (size_t i = 0; i < LKS_COUNT(arrays); i++)
        free(arrays[i]);
    *s = (struct lks_state){0};
}

/* Looking things up ------------------------------------------------------------------------- */

struct lks_str lks_state_text(const struct lks_state *s, lks_text text)
{
    if ((text & LKS_TEXT_OF_TUPLE) != 0)
        return lks_str_from(s->tuple_texts[text & ~LKS_TEXT_OF_TUPLE]);
    return lks_intern_text(&s->texts, text);
}

uint32_t lks_state_node(const struct lks_state *s, struct lks_str name)
{
    uint32_t id = 0;
    return lks_intern_find(&s->names, name, &id) && s->nodes[id].placed ? id : LKS_NO_NODE;
}

struct lks_str lks_state_name(const struct lks_state *s, uint32_t node)
{
    return lks_intern_text(&s->names, node);
}

uint32_t lks_state_pool(const struct lks_state *s, struct lks_str name)
{
    uint32_t id = 0;
    return lks_intern_find(&s->pool_names, name, &id) && s->pools[id].known ? id : LKS_NO_POOL;
}

const struct lks_state_alarm *lks_state_alarm(const struct lks_state *s, uint64_t id)
{
    uint32_t low = 0, high = s->alarm_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->alarms[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->alarm_count && s->alarms[low].id == id ? &s->alarms[low] : NULL;
}

const struct lks_state_command *lks_state_command(const struct lks_state *s, uint64_t id)
{
    uint32_t low = 0, high = s->command_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->commands[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->command_count && s->commands[low].id == id ? &s->commands[low] : NULL;
}

bool lks_state_token_at(const struct lks_state *s, struct lks_str id, uint32_t *at)
{
    uint32_t low = 0, high = s->token_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lks_str_cmp(lks_state_text(s, s->tokens[middle].id), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return low < s->token_count && lks_str_eq(lks_state_text(s, s->tokens[low].id), id);
}

const struct lks_api_token *lks_state_token(const struct lks_state *s, struct lks_str id)
{
    uint32_t at = 0;
    return lks_state_token_at(s, id, &at) ? &s->tokens[at] : NULL;
}

static int compare_binding(const struct lks_state *s, const struct lks_binding *b,
                           const struct lks_rec_granted *want)
{
    int order = lks_str_cmp(lks_state_text(s, b->identity), want->identity);
    if (order == 0 && b->role != want->role)
        order = b->role < want->role ? -1 : 1;
    if (order == 0)
        order = lks_str_cmp(lks_state_text(s, b->site), want->site);
    return order != 0 ? order : lks_str_cmp(lks_state_text(s, b->pool), want->pool);
}

bool lks_state_binding_at(const struct lks_state *s, const struct lks_rec_granted *want,
                          uint32_t *at)
{
    uint32_t low = 0, high = s->binding_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_binding(s, &s->bindings[middle], want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return low < s->binding_count && compare_binding(s, &s->bindings[low], want) == 0;
}

const struct lks_binding *lks_state_bindings(const struct lks_state *s, struct lks_str identity,
                                             uint32_t *count)
{
    uint32_t first = 0;
    (void)lks_state_binding_at(s, &(struct lks_rec_granted){.identity = identity}, &first);
    uint32_t end = first;
    while (end < s->binding_count &&
           lks_str_eq(lks_state_text(s, s->bindings[end].identity), identity))
        end++;
    *count = end - first;
    return end > first ? &s->bindings[first] : NULL;
}

bool lks_state_tuple_known(const struct lks_state *s, struct lks_str digest)
{
    uint32_t id = 0;
    return lks_intern_find(&s->tuples, digest, &id) && s->tuple_readings[id] != 0;
}

lks_ms lks_state_command_over(const struct lks_state *s, const struct lks_state_command *command)
{
    lks_ms over = command->expires + s->limits.lost;
    return over < command->expires ? UINT64_MAX : over;
}

/* What follows from it ---------------------------------------------------------------------- */

static lks_text pin_of(const struct lks_state *s, const struct lks_node *node)
{
    return node->pool == LKS_NO_POOL ? 0 : s->pools[node->pool].stack_digest;
}

bool lks_node_admissible(const struct lks_state *s, uint32_t n, const char **why)
{
    static const char *const judged[LKS_JUDGED_COUNT] = {
        [LKS_JUDGED_NOT] = "what it runs was not judged against the stack of its pool",
        [LKS_JUDGED_DRIFT] = "it does not run the stack of its pool",
        [LKS_JUDGED_UNMEASURED] = "not all of the stack of its pool could be measured",
    };
    static const char *const liveness[LKS_LIVENESS_COUNT] = {
        [LKS_NEVER_SEEN] = "it was never seen",
        [LKS_LATE] = "its heartbeat is late",
        [LKS_LOST] = "it is lost",
    };
    const struct lks_node *node = &s->nodes[n];
    lks_text pin = pin_of(s, node);
    bool current = node->judged_stack == pin;
    const char *because = NULL;
    if (!node->placed || node->asset != 0)
        because = "it is no node of the fleet";
    else if (!node->enrolled)
        because = "it is not enrolled";
    else if (node->liveness != LKS_LIVE)
        because = liveness[node->liveness];
    else if (node->held)
        because = "it is held";
    else if (node->intake)
        because = "it is in intake";
    else if (node->tuple == 0 || node->tuple_boot != node->boot)
        because = "what it runs in this boot was not reported yet";
    else if (pin != 0 && !(current && node->judged == LKS_JUDGED_CONFORMS))
        because =
            judged[current && node->judged != LKS_JUDGED_CONFORMS ? node->judged : LKS_JUDGED_NOT];
    if (because != NULL && why != NULL)
        *why = because;
    return because == NULL;
}

bool lks_state_acts_wait(const struct lks_state *s, uint32_t pool)
{
    return pool < s->pool_count && s->pools[pool].mass_alarm != 0;
}

bool lks_state_wants_tuple(const struct lks_state *s, uint32_t n)
{
    static const uint8_t nothing[LKS_HASH_BYTES];
    const struct lks_node *node = &s->nodes[n];
    const struct lks_pulse *pulse = &s->pulses[n];
    if (!node->placed || !pulse->heard || memcmp(pulse->tuple, nothing, sizeof(nothing)) == 0)
        return false;
    return node->tuple_boot != node->boot || node->judged_stack != pin_of(s, node) ||
           lks_pulse_tuple_differs(s, n);
}

bool lks_state_mail(const struct lks_state *s, uint32_t node)
{
    return s->nodes[node].pending > 0 || lks_state_wants_tuple(s, node);
}
