#include "core/sched/runs.h"

#include "base/vec.h"
#include "codec/format/json.h"
#include "codec/format/json_list.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <string.h>

#define ARENA_MAX ((size_t)128 << 20)

void lks_sched_runs_fini(struct lks_sched_runs *runs)
{
    lks_arena_fini(&runs->arena);
    *runs = (struct lks_sched_runs){0};
}

int lks_sched_runs_compare(struct lks_sched_runs_place a, struct lks_sched_runs_place b)
{
    if (a.at != b.at)
        return a.at < b.at ? -1 : 1;
    return lks_str_cmp(a.id, b.id);
}

/* A run ------------------------------------------------------------------------------------- */

static bool read_number(const struct lks_doc *map, const char *key, uint64_t max, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number < 0 ||
        (uint64_t)doc->number > max)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

/* Cut, and without bytes that cannot be printed. */
static struct lks_str read_name(struct lks_arena *arena, const struct lks_doc *map, const char *key)
{
    char copy[LKS_SCHED_RUNS_TEXT + 1];
    struct lks_str text = lks_doc_text(map, key);
    size_t len = text.len < sizeof(copy) ? text.len : sizeof(copy) - 1;
    if (len > 0)
        memcpy(copy, text.ptr, len);
    copy[len] = '\0';
    lks_str_make_printable(copy);
    return lks_arena_copy(arena, lks_str_from(copy));
}

static struct lks_str read_exit(struct lks_arena *arena, const struct lks_doc *map)
{
    uint64_t status = 0, signal = 0;
    bool exited = read_number(map, "exit", UINT8_MAX, &status);
    bool signalled = read_number(map, "signal", UINT8_MAX, &signal);
    if (!exited && !signalled)
        return LKS_STR("");
    return lks_arena_format(arena, "%" PRIu64 ":%" PRIu64, status, signal);
}

static bool read_run(struct lks_arena *arena, const struct lks_doc *run, struct lks_sched_run *out)
{
    uint64_t gpus = 0, restarts = 0, state = LKS_RUN_UNKNOWN;
    struct lks_str nodes = lks_doc_text(run, "nodes");
    if (!read_number(run, "started", LKS_TIME_MAX, &out->started) ||
        !read_number(run, "ended", LKS_TIME_MAX, &out->ended) || out->ended < out->started)
        return false;
    (void)read_number(run, "gpus", UINT32_MAX - 1, &gpus);
    (void)read_number(run, "restarts", UINT32_MAX, &restarts);
    (void)lks_record_word_find(lks_run_state_words, lks_doc_text(run, "state"), &state);
    out->gpus = (uint32_t)gpus;
    out->restarts = (uint32_t)restarts;
    out->state = (enum lks_run_state)state;
    out->nodes = lks_str_printable(nodes) ? lks_arena_copy(arena, nodes) : LKS_STR("");
    out->name = read_name(arena, run, "name");
    out->user = read_name(arena, run, "user");
    out->account = read_name(arena, run, "account");
    out->partition = read_name(arena, run, "partition");
    out->reason = read_name(arena, run, "reason");
    out->down = read_name(arena, run, "down");
    out->exit = read_exit(arena, run);
    return true;
}

/* The list ---------------------------------------------------------------------------------- */

static enum lks_code read_element(struct lks_sched_runs *runs, struct lks_str json,
                                  struct lks_sched_runs_place after, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_sched_run made = {0};
    if (lks_docs_init(&docs, "run", err) != LKS_OK || lks_json_parse(json, &docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *run = lks_doc_member(docs.first, "run");
    struct lks_str id = lks_doc_text(run, "id");
    if (!read_number(docs.first, "at", LKS_TIME_MAX, &made.place.at) || id.len == 0 ||
        id.len > LKS_SCHED_RUNS_ID || !lks_str_printable(id))
        return lks_fail(err, LKS_E_INVALID, "it has no place");
    made.place.id = lks_arena_copy(&runs->arena, id);
    if (lks_sched_runs_compare(made.place, runs->last.id.len > 0 ? runs->last : after) <= 0)
        return lks_fail(err, LKS_E_INVALID, "its place is not behind the one before");
    runs->last = made.place;
    if (!read_run(&runs->arena, run, &made)) {
        runs->unread++;
        return LKS_OK;
    }
    if (LKS_VEC_RESERVE_IN(&runs->arena, runs->items, runs->room, runs->count + (size_t)1, err) !=
        LKS_OK)
        return err->code;
    runs->items[runs->count++] = made;
    return LKS_OK;
}

static enum lks_code read_list(struct lks_sched_runs *runs, struct lks_str list,
                               struct lks_sched_runs_place after, struct lks_err *err)
{
    struct lks_str element;
    enum lks_json_list next = LKS_JSON_LIST_BROKEN;
    uint32_t number = 0;
    if (lks_json_list_open(&list)) {
        while ((next = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
            if (++number > LKS_SCHED_RUNS_PAGE)
                return lks_fail(err, LKS_E_LIMIT, "the answer has more than %d runs",
                                LKS_SCHED_RUNS_PAGE);
            if (read_element(runs, element, after, err) != LKS_OK)
                return lks_wrap(err, "run %" PRIu32 " of the answer", number);
        }
    }
    if (next == LKS_JSON_LIST_BROKEN)
        return lks_fail(err, LKS_E_INVALID, "the list of runs is cut off or malformed");
    return runs->arena.out_of_memory ? lks_arena_fail(&runs->arena, err) : LKS_OK;
}

static bool member(struct lks_str json, const char *key, lks_ms *out)
{
    struct lks_str text;
    return lks_json_list_member(json, key, &text) && lks_str_number(text, LKS_TIME_MAX, out);
}

enum lks_code lks_sched_runs_read(struct lks_str json, struct lks_sched_runs_place after,
                                  struct lks_sched_runs *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_sched_runs_fini) struct lks_sched_runs made = {0};
    struct lks_str list, more;
    if (json.len > LKS_SCHED_RUNS_BYTES)
        return lks_fail(err, LKS_E_LIMIT, "the list of runs has more than %zu bytes",
                        LKS_SCHED_RUNS_BYTES);
    if (!member(json, "age", &made.age) || !member(json, "from", &made.from) ||
        !member(json, "until", &made.until) || !lks_json_list_member(json, "more", &more) ||
        !lks_json_list_member(json, "runs", &list))
        return lks_fail(err, LKS_E_INVALID, "the list of runs is cut off or malformed");
    if (made.age > LKS_SCHED_RUNS_STALE)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "the list of runs is %" PRIu64 " s old; see /v1/health of the bridge",
                        made.age / LKS_SECOND);
    made.more = lks_str_is(more, "true");
    lks_arena_init(&made.arena, ARENA_MAX);
    if (read_list(&made, list, after, err) != LKS_OK)
        return err->code;
    if (made.more && made.last.id.len == 0)
        return lks_fail(err, LKS_E_INVALID, "the answer has no run, and says that there are more");
    *out = LKS_MOVE(made);
    return LKS_OK;
}
