/* Commands: whether they run, how, and that their end is told. */
#include "agent/helper/wire.h"
#include "agent/loop/agent.h"
#include "codec/format/json.h"
#include "model/manifest/executor.h"
#include "trust/envelope.h"

#include <stdio.h>

#define LOOKER   "/proc/self/exe"
#define TEXT_MAX 256

enum {
    HELPER_MIN_MS = 60 * 1000,    /* the helper refuses what expired, and says so */
    HELPER_MAX_MS = 25 * 3600000, /* longer than any command lives */
    IDLE_MS = 30 * 1000,
    SAID_MAX = 1024,
};

enum lks_code lks_agent_command_result(struct lks_agent *a,
                                       const struct lks_at_most_once_entry *entry,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_SPOOL_BODY_MAX);
    struct lks_json_writer w = {.out = &json};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "id", (int64_t)entry->id);
    lks_json_cstr(&w, "outcome", lks_outcome_words[entry->outcome]);
    lks_json_cstr(&w, "text", entry->text);
    lks_json_end(&w, '}');
    if (lks_buf_check(&json, err) != LKS_OK ||
        lks_spool_add(&a->spool, LKS_SPOOL_RESULT, lks_buf_view(&json), err) != LKS_OK)
        return err->code;
    lks_agent_spooled(a);
    return LKS_OK;
}

