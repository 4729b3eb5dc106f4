/* The executor of settings. Settings that a boot loses are kept, and set again by
 * `settings --boot`, which a unit runs when the machine starts. */
#include "executors/settings.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "executors/tool.h"
#include "probe/root/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT_FILE LKS_EXECUTOR_FOLDER "/settings.json"

enum {
    TASKS_MAX = 2 * LKS_ORDER_ITEMS_MAX,
    VERIFY_MS = 10 * 1000, /* what was set may show a moment later */
    LOOK_MS = 300,
    WORDS_SIZE = 4096,
};

struct task {
    const struct lks_order_item *item;
    const struct lks_setting *setting;
    char words[WORDS_SIZE];
    struct lks_err failed; /* how setting it went */
    bool waits;            /* set, and in force after the next boot */
    bool beside;           /* kept from before: the order does not speak of it */
    bool wrong;            /* when it was looked at last it was not so, and will not be */
    char why[LKS_MACHINE_WHY_SIZE];
};

struct work {
    struct task *tasks;
    size_t count;
    size_t changed;
};

static void work_fini(struct work *w)
{
    free(w->tasks);
    *w = (struct work){0};
}

/* Tasks -------------------------------------------------------------------------------------- */

/* A list is written as JSON in an order. */
static enum lks_code to_words(struct lks_str value, char out[WORDS_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    size_t len = 0;
    if (value.len == 0 || value.ptr[0] != '[') {
        (void)lks_executor_job_text(value, out, WORDS_SIZE);
        return value.len < WORDS_SIZE ? LKS_OK
                                      : lks_fail(err, LKS_E_LIMIT, "its value is too long");
    }
    if (lks_docs_init(&docs, "value", err) != LKS_OK || lks_json_parse(value, &docs, err) != LKS_OK)
        return err->code;
    out[0] = '\0';
    for (const struct lks_doc *d = docs.first->first; d != NULL; d = d->next) {
        len += (size_t)snprintf(out + len, WORDS_SIZE - len, "%s%" LKS_STR_FMT, len > 0 ? " " : "",
                                LKS_STR_ARG(d->text));
        if (d->kind != LKS_DOC_TEXT || len >= WORDS_SIZE)
            return lks_fail(err, LKS_E_INVALID, "its value is no list of texts");
    }
    return LKS_OK;
}

static enum lks_code add_task(struct work *w, const struct lks_order_item *item,
                              struct lks_err *err)
{
    const struct lks_setting *setting = lks_setting_find(item->component);
    if (setting == NULL)
        return lks_fail(err, LKS_E_INVALID, "%.*s: no such setting", LKS_STR_ARG(item->component));
    if (w->count == TASKS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "too many settings");
    if (item->value.len == 0 && !setting->lets_go)
        return LKS_OK; /* no stack sets it any more: it stays */
    struct task *t = &w->tasks[w->count];
    *t = (struct task){.item = item, .setting = setting};
    if (to_words(item->value, t->words, err) != LKS_OK)
        return lks_wrap(err, "%.*s", LKS_STR_ARG(item->component));
    if (lks_setting_check(setting, lks_str_from(t->words), err) != LKS_OK)
        return lks_wrap(err, "%.*s", LKS_STR_ARG(item->component));
    if (item->value.len == 0 && setting->born != NULL)
        snprintf(t->words, sizeof(t->words), "%s", setting->born);
    w->count++;
    return LKS_OK;
}

static int in_table_order(const void *left, const void *right)
{
    const struct task *a = left, *b = right;
    if (a->setting != b->setting)
        return a->setting < b->setting ? -1 : 1;
    return lks_str_cmp(a->item->component, b->item->component);
}

static enum lks_code add_tasks(struct work *w, const struct lks_order *order, struct lks_err *err)
{
    for (size_t i = 0; i < order->count; i++) {
        if (add_task(w, &order->items[i], err) != LKS_OK)
            return err->code;
    }
    qsort(w->tasks, w->count, sizeof(*w->tasks), in_table_order);
    return LKS_OK;
}

/* Looking ------------------------------------------------------------------------------------ */

/* What has no value of its own shows by being gone. */
static bool let_go(const struct task *t, const struct lks_machine *m)
{
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(&m->tuple, t->item->component, &count);
    for (size_t i = 0; i < count; i++) {
        if (r[i].state != LKS_ABSENT)
            return false;
    }
    return true;
}

static enum lks_code look(struct task *t, const struct lks_machine *m, bool *so,
                          struct lks_err *err)
{
    struct lks_str name = t->item->component, words = lks_str_from(t->words);
    bool placed = false;
    t->waits = false;
    *so = words.len > 0 ? lks_settings_machine_holds(m, name, words, t->why) : let_go(t, m);
    if (t->setting->placed != NULL) {
        if (t->setting->placed(t->item, words, &placed, err) != LKS_OK)
            return err->code;
        t->waits = placed && !*so && t->setting->needs == LKS_SETTING_BOOT;
        /* A value that runs and is not there for the next boot is not set. */
        *so = t->setting->needs == LKS_SETTING_BOOT ? placed : *so || placed;
    }
    return LKS_OK;
}

/* Will be so when the GPU was reset. */
static bool is_pending(const struct task *t, const struct lks_machine *m)
{
    char why[LKS_MACHINE_WHY_SIZE];
    bool on = strcmp(t->words, "true") == 0 || strcmp(t->words, "enabled") == 0;
    if (t->setting->pending == NULL)
        return false;
    struct lks_str name = lks_str_from(t->setting->pending);
    return lks_settings_machine_holds(m, name, lks_str_from(t->words), why) ||
           lks_settings_machine_holds(m, name, on ? LKS_STR("enabled") : LKS_STR("disabled"),
                                      why) ||
           lks_settings_machine_holds(m, name, on ? LKS_STR("true") : LKS_STR("false"), why);
}

/* Setting ------------------------------------------------------------------------------------ */

/* Set all that is not so. What fails shows when it is looked at again. */
static enum lks_code set_all(struct work *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_settings_machine_fini) struct lks_machine m = {0};
    if (lks_settings_machine_read(&m, err) != LKS_OK)
        return err->code;
    w->changed = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct task *t = &w->tasks[i];
        bool so = false;
        if (look(t, &m, &so, err) != LKS_OK && !t->beside)
            return lks_wrap(err, "%.*s", LKS_STR_ARG(t->item->component));
        if (so || is_pending(t, &m))
            continue;
        w->changed += t->beside ? 0 : 1;
        t->wrong = true;
        t->failed = (struct lks_err){0};
        (void)!t->setting->set(t->item, lks_str_from(t->words), &t->failed);
    }
    return LKS_OK;
}

