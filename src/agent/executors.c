/* Commands: whether they run, how, and that their end is told. */
#include "agent/agent.h"
#include "agent/wire.h"
#include "codec/json.h"
#include "trust/envelope.h"

#include <stdio.h>

#define HELPER_MS (900 * 1000) /* longer than the helper gives an executor */
#define TEXT_MAX  256

enum lks_code lks_agent_result(struct lks_agent *a, const struct lks_once_entry *entry,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0};
    lks_buf_init(&json, LKS_SPOOL_BODY_MAX);
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "id", (int64_t)entry->id);
    lks_json_cstr(&w, "outcome", lks_outcome_words[entry->outcome]);
    lks_json_cstr(&w, "text", entry->text);
    lks_json_end(&w, '}');
    if (lks_buf_check(&json, err) != LKS_OK ||
        lks_spool_add(&a->spool, LKS_SPOOL_RESULT, lks_buf_view(&json), err) != LKS_OK)
        return err->code;
    a->link.spooled = (uint32_t)a->spool.count;
    return LKS_OK;
}

/* A result that cannot be kept is asked for again: the ledger has it. */
static void tell(struct lks_agent *a, const struct lks_once_entry *entry)
{
    struct lks_err err = {0};
    if (lks_agent_result(a, entry, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "a result could not be spooled", "why", err.msg);
}

void lks_agent_refuse(struct lks_agent *a, uint64_t id, const char *why)
{
    struct lks_once_entry entry = {.id = id, .ended = true, .outcome = LKS_OUTCOME_REFUSED};
    snprintf(entry.text, sizeof(entry.text), "%s", why);
    lks_agent_note(a, LKS_LEVEL_WARNING, "a command was refused", "why", why);
    tell(a, &entry);
}

static const struct lks_once_entry *find_entry(const struct lks_once *once, uint64_t id)
{
    for (size_t i = 0; i < once->count; i++) {
        if (once->entries[i].id == id)
            return &once->entries[i];
    }
    return NULL;
}

void lks_agent_command_end(struct lks_agent *a, enum lks_outcome outcome, struct lks_str text)
{
    struct lks_err err = {0};
    if (a->command == 0)
        return;
    lks_once_end(&a->once, a->command, outcome, text);
    if (lks_ledger_save(&a->dir, &a->once, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "the ledger cannot be written", "why", err.msg);
    lks_agent_note(a, LKS_LEVEL_INFO, "a command ended", "outcome", lks_outcome_words[outcome]);
    tell(a, find_entry(&a->once, a->command));
    a->command = 0;
    a->link.mail = true; /* there may be another */
}

enum lks_code lks_agent_booted(struct lks_agent *a, struct lks_err *err)
{
    bool damaged = false;
    uint64_t last = 0;
    if (lks_boot_read(a->options->root, a->boot, err) != LKS_OK ||
        lks_seq_load(&a->dir, a->boot, &last, &damaged, err) != LKS_OK)
        return err->code;
    if (damaged)
        lks_agent_note(a, LKS_LEVEL_WARNING, "the number of the last heartbeat is lost", NULL,
                       NULL);
    a->link.seq = last;
    a->reserved = last;
    a->inventory_at = lks_agent_now();
    return LKS_OK;
}

/* Executors of our own ----------------------------------------------------------------------- */

static void run_inventory(struct lks_agent *a, struct lks_str envelope)
{
    (void)envelope;
    a->push_anyway = true;
    a->inventory_at = lks_agent_now();
    if (a->errand.active) /* begun before the command: what it finds may be too old */
        lks_errand_fini(&a->errand);
    lks_agent_read(a);
}

static void run_reboot(struct lks_agent *a, struct lks_str envelope)
{
    struct lks_err err = {0};
    (void)envelope;
    if (lks_boot_renew(a->options->root, &err) != LKS_OK) {
        lks_agent_command_end(a, LKS_OUTCOME_FAILED, lks_str_from(err.msg));
        return;
    }
    lks_agent_command_end(a, LKS_OUTCOME_DONE, LKS_STR("the simulated machine has a new boot id"));
    lks_errand_fini(&a->errand);
    if (lks_agent_booted(a, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "the boot id cannot be read", "why", err.msg);
}

static void run_helper(struct lks_agent *a, struct lks_str envelope)
{
    struct lks_err err = {0};
    if (a->errand.active) { /* a reading; it starts again afterwards */
        lks_errand_fini(&a->errand);
        a->inventory_at = lks_agent_now();
    }
    a->errand_reads = false;
    enum lks_code code =
        lks_errand_ask(&a->errand, a->options->helper, LKS_WIRE_COMMAND, envelope, HELPER_MS, &err);
    lks_agent_health(a, LKS_HEALTH_HELPER_AWAY, code != LKS_OK);
    if (code != LKS_OK)
        lks_agent_command_end(a, LKS_OUTCOME_REFUSED, lks_str_from(err.msg));
}

struct executor {
    const char *name;
    bool on_root; /* needs a captured tree; this machine's is the helper's business */
    void (*run)(struct lks_agent *a, struct lks_str envelope);
};

static const struct executor executors[] = {
    {"inventory", false, run_inventory},
    {"reboot", true, run_reboot},
};

static const struct executor *find_executor(const struct lks_agent *a, const char *name)
{
    static const struct executor by_helper = {"", false, run_helper};
    bool on_root = a->options->root != NULL;
    for (size_t i = 0; i < LKS_COUNT(executors); i++) {
        if (strcmp(executors[i].name, name) == 0 && (on_root || !executors[i].on_root))
            return &executors[i];
    }
    return a->options->helper != NULL && !on_root ? &by_helper : NULL;
}

/* Durable before it runs. */
static void begin(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    const struct executor *executor = find_executor(a, e->executor);
    struct lks_err err = {0};
    if (executor == NULL) {
        lks_agent_refuse(a, e->id, "this node has no executor of that name");
        return;
    }
    if (lks_once_begin(&a->once, e, &err) != LKS_OK) {
        lks_agent_refuse(a, e->id, err.msg);
        return;
    }
    a->command = e->id;
    if (lks_ledger_save(&a->dir, &a->once, &err) != LKS_OK) {
        lks_agent_command_end(a, LKS_OUTCOME_REFUSED, lks_str_from(err.msg));
        return;
    }
    lks_agent_note(a, LKS_LEVEL_INFO, "a command begins", "executor", e->executor);
    executor->run(a, envelope);
}

void lks_agent_command(struct lks_agent *a, struct lks_str envelope)
{
    struct lks_envelope e = {0};
    struct lks_once_entry entry = {0};
    struct lks_err err = {0};
    const char *why = "";
    if (lks_envelope_open(envelope, &a->controller.command_key, 1, &e, &err) != LKS_OK) {
        lks_agent_note(a, LKS_LEVEL_WARNING, "a command was not opened", "why", err.msg);
        return;
    }
    if (strcmp(e.journal, a->controller.journal) != 0 || strcmp(e.node, a->controller.node) != 0) {
        lks_agent_note(a, LKS_LEVEL_WARNING, "a command is not for this node", "node", e.node);
        return;
    }
    switch (lks_once_judge(&a->once, &e, lks_str_from(a->controller.node), lks_str_from(a->boot),
                           (lks_ms)lks_agent_wall(), &entry, &why)) {
    case LKS_ONCE_RUN:
        if (lks_agent_fetched(a, &e))
            begin(a, &e, envelope);
        else
            lks_agent_fetch(a, &e, envelope);
        break;
    case LKS_ONCE_REPEAT:
        tell(a, &entry);
        break;
    case LKS_ONCE_REFUSE:
        lks_agent_refuse(a, e.id, why);
        break;
    }
}

/* The helper's last word. One that broke off may have begun. */
void lks_agent_command_over(struct lks_agent *a)
{
    enum lks_outcome outcome = LKS_OUTCOME_UNKNOWN;
    struct lks_str text;
    struct lks_err err = {0};
    char said[TEXT_MAX];
    if (lks_errand_end(&a->errand, &text, &err) == LKS_OK &&
        lks_wire_answer(text, &outcome, &text, &err) == LKS_OK)
        snprintf(said, sizeof(said), "%" LKS_STR_FMT, LKS_STR_ARG(text));
    else
        snprintf(said, sizeof(said), "%.*s", TEXT_MAX - 1, err.msg);
    lks_errand_fini(&a->errand);
    lks_agent_command_end(a, outcome, lks_str_from(said));
}
