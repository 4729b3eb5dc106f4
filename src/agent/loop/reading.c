/* Reading the machine: when, by whom, and whether what was found has to be told. */
#include "agent/helper/wire.h"
#include "agent/loop/agent.h"
#include "agent/reading/inventory.h"

#include <stdio.h>

#define READING_FILE  "reading" /* the steady digest of the reading that was spooled last */
#define READER        "/proc/self/exe"
#define CACHE_FILE    "libraries.cache"
#define READER_MS     (180 * 1000)
#define AGAIN_DIVISOR 10 /* of the interval: how far readings are spread, */
#define AGAIN_FAILED  10 /* and how much sooner one that failed is tried again */

enum lks_code lks_agent_reading_load(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_str line, rest;
    a->steady[0] = '\0';
    enum lks_code code = lks_statedir_read(&a->dir, READING_FILE, LKS_DIGEST_SIZE, &text, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND && code != LKS_E_LIMIT)
        return code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    if (code == LKS_OK && lks_inventory_digest(line, NULL))
        snprintf(a->steady, sizeof(a->steady), "%" LKS_STR_FMT, LKS_STR_ARG(line));
    return LKS_OK;
}

static void plan_next(struct lks_agent *a, bool failed)
{
    lks_ms interval = a->options->inventory_seconds * LKS_SECOND;
    if (failed)
        interval /= AGAIN_FAILED;
    lks_ms spread = interval / AGAIN_DIVISOR;
    a->inventory_at = lks_agent_now() + interval - spread / 2 + lks_rng_below(&a->rng, spread + 1);
}

/* Ourselves with --read, in a process of its own. */
static enum lks_code start_reader(struct lks_agent *a, struct lks_err *err)
{
    char cache[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    const char *words[12] = {READER, "--read", "--node", a->controller.node};
    size_t count = 4;
    if (a->options->quick)
        words[count++] = "--quick";
    if (a->options->root != NULL) {
        words[count++] = "--root";
        words[count++] = a->options->root;
    } else {
        words[count++] = "--cache";
        words[count++] = lks_statedir_path(&a->dir, CACHE_FILE, cache);
    }
    char *argv[12] = {0};
    memcpy(argv, words, sizeof(argv)); /* execve() promises not to change them */
    const struct lks_subtask_program program = {
        .path = READER, .argv = argv, .max = LKS_INVENTORY_MAX, .ms = READER_MS};
    return lks_subtask_start(&a->errand, &program, err);
}

/* The helper sees more of the machine; where it is away we read what we may. */
static enum lks_code start_reading(struct lks_agent *a, struct lks_err *err)
{
    if (a->options->helper == NULL || a->options->root != NULL)
        return start_reader(a, err);
    enum lks_code code =
        lks_subtask_ask(&a->errand, a->options->helper,
                        a->options->quick ? LKS_WIRE_INVENTORY_QUICK : LKS_WIRE_INVENTORY,
                        LKS_STR(""), READER_MS, err);
    if (code != LKS_OK && (a->health & LKS_HEALTH_HELPER_AWAY) == 0)
        lks_agent_note(a, LKS_LEVEL_WARNING, "reading without the helper", "why", err->msg);
    lks_agent_health(a, LKS_HEALTH_HELPER_AWAY, code != LKS_OK);
    return code == LKS_OK ? LKS_OK : start_reader(a, err);
}

static void reading_failed(struct lks_agent *a, const struct lks_err *err)
{
    lks_agent_note(a, LKS_LEVEL_ERROR, "the machine could not be read", "why", err->msg);
    lks_agent_health(a, LKS_HEALTH_INVENTORY_FAILED, true);
    plan_next(a, true);
    lks_agent_command_end(a, LKS_OUTCOME_FAILED, lks_str_from(err->msg));
}

void lks_agent_reading_start(struct lks_agent *a)
{
    struct lks_err err = {0};
    plan_next(a, false);
    a->errand_kind = LKS_SUBTASK_READS;
    if (start_reading(a, &err) != LKS_OK)
        reading_failed(a, &err);
}

/* What the errand came to, with the helper's outcome taken off. */
static enum lks_code take_reading(struct lks_agent *a, struct lks_inventory *out,
                                  struct lks_err *err)
{
    bool by_helper = a->errand.pid == 0;
    enum lks_outcome outcome = LKS_OUTCOME_DONE;
    struct lks_str text;
    if (lks_subtask_end(&a->errand, &text, err) != LKS_OK)
        return err->code;
    if (by_helper && lks_wire_answer(text, &outcome, &text, err) != LKS_OK)
        return err->code;
    if (outcome != LKS_OUTCOME_DONE)
        return lks_fail(err, LKS_E_REFUSED, "the helper: %.200s", text.len > 0 ? text.ptr : "no");
    return lks_inventory_parse(text, out, err);
}

static enum lks_code spool_reading(struct lks_agent *a, const struct lks_inventory *found,
                                   struct lks_err *err)
{
    if (!a->push_anyway && strcmp(found->steady, a->steady) == 0)
        return LKS_OK;
    if (lks_spool_add(&a->spool, LKS_SPOOL_TUPLE, found->json, err) != LKS_OK)
        return err->code;
    a->push_anyway = false;
    lks_agent_spooled(a);
    memcpy(a->steady, found->steady, sizeof(a->steady));
    lks_agent_note(a, LKS_LEVEL_INFO, "the machine changed, or is read for the first time", "tuple",
                   found->digest);
    return lks_statedir_write(&a->dir, READING_FILE, lks_str_from(found->steady), err);
}

void lks_agent_reading_over(struct lks_agent *a)
{
    struct lks_inventory found = {0};
    struct lks_err err = {0};
    enum lks_code code = take_reading(a, &found, &err);
    bool of_this_boot = code == LKS_OK && strcmp(found.boot, a->boot) == 0;
    if (of_this_boot)
        code = spool_reading(a, &found, &err);
    lks_subtask_fini(&a->errand);
    if (code != LKS_OK) {
        reading_failed(a, &err);
        return;
    }
    lks_agent_health(a, LKS_HEALTH_INVENTORY_FAILED, false);
    lks_agent_note(a, LKS_LEVEL_DEBUG, "the machine was read", "tuple", found.digest);
    if (of_this_boot)
        memcpy(a->tuple, found.digest, sizeof(a->tuple));
    else
        a->inventory_at = lks_agent_now(); /* it was booted in between */
    lks_agent_command_end(a, LKS_OUTCOME_DONE, LKS_STR("the machine was read"));
}