/* Whether all is so, but for what waits for a reset. */
static enum lks_code look_all(struct work *w, const struct task **other, bool *reset,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_settings_machine_fini) struct lks_machine m = {0};
    if (lks_settings_machine_read(&m, err) != LKS_OK)
        return err->code;
    *other = NULL;
    *reset = false;
    for (size_t i = 0; i < w->count; i++) {
        struct task *t = &w->tasks[i];
        bool so = false;
        if (look(t, &m, &so, err) != LKS_OK && !t->beside)
            return lks_wrap(err, "%.*s", LKS_STR_ARG(t->item->component));
        bool pending = !so && is_pending(t, &m);
        t->wrong = !so && !pending;
        if (so)
            continue;
        if (pending) {
            t->waits = true;
            *reset = true;
        } else if (*other == NULL && !t->beside) {
            *other = t;
        }
    }
    return LKS_OK;
}

static enum lks_code wait_all(struct work *w, const struct task **other, bool *reset,
                              struct lks_err *err)
{
    int64_t until = lks_clock_ms() + VERIFY_MS;
    for (;;) {
        if (look_all(w, other, reset, err) != LKS_OK)
            return err->code;
        if (*other == NULL || (*other)->failed.code != LKS_OK || lks_clock_ms() >= until)
            return LKS_OK;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

/* The node is drained: nothing runs on its GPUs. All of them together, as boards with switches want
 * it. Where it is refused the next boot does it. */
static bool reset_gpus(void)
{
    static const char *const argv[] = {"nvidia-smi", "--gpu-reset", NULL};
    struct lks_err ignored = {0};
    return lks_tool_run(&(struct lks_tool){.argv = argv}, &ignored) == LKS_OK;
}

static enum lks_code apply(struct work *w, size_t *changed, struct lks_err *err)
{
    const struct task *other = NULL;
    bool reset = false;
    if (set_all(w, err) != LKS_OK)
        return err->code;
    *changed = w->changed;
    if (*changed > 0)
        (void)poll(NULL, 0, LOOK_MS);
    if (wait_all(w, &other, &reset, err) != LKS_OK)
        return err->code;
    if (reset && reset_gpus() &&
        (set_all(w, err) != LKS_OK || wait_all(w, &other, &reset, err) != LKS_OK))
        return err->code;
    if (other == NULL)
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED, "%.*s: %s%s%s", LKS_STR_ARG(other->item->component),
                    other->failed.code != LKS_OK ? other->failed.msg : other->why,
                    other->failed.code != LKS_OK ? ": " : "",
                    other->failed.code != LKS_OK ? other->why : "");
}

/* What a boot loses -------------------------------------------------------------------------- */

static enum lks_code read_kept(struct lks_docs *docs, struct lks_buf *text, struct lks_order *out,
                               struct lks_err *err)
{
    lks_buf_init(text, LKS_ORDER_BYTES_MAX);
    enum lks_code code = lks_file_read_plain(KEPT_FILE, text, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    if (code != LKS_OK || lks_docs_init(docs, KEPT_FILE, err) != LKS_OK)
        return err->code;
    return lks_order_parse(lks_buf_view(text), KEPT_FILE, docs, out, err);
}

static bool is_ordered(const struct lks_order *order, struct lks_str component)
{
    for (size_t i = 0; i < order->count; i++) {
        if (lks_str_eq(order->items[i].component, component))
            return true;
    }
    return false;
}

static enum lks_code write_kept(const struct lks_order *kept, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ORDER_BYTES_MAX);
    if (lks_order_write(kept, &text, err) != LKS_OK)
        return err->code;
    return lks_file_replace(KEPT_FILE, lks_buf_view(&text), err);
}

/* What was kept and is not spoken of now, and what is wanted now. */
static enum lks_code keep(const struct lks_order *before, const struct lks_order *now,
                          struct lks_err *err)
{
    struct lks_order kept = {.kind = LKS_ORDER_SETTINGS};
    kept.items = calloc(before->count + now->count + 1, sizeof(*kept.items));
    if (kept.items == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < before->count; i++) {
        if (!is_ordered(now, before->items[i].component))
            kept.items[kept.count++] = before->items[i];
    }
    for (size_t i = 0; i < now->count; i++) {
        const struct lks_setting *s = lks_setting_find(now->items[i].component);
        if (s != NULL && s->keeps && now->items[i].value.len > 0)
            kept.items[kept.count++] = now->items[i];
    }
    enum lks_code code = LKS_OK;
    if (kept.count > 0)
        code = write_kept(&kept, err);
    else if (remove(KEPT_FILE) != 0 && before->count > 0)
        code = lks_file_fail(err, KEPT_FILE);
    free(kept.items);
    return code;
}

/* The very value that could not be set. */
static bool is_wrong(const struct work *w, const struct lks_order_item *item)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct task *t = &w->tasks[i];
        if (t->wrong && !t->beside && lks_str_eq(t->item->component, item->component) &&
            lks_str_eq(t->item->value, item->value))
            return true;
    }
    return false;
}