/* A result that cannot be kept is asked for again: the ledger has it. */
static void tell(struct lks_agent *a, const struct lks_at_most_once_entry *entry)
{
    struct lks_err err = {0};
    if (lks_agent_command_result(a, entry, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "a result could not be spooled", "why", err.msg);
}

void lks_agent_command_refuse(struct lks_agent *a, uint64_t id, const char *why)
{
    struct lks_at_most_once_entry entry = {.id = id, .ended = true, .outcome = LKS_OUTCOME_REFUSED};
    snprintf(entry.text, sizeof(entry.text), "%s", why);
    lks_agent_note(a, LKS_LEVEL_WARNING, "a command was refused", "why", why);
    tell(a, &entry);
}

static const struct lks_at_most_once_entry *find_entry(const struct lks_at_most_once *once,
                                                       uint64_t id)
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
    lks_at_most_once_end(&a->once, a->command, outcome, text);
    if (lks_ledger_save(&a->dir, &a->once, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "the ledger cannot be written", "why", err.msg);
    lks_agent_note(a, LKS_LEVEL_INFO, "a command ended", "outcome", lks_outcome_words[outcome]);
    tell(a, find_entry(&a->once, a->command));
    a->command = 0;
    a->link.mail = true; /* there may be another */
}

enum lks_code lks_agent_command_booted(struct lks_agent *a, struct lks_err *err)
{
    bool damaged = false;
    uint64_t last = 0;
    if (lks_boot_read(a->options->root, a->boot, err) != LKS_OK ||
        lks_boot_seq_load(&a->dir, a->boot, &last, &damaged, err) != LKS_OK)
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

typedef void run_fn(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope);

static void run_inventory(struct lks_agent *a, const struct lks_envelope *e,
                          struct lks_str envelope)
{
    (void)e;
    (void)envelope;
    a->push_anyway = true;
    a->inventory_at = lks_agent_now();
    if (a->errand.active) /* begun before the command: what it finds may be too old */
        lks_subtask_fini(&a->errand);
    lks_agent_reading_start(a);
}

static void boot_anew(struct lks_agent *a)
{
    struct lks_err err = {0};
    if (a->options->captured->reboot(a->options->root, &err) != LKS_OK) {
        lks_agent_command_end(a, LKS_OUTCOME_FAILED, lks_str_from(err.msg));
        return;
    }
    lks_agent_command_end(a, LKS_OUTCOME_DONE, LKS_STR("the simulated machine has a new boot id"));
    lks_subtask_fini(&a->errand);
    if (lks_agent_command_booted(a, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_ERROR, "the boot id cannot be read", "why", err.msg);
}

/* A reading that is in progress starts again afterwards. */
static void make_way(struct lks_agent *a)
{
    if (!a->errand.active)
        return;
    lks_subtask_fini(&a->errand);
    a->inventory_at = lks_agent_now();
}

/* The helper stops an executor when its command expires, and then answers. */
static int helper_patience(const struct lks_envelope *e)
{
    lks_ms wall = (lks_ms)lks_agent_wall();
    lks_ms left = (e->expires > wall ? e->expires - wall : 0) + HELPER_MIN_MS;
    return left < HELPER_MAX_MS ? (int)left : HELPER_MAX_MS;
}

static void run_helper(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    struct lks_err err = {0};
    make_way(a);
    a->errand_kind = LKS_SUBTASK_HELPER;
    enum lks_code code = lks_subtask_ask(&a->errand, a->options->helper, LKS_WIRE_COMMAND, envelope,
                                         helper_patience(e), &err);
    lks_agent_health(a, LKS_HEALTH_HELPER_AWAY, code != LKS_OK);
    if (code != LKS_OK)
        lks_agent_command_end(a, LKS_OUTCOME_REFUSED, lks_str_from(err.msg));
}

/* Ourselves with another option, in a process of its own: vendors' libraries are no part of this
 * one. */
static void start_look(struct lks_agent *a, const char *option, enum lks_agent_errand kind)
{
    struct lks_err err = {0};
    const char *words[] = {LOOKER, option, a->options->root != NULL ? "--root" : NULL,
                           a->options->root, NULL};
    char *argv[LKS_COUNT(words)];
    memcpy(argv, words, sizeof(argv)); /* execve() promises not to change them */
    const struct lks_subtask_program program = {.path = LOOKER,
                                                .argv = argv,
                                                .errors = kind == LKS_SUBTASK_IDLE,
                                                .cut = true,
                                                .max = SAID_MAX,
                                                .ms = IDLE_MS};
    make_way(a);
    a->errand_kind = kind;
    if (lks_subtask_start(&a->errand, &program, &err) != LKS_OK)
        lks_agent_command_end(a, LKS_OUTCOME_FAILED, lks_str_from(err.msg));
}

static void run_idle(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    (void)e;
    (void)envelope;
    start_look(a, "--idle", LKS_SUBTASK_IDLE);
}

/* A reboot waits for a look at what it would lead to. On this machine itself the helper looks,
 * which may read more. */
static void run_careful(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    (void)e;
    (void)envelope;
    start_look(a, "--hazards", LKS_SUBTASK_HAZARDS);
}

static void run_accept(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(SAID_MAX);
    (void)e;
    (void)envelope;
    enum lks_outcome outcome = a->options->captured->accept(a->options->root, &text);
    lks_agent_command_end(a, outcome, lks_buf_view(&text));
}

static void run_order(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(SAID_MAX);
    char depot[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    (void)envelope;
    make_way(a); /* what it read may be gone */
    a->inventory_at = lks_agent_now();
    enum lks_outcome outcome = a->options->captured->order(
        a->options->root, lks_statedir_path(&a->dir, LKS_FETCH_FOLDER, depot), e, &text);
    lks_agent_command_end(a, outcome, lks_buf_view(&text));
}

struct executor {
    const char *name;
    bool on_root; /* acts on a captured tree; this machine is the helper's business */
    run_fn *run;
};

static const struct executor executors[] = {
    {LKS_EXECUTOR_INVENTORY, false, run_inventory},
    {LKS_EXECUTOR_IDLE, false, run_idle},
    {LKS_EXECUTOR_REBOOT, true, run_careful},
    {LKS_EXECUTOR_ACCEPT, true, run_accept},
    {"apt", true, run_order},
    {"dnf", true, run_order},
    {"image", true, run_order},
    {"settings", true, run_order},
    {"firmware", true, run_order},
    {"hook", true, run_order},
};

static const struct executor *find_executor(const struct lks_agent *a, const char *name)
{
    static const struct executor by_helper = {"", false, run_helper};
    bool on_root = a->options->root != NULL;
    bool acts = on_root && a->options->captured != NULL;
    for (size_t i = 0; i < LKS_COUNT(executors); i++) {
        if (strcmp(executors[i].name, name) == 0 && (acts || !executors[i].on_root))
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
        bool reads_only = a->options->root != NULL && a->options->captured == NULL;
        lks_agent_command_refuse(a, e->id,
                                 reads_only
                                     ? "lockstep-agent --root only reads; lockstep-agentsim acts"
                                     : "this node has no executor of that name");
        return;
    }
    if (lks_at_most_once_begin(&a->once, e, &err) != LKS_OK) {
        lks_agent_command_refuse(a, e->id, err.msg);
        return;
    }
    a->command = e->id;
    lks_load_stop(a); /* a command finds the machine without it */
    if (lks_ledger_save(&a->dir, &a->once, &err) != LKS_OK) {
        lks_agent_command_end(a, LKS_OUTCOME_REFUSED, lks_str_from(err.msg));
        return;
    }
    lks_agent_note(a, LKS_LEVEL_INFO, "a command starts", "executor", e->executor);
    executor->run(a, e, envelope);
}

void lks_agent_command(struct lks_agent *a, struct lks_str envelope)
{
    struct lks_envelope e = {0};
    struct lks_at_most_once_entry entry = {0};
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
    switch (lks_at_most_once_judge(&a->once, &e, lks_str_from(a->controller.node),
                                   lks_str_from(a->boot), (lks_ms)lks_agent_wall(), &entry, &why)) {
    case LKS_AT_MOST_ONCE_RUN:
        if (lks_agent_fetch_complete(a, &e))
            begin(a, &e, envelope);
        else
            lks_agent_fetch(a, &e, envelope);
        break;
    case LKS_AT_MOST_ONCE_REPEAT:
        tell(a, &entry);
        break;
    case LKS_AT_MOST_ONCE_REFUSE:
        lks_agent_command_refuse(a, e.id, why);
        break;
    }
}

/* What ourselves found: yes, or no with a line. */
static enum lks_code look_over(struct lks_agent *a, char said[TEXT_MAX])
{
    struct lks_str text = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_subtask_end(&a->errand, &text, &err);
    text = lks_str_trim(text);
    while (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (code == LKS_E_REFUSED && text.len == 0)
        code = LKS_E_UNAVAILABLE; /* it has no answer, which it would have printed */
    if (code == LKS_OK || code == LKS_E_REFUSED)
        snprintf(said, TEXT_MAX, "%" LKS_STR_FMT, LKS_STR_ARG(text));
    else
        snprintf(said, TEXT_MAX, "%.*s", TEXT_MAX - 1, err.msg);
    lks_subtask_fini(&a->errand);
    return code;
}

/* A hazard bars the reboot; a look that came to no end does not. */
static void hazards_over(struct lks_agent *a)
{
    char said[TEXT_MAX];
    enum lks_code code = look_over(a, said);
    if (code == LKS_E_REFUSED) {
        lks_agent_command_end(a, LKS_OUTCOME_REFUSED, lks_str_from(said));
        return;
    }
    if (code != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_WARNING, "the next boot could not be inspected", "why", said);
    boot_anew(a);
}

static void idle_over(struct lks_agent *a)
{
    char said[TEXT_MAX];
    enum lks_code code = look_over(a, said);
    lks_agent_command_end(a, code == LKS_OK ? LKS_OUTCOME_DONE : LKS_OUTCOME_FAILED,
                          lks_str_from(said));
}

/* The helper's last word. One that broke off may have begun. */
void lks_agent_command_over(struct lks_agent *a)
{
    enum lks_outcome outcome = LKS_OUTCOME_UNKNOWN;
    struct lks_str text;
    struct lks_err err = {0};
    char said[TEXT_MAX];
    if (a->errand_kind == LKS_SUBTASK_IDLE || a->errand_kind == LKS_SUBTASK_HAZARDS) {
        (a->errand_kind == LKS_SUBTASK_IDLE ? idle_over : hazards_over)(a);
        return;
    }
    if (lks_subtask_end(&a->errand, &text, &err) == LKS_OK &&
        lks_wire_answer(text, &outcome, &text, &err) == LKS_OK)
        snprintf(said, sizeof(said), "%" LKS_STR_FMT, LKS_STR_ARG(text));
    else
        snprintf(said, sizeof(said), "%.*s", TEXT_MAX - 1, err.msg);
    lks_subtask_fini(&a->errand);
    lks_agent_command_end(a, outcome, lks_str_from(said));
}