/* A value that could not be set is not tried at each boot, and no later order hears of it: what was
 * kept in its place before is, and nothing where that is the same. */
static enum lks_code unkeep(const struct work *w, const struct lks_order *order,
                            const struct lks_order *before, struct lks_err *err)
{
    const struct lks_order *from[] = {before, order};
    struct lks_order to[LKS_COUNT(from)] = {{.kind = LKS_ORDER_SETTINGS},
                                            {.kind = LKS_ORDER_SETTINGS}};
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < LKS_COUNT(from); i++) {
        to[i].items = calloc(from[i]->count + 1, sizeof(*to[i].items));
        for (size_t j = 0; to[i].items != NULL && j < from[i]->count; j++) {
            if (!is_wrong(w, &from[i]->items[j]))
                to[i].items[to[i].count++] = from[i]->items[j];
        }
    }
    if (to[0].items == NULL || to[1].items == NULL)
        code = lks_fail_nomem(err);
    else
        code = keep(&to[0], &to[1], err);
    free(to[0].items);
    free(to[1].items);
    return code;
}

/* The executor ------------------------------------------------------------------------------- */

static void say(const struct work *w, size_t changed, struct lks_buf *said)
{
    size_t waits = 0, ordered = 0;
    for (size_t i = 0; i < w->count; i++) {
        ordered += w->tasks[i].beside ? 0 : 1;
        waits += w->tasks[i].waits && !w->tasks[i].beside ? 1 : 0;
    }
    if (changed == 0)
        lks_buf_addf(said, "already so: %zu settings", ordered);
    else
        lks_buf_addf(said, "%zu of %zu settings changed", changed, ordered);
    if (waits > 0)
        lks_buf_addf(said, ", %zu in force after the next boot", waits);
}

static enum lks_code carry_out(const struct lks_order *order, const struct lks_order *also,
                               struct lks_buf *said, struct lks_err *err)
{
    LKS_CLEANUP(work_fini) struct work w = {0};
    size_t changed = 0;
    w.tasks = calloc(TASKS_MAX, sizeof(*w.tasks));
    if (w.tasks == NULL)
        return lks_fail_nomem(err);
    if (add_tasks(&w, order, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; also != NULL && i < also->count; i++) {
        bool other = !is_ordered(order, also->items[i].component);
        size_t before = w.count;
        if (other && add_task(&w, &also->items[i], err) != LKS_OK)
            return err->code;
        if (w.count > before)
            w.tasks[before].beside = true;
    }
    qsort(w.tasks, w.count, sizeof(*w.tasks), in_table_order);
    if (apply(&w, &changed, err) != LKS_OK) {
        struct lks_err kept = {0};
        if (also != NULL && unkeep(&w, order, also, &kept) != LKS_OK)
            return lks_wrap(err, "%s", kept.msg);
        return err->code;
    }
    say(&w, changed, said);
    return LKS_OK;
}

/* What can be told to be wrong without touching anything is told first: nothing of it is kept. */
static enum lks_code check(const struct lks_order *order, struct lks_err *err)
{
    LKS_CLEANUP(work_fini) struct work w = {0};
    w.tasks = calloc(TASKS_MAX, sizeof(*w.tasks));
    return w.tasks == NULL ? lks_fail_nomem(err) : add_tasks(&w, order, err);
}

/* Settings that others of its kind were given before stay: a reset of the GPU loses them, too. They
 * are set again where they can be, and the order is judged by what it names. What is to be kept is
 * kept before it is set, so that a machine that goes down has it. */
static enum lks_code run(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_order kept = {0};
    if (check(&job->order, err) != LKS_OK || read_kept(&docs, &text, &kept, err) != LKS_OK ||
        keep(&kept, &job->order, err) != LKS_OK)
        return err->code;
    return carry_out(&job->order, &kept, said, err);
}

static enum lks_code run_boot(struct lks_job *job, struct lks_buf *said, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_order kept = {0};
    (void)job;
    if (read_kept(&docs, &text, &kept, err) != LKS_OK)
        return err->code;
    if (kept.count > 0)
        return carry_out(&kept, NULL, said, err);
    lks_buf_add(said, LKS_STR("nothing is kept"));
    return LKS_OK;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--boot") == 0)
        return lks_executor_plain(1, argv, run_boot);
    return lks_executor_main(argc, argv, LKS_ORDER_SETTINGS, run);
}
