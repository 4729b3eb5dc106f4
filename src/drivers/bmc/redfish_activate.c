/* Making what is staged run, giving it up, and switching to the other bank. */
#include "codec/format/json.h"
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

#define CLEAR_EVERY (10 * LKS_SECOND)
#define CLEAR_FOR   (60 * LKS_SECOND) /* that nothing ran there is old news after this */
#define HOLDS_MAX   18 /* looks in vain before what cannot be read counts for nothing */
#define OFF_EVERY   (10 * LKS_SECOND)
#define OFF_LOOKS   36 /* half of them after it was asked to, half after it was forced to */

enum { MANAGERS, SYSTEMS, CHASSIS };

/* Ways to reset, the first that the service has. `reset` is the word of firmware-updates.csv, and
 * what a kinder reset cannot do stands below it. */
static const struct recipe {
    const char *reset;
    int where;
    const char *action; /* below Actions */
    const char *types;  /* in order of preference, blanks between */
    const char *more;   /* what else the action wants, or "" */
    bool off;           /* only when the host is off */
} recipes[] = {
    {"bmc", MANAGERS, "#Manager.Reset", "GracefulRestart ForceRestart", "", false},
    {"reboot", SYSTEMS, "#ComputerSystem.Reset", "GracefulRestart ForceRestart PowerCycle", "",
     false},
    {"reboot", CHASSIS, "#Chassis.Reset", "PowerCycle ForceRestart GracefulRestart", "", false},
    {"device", SYSTEMS, "#ComputerSystem.Reset", "GracefulRestart ForceRestart PowerCycle", "",
     false},
    {"device", MANAGERS, "#Manager.Reset", "GracefulRestart ForceRestart", "", false},
    {"dc", SYSTEMS, "#ComputerSystem.Reset", "PowerCycle ForceRestart FullPowerCycle", "", false},
    {"dc", CHASSIS, "#Chassis.Reset", "PowerCycle FullPowerCycle", "", false},
    {"ac", CHASSIS, "Oem/#NvidiaChassis.AuxPowerReset", "AuxPowerCycle", "", false},
    {"ac", CHASSIS, "Oem/#DellOemChassis.ExtendedReset", "PowerCycle", "FinalPowerState", true},
    {"ac", SYSTEMS, "Oem/#OemSystemExtensions.Reset", "ACCycle", "", false},
    {"ac", SYSTEMS, "Oem/Hpe/#HpeComputerSystemExt.SystemReset", "AuxCycle", "", true},
    {"ac", SYSTEMS, "Oem/#HpeComputerSystemExt.SystemReset", "AuxCycle", "", true},
    {"ac", CHASSIS, "#Chassis.Reset", "FullPowerCycle PowerCycle", "", false},
    {"ac", SYSTEMS, "#ComputerSystem.Reset", "FullPowerCycle PowerCycle", "", false},
    {"ac", SYSTEMS, "#ComputerSystem.Reset", "ForceRestart GracefulRestart", "", false},
    {"ac", MANAGERS, "#Manager.Reset", "ForceRestart GracefulRestart", "", false},
};

/* The word of the component, as the table above spells it; "": there is nothing to reset, or it is
 * not ours to do. */
static const char *reset_word(const struct lks_redfish_update *u)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    struct lks_str word = row != NULL ? row->reset : LKS_STR("");
    for (size_t i = 0; i < LKS_COUNT(recipes); i++) {
        if (lks_str_is(word, recipes[i].reset))
            return recipes[i].reset;
    }
    return "";
}

static const char *where_of(const struct lks_redfish_update *u)
{
    int where = recipes[u->recipe].where;
    return where == MANAGERS ? u->r.managers : where == SYSTEMS ? u->r.systems : u->r.chassis;
}

/* Does anything say that it waits there for a reset? Of what was to be applied at once only its
 * class does, where the reset is of a kind that no service offers. */
static bool waits_there(const struct lks_redfish_update *u)
{
    bool others =
        lks_facts_firmware(u->facts, lks_str_from(u->kind)) != NULL && reset_word(u)[0] == '\0';
    return lks_redfish_staged_count(u) > 0 || u->reset_told ||
           (u->uploads > 0 && (others || strcmp(u->apply, "Immediate") != 0));
}

/* Nothing here can make it run: a person, or a later power cycle, can, if it is there at all. */
static void no_reset(struct lks_redfish_update *u, lks_ms now)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    const char *shown = u->bank_count > 0 ? "" : "; the inventory shows no staged bank";
    char why[LKS_REDFISH_TEXT_SIZE + 8] = "";
    if (u->why[0] != '\0')
        snprintf(why, sizeof(why), " (%s)", u->why);
    if (!waits_there(u) && row == NULL && u->sent != LKS_RF_NOTHING)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "it runs %s and not %s, and it is not known which reset makes %s run%.200s",
                        u->target_count > 0 ? u->targets[0].version : "nothing", u->version,
                        u->component, why);
    else if (!waits_there(u))
        lks_redfish_end(u, now, u->sent != LKS_RF_NOTHING ? LKS_BMC_FAILED : LKS_BMC_REFUSED,
                        "%s: it runs %s, shows nothing staged, and offers no reset for %s%.200s",
                        u->task_over ? "the task ended and nothing changed"
                                     : "nothing can be activated",
                        u->target_count > 0 ? u->targets[0].version : "nothing", u->component, why);
    else if (row == NULL)
        lks_redfish_end(u, now, LKS_BMC_STAGED,
                        "%s waits for a reset, and it is not known which makes %s run%.200s%s",
                        u->version, u->component, why, shown);
    else
        lks_redfish_end(u, now, LKS_BMC_STAGED,
                        "%s waits for a reset of kind '%" LKS_STR_FMT
                        "', which this service does not offer%.200s%s",
                        u->version, LKS_STR_ARG(row->reset), why, shown);
}

/* The first recipe from `from` on that is for this component. */
static void try_recipe(struct lks_redfish_update *u, lks_ms now, size_t from)
{
    const char *word = reset_word(u);
    for (u->recipe = from; u->recipe < LKS_COUNT(recipes); u->recipe++) {
        if (word[0] != '\0' && strcmp(recipes[u->recipe].reset, word) == 0 &&
            where_of(u)[0] != '\0') {
            lks_conversation_go(&u->r.head, LKS_RF_RESET_FIND, now);
            return;
        }
    }
    no_reset(u, now);
}

/* It is sent once it is durable that it may have been. */
static void send_action(struct lks_redfish_update *u, lks_ms now, const char *target)
{
    lks_redfish_keep(u->reset_target, sizeof(u->reset_target), lks_str_from(target));
    u->sent = LKS_RF_SENT_RESET;
    u->activated = now;
    u->acted = true;
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_ACTION, now);
}

static void send_reset(struct lks_redfish_update *u, lks_ms now)
{
    u->sent = LKS_RF_SENT_RESET;
    u->activated = now;
    u->resets++;
    u->reset_heard = false;
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_RESET, now);
}

static bool is_below(const char *at, const char *list)
{
    size_t len = strlen(list);
    return len > 0 && strncmp(at, list, len) == 0 && (at[len] == '/' || list[len - 1] == '/');
}

/* A task may say what is to be reset, and how. It is taken at its word where that is a restart, and
 * of a thing that the table resets for this component: never a host for its BMC, and no way to turn
 * something off. */
static bool told_reset(const struct lks_redfish_update *u)
{
    static const char *const restarts[] = {"GracefulRestart", "ForceRestart", "PowerCycle",
                                           "FullPowerCycle"};
    const char *const lists[] = {
        [MANAGERS] = u->r.managers, [SYSTEMS] = u->r.systems, [CHASSIS] = u->r.chassis};
    const char *word = reset_word(u);
    bool restart = false, ours = u->kind[0] == '\0'; /* no table knows better than the service */
    for (size_t i = 0; i < LKS_COUNT(restarts); i++)
        restart = restart || strcmp(u->reset_type, restarts[i]) == 0;
    for (size_t i = 0; i < LKS_COUNT(recipes); i++)
        ours = ours || (strcmp(recipes[i].reset, word) == 0 &&
                        is_below(u->reset_at, lists[recipes[i].where]));
    return u->reset_at[0] != '\0' && restart && ours;
}

/* The recipe to go on with; what a task told is none of them. */
static size_t present_recipe(const struct lks_redfish_update *u)
{
    return u->recipe < LKS_COUNT(recipes) ? u->recipe : 0;
}

static size_t next_recipe(const struct lks_redfish_update *u)
{
    return u->recipe < LKS_COUNT(recipes) ? u->recipe + 1 : 0;
}

/* Whatever was said of what was sent: no reset and no action while an update runs there. */
static void activate_from(struct lks_redfish_update *u, lks_ms when, size_t recipe)
{
    u->recipe_from = recipe;
    u->purpose = LKS_RF_CLEAR;
    lks_redfish_walk_tasks(u, when);
}

void lks_redfish_activate(struct lks_redfish_update *u, lks_ms now)
{
    activate_from(u, now, 0);
}

/* As if it had not been sent: what counts how often it was asked for does not count this. */
static void take_back(struct lks_redfish_update *u, uint32_t step)
{
    u->activated = 0;
    if (step == LKS_RF_RESET)
        u->resets--;
    else if (step == LKS_RF_RESET_OFF)
        u->offs--;
    else if (u->act == LKS_BMC_SWITCH && u->resets == 0)
        u->switches--;
    else
        u->acted = false;
}

bool lks_redfish_put_off(struct lks_redfish_update *u, lks_ms when)
{
    uint32_t step = u->r.head.step;
    bool off = step == LKS_RF_RESET_OFF && u->off_target[0] != '\0';
    if (step != LKS_RF_ACTION && step != LKS_RF_RESET && !off)
        return false;
    take_back(u, step);
    activate_from(u, when, present_recipe(u));
    u->r.head.checkpoint = true;
    return true;
}

void lks_redfish_put_off_old(struct lks_redfish_update *u, lks_ms now)
{
    if (now - u->cleared > CLEAR_FOR)
        lks_redfish_put_off(u, now);
}

/* A reset would make an unrequested image run: one that was staged before, or by another update
 * since. */
static bool other_staged(const struct lks_redfish_update *u)
{
    uint64_t now[2];
    size_t reached = lks_redfish_reached(u);
    lks_redfish_hash_entries(u, now);
    bool others = u->waited || u->task_found;
    bool since = others && reached == u->had_reached && now[1] != u->entries[1];
    return u->activated == 0 && u->bank_count > 0 && reached < u->target_count &&
           (u->act == LKS_BMC_ACTIVATE || since);
}

/* Actions come first: they disturb nothing else. Where that was not enough it is a reset. */
static void activate(struct lks_redfish_update *u, lks_ms now)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    const char *action = u->entry_activate[0] != '\0' ? u->entry_activate : u->activate;
    u->cleared = now;
    if (u->act == LKS_BMC_STAGE) {
        lks_redfish_walk(u, LKS_RF_AGREE, now); /* it was only asked whether something runs */
    } else if (other_staged(u)) {
        lks_redfish_end(u, now, u->sent == LKS_RF_NOTHING ? LKS_BMC_REFUSED : LKS_BMC_UNKNOWN,
                        "what is staged is %s and not %s", u->banks[0].version, u->version);
    } else if (lks_redfish_switch_lost(u)) {
        lks_redfish_switch(u, now); /* to choose a bank twice is to choose it */
    } else if (u->act == LKS_BMC_SWITCH && u->resets + u->switches == 0 && !u->reset_heard) {
        lks_redfish_walk(u, LKS_RF_AGREE, now + CLEAR_EVERY); /* it was not chosen yet */
    } else if (row != NULL && lks_str_is(row->reset, "none")) {
        u->activated = now; /* it takes itself over, in its own time */
        u->reset_heard = true;
        lks_redfish_walk(u, LKS_RF_AGREE, now + LKS_REDFISH_POLL);
    } else if (action[0] != '\0' && !u->acted) {
        send_action(u, now, action);
    } else if (told_reset(u) && u->resets == 0) {
        lks_redfish_keep(u->reset_resource, sizeof(u->reset_resource), lks_str_from(u->reset_at));
        u->recipe = LKS_COUNT(recipes);
        lks_conversation_go(&u->r.head, LKS_RF_RESET_READ, now);
    } else {
        try_recipe(u, now, u->recipe_from);
    }
}

/* A list that cannot be read, or a task that says nothing, is looked at again before it counts for
 * nothing; a task that runs is waited for until the deadline, and what it did is read anew. */
void lks_redfish_clear(struct lks_redfish_update *u, lks_ms now)
{
    bool blank = (u->old_known && !u->tasks_read) || u->fresh_blank;
    bool runs = u->fresh_runs || u->others_run;
    bool first = runs && !u->waited && u->sent != LKS_RF_NOTHING;
    u->waited = u->waited || runs;
    if (u->fresh_runs && lks_redfish_has_task(u)) {
        lks_redfish_follow_fresh(u, now);
    } else if (runs || (blank && u->holds < HOLDS_MAX)) {
        u->held = true;
        u->holds += blank;
        lks_redfish_walk_tasks(u, now + CLEAR_EVERY);
        u->r.head.checkpoint = first;
    } else if (u->held) {
        u->held = false;
        u->since = now;
        lks_redfish_walk(u, LKS_RF_AGREE, now);
    } else {
        activate(u, now);
    }
}

/* Back to the other bank, which has to hold what is asked for, and to be the one that a reset leads
 * to. */
void lks_redfish_switch(struct lks_redfish_update *u, lks_ms now)
{
    if (u->backup_activate[0] == '\0')
        lks_redfish_end(u, now, LKS_BMC_REFUSED,
                        "the service offers no switch of banks for %s; flash the version "
                        "before, %s, from its kept image",
                        u->component, u->backup[0] != '\0' ? u->backup : "which is known");
    else if (u->backup_count > 1)
        lks_redfish_end(u, now, LKS_BMC_REFUSED,
                        "%zu entries of %s have another bank; name one by its id", u->backup_count,
                        u->component);
    else if (!lks_bmc_version_same(lks_str_from(u->backup), lks_str_from(u->version)))
        lks_redfish_end(u, now, LKS_BMC_REFUSED, "the other bank has %s and not %s",
                        u->backup[0] != '\0' ? u->backup : "no version that could be read",
                        u->version[0] != '\0' ? u->version : "a version of its own");
    else if (u->bank_count > 0)
        lks_redfish_end(u, now, LKS_BMC_REFUSED,
                        "%s is staged, and a reset would make that run; give it up first",
                        u->banks[0].version);
    else {
        u->switches++;
        send_action(u, now, u->backup_activate);
    }
}

/* An action that activates ------------------------------------------------------------------ */

void lks_redfish_ask_action(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->reset_target), out);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_begin(&w, NULL, '{');
    if (strcmp(u->reset_target, u->activate) == 0) {
        lks_json_begin(&w, "Targets", '[');
        for (size_t i = 0; i < u->target_count; i++)
            lks_json_cstr(&w, NULL, u->targets[i].uri);
        lks_json_end(&w, ']');
    }
    lks_json_end(&w, '}');
}

/* Refused: it did not happen, and something else has to make it run. That an update runs may be
 * why, so it is looked for first. */
static void refused(struct lks_redfish_update *u, lks_ms now, size_t next,
                    const struct lks_http_response *answer)
{
    lks_redfish_error(answer, u->why);
    u->activated = 0;
    if (u->act == LKS_BMC_SWITCH && u->resets == 0) {
        char why[sizeof(u->why)];
        memcpy(why, u->why, sizeof(why));
        lks_redfish_end(u, now, LKS_BMC_REFUSED, "the switch of banks was refused: %s", why);
        return;
    }
    activate_from(u, now, next);
}

void lks_redfish_hear_action(struct lks_redfish_update *u, lks_ms now,
                             const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    bool taken = answer->status >= 200 && answer->status <= 299;
    u->reset_heard = taken && u->act == LKS_BMC_SWITCH;
    if (!taken) {
        refused(u, now, 0, answer);
        return;
    }
    bool shown = lks_redfish_keep_task(u, lks_redfish_read(answer, &docs), answer);
    u->task_over = u->task_failed = u->task_found = false;
    if ((answer->status == 202 || shown) && u->task[0] != '\0') {
        lks_redfish_follow(u, lks_str_from(u->task), shown, now + LKS_REDFISH_POLL);
    } else {
        lks_redfish_walk(u, LKS_RF_AGREE, now + LKS_REDFISH_POLL);
        u->r.head.checkpoint = true;
    }
}

/* A reset ----------------------------------------------------------------------------------- */

void lks_redfish_ask_reset_find(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(where_of(u)), out);
}

/* Is `related` the resource itself, or a part of it? */
static bool holds(struct lks_str uri, const char *related)
{
    struct lks_str at = lks_str_from(related);
    return at.len >= uri.len && memcmp(at.ptr, uri.ptr, uri.len) == 0 &&
           (at.len == uri.len || at.ptr[uri.len] == '/');
}

/* Which of several: the one that the entry belongs to, else the first that is no accelerator board,
 * which has no power of its own. Of several hosts none is the first: one of them may not be ours to
 * reset. */
static struct lks_str choose_member(const struct lks_redfish_update *u,
                                    const struct lks_doc *members, int where)
{
    struct lks_str first = {"", 0};
    size_t hosts = 0;
    char related[LKS_REDFISH_URI_SIZE] = "";
    if (u->target_count > 0)
        memcpy(related, u->targets[0].related, sizeof(related));
    for (const struct lks_doc *one = members != NULL ? members->first : NULL; one != NULL;
         one = one->next) {
        struct lks_str uri = lks_bmc_json_path(one, "@odata.id");
        bool board = lks_str_starts(lks_str_last(uri, '/'), "HGX_");
        if (uri.len > 0 && (where == MANAGERS || !board) && holds(uri, related))
            return uri;
        hosts += !board && uri.len > 0;
        if (first.len == 0 && !board)
            first = uri;
    }
    return where == SYSTEMS && hosts > 1 ? (struct lks_str){"", 0} : first;
}

void lks_redfish_hear_reset_find(struct lks_redfish_update *u, lks_ms now,
                                 const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *members = lks_bmc_json_at(lks_redfish_read(answer, &docs), "Members");
    if (lks_redfish_keep(u->reset_resource, sizeof(u->reset_resource),
                         choose_member(u, members, recipes[u->recipe].where)))
        lks_conversation_go(&u->r.head, LKS_RF_RESET_READ, now);
    else
        try_recipe(u, now, u->recipe + 1);
}

void lks_redfish_ask_reset_read(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->reset_resource), out);
}

/* The first of our types that is allowed; where nothing is said, the first. What was asked for
 * kindly and did not happen is not asked for kindly again, where there is a choice. */
static bool choose_type(struct lks_redfish_update *u, const struct lks_doc *allowed)
{
    struct lks_str rest, word;
    bool told = u->recipe == LKS_COUNT(recipes), found = false, kind = true;
    char types[LKS_REDFISH_TEXT_SIZE];
    snprintf(types, sizeof(types), "%s", told ? u->reset_type : recipes[u->recipe].types);
    rest = lks_str_from(types);
    while (lks_str_word(&rest, &word) && (!found || (kind && u->resets > 0))) {
        char type[sizeof(u->reset_type)];
        lks_redfish_keep(type, sizeof(type), word);
        if (allowed != NULL && !lks_doc_has(allowed, lks_str_from(type)))
            continue;
        memcpy(u->reset_type, type, sizeof(type));
        found = true;
        kind = lks_str_starts(word, "Graceful");
    }
    return found;
}

static const struct lks_doc *find_action(const struct lks_redfish_update *u,
                                         const struct lks_doc *doc)
{
    static const char *const usual[] = {"#ComputerSystem.Reset", "#Manager.Reset",
                                        "#Chassis.Reset"};
    const struct lks_doc *actions = lks_doc_member(doc, "Actions"), *action = NULL;
    if (u->recipe < LKS_COUNT(recipes))
        return lks_bmc_json_at(actions, recipes[u->recipe].action);
    for (size_t i = 0; i < LKS_COUNT(usual) && action == NULL; i++)
        action = lks_doc_member(actions, usual[i]);
    return action;
}

/* A chassis of several hosts is not power cycled for one of them. */
static bool is_shared(const struct lks_redfish_update *u, const struct lks_doc *doc)
{
    bool chassis = u->recipe < LKS_COUNT(recipes) ? recipes[u->recipe].where == CHASSIS
                                                  : is_below(u->reset_resource, u->r.chassis);
    const struct lks_doc *hosts = lks_bmc_json_at(doc, "Links/ComputerSystems");
    size_t count = 0;
    for (const struct lks_doc *one = hosts != NULL && hosts->kind == LKS_DOC_LIST ? hosts->first
                                                                                  : NULL;
         one != NULL; one = one->next)
        count += !lks_str_starts(lks_str_last(lks_bmc_json_path(one, "@odata.id"), '/'), "HGX_");
    return chassis && count > 1;
}

/* Off first where it has to be: by itself, else by force. */
static bool wants_off(const struct lks_redfish_update *u, const struct lks_doc *doc)
{
    if (u->recipe >= LKS_COUNT(recipes) || !recipes[u->recipe].off ||
        lks_str_is(lks_bmc_json_text(doc, "PowerState"), "Off"))
        return false;
    return u->offs < OFF_LOOKS;
}

/* The system is asked to go off now and then, and looked at in between; at the tasks, too. */
static void go_off(struct lks_redfish_update *u, lks_ms now)
{
    bool ask = u->offs == 0 || u->offs == OFF_LOOKS / 2;
    u->offs++;
    u->cleared = 0;
    if (ask)
        lks_conversation_go(&u->r.head, LKS_RF_RESET_OFF, now);
    else
        lks_conversation_go(&u->r.head, LKS_RF_RESET_READ, now + OFF_EVERY);
}

/* Much may lie between the look at the tasks and this, as a service that is silent for long: then
 * an update may have begun since. */
static void reset(struct lks_redfish_update *u, lks_ms now, bool off)
{
    if (now - u->cleared > CLEAR_FOR)
        activate_from(u, now, present_recipe(u));
    else if (off)
        go_off(u, now);
    else
        send_reset(u, now);
}

static void try_next(struct lks_redfish_update *u, lks_ms now)
{
    u->reset_at[0] = '\0';
    try_recipe(u, now, next_recipe(u));
}

void lks_redfish_hear_reset_read(struct lks_redfish_update *u, lks_ms now,
                                 const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    const struct lks_doc *action = find_action(u, doc);
    const struct lks_doc *allowed = lks_doc_member(action, "ResetType@Redfish.AllowableValues");
    struct lks_str info = lks_bmc_json_path(action, "@Redfish.ActionInfo");
    bool there = !is_shared(u, doc) && lks_redfish_keep(u->reset_target, sizeof(u->reset_target),
                                                        lks_bmc_json_path(action, "target"));
    if (there && allowed == NULL && lks_redfish_keep(u->reset_info, sizeof(u->reset_info), info))
        lks_conversation_go(&u->r.head, LKS_RF_RESET_INFO, now);
    else if (!there || !choose_type(u, allowed))
        try_next(u, now);
    else
        reset(u, now, wants_off(u, doc));
}

void lks_redfish_ask_reset_info(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->reset_info), out);
}

void lks_redfish_hear_reset_info(struct lks_redfish_update *u, lks_ms now,
                                 const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    const struct lks_doc *list = lks_doc_member(doc, "Parameters"), *allowed = NULL;
    for (const struct lks_doc *one = list != NULL ? list->first : NULL; one != NULL;
         one = one->next) {
        if (lks_str_is(lks_bmc_json_text(one, "Name"), "ResetType"))
            allowed = lks_doc_member(one, "AllowableValues");
    }
    if (choose_type(u, allowed))
        reset(u, now, false);
    else
        try_next(u, now);
}

/* The host is drained: it is part of what was asked for, and harmless to repeat. */
void lks_redfish_ask_reset_off(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    if (u->off_target[0] == '\0') {
        bool read = u->off_resource[0] != '\0';
        lks_redfish_ask(&u->r, "GET", lks_str_from(read ? u->off_resource : u->r.systems), out);
        return;
    }
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->off_target), out);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_write(&w, "{'ResetType': '%s'}",
                   u->offs > OFF_LOOKS / 2 ? "ForceOff" : "GracefulShutdown");
}

/* First which system, then where its reset is, then the order itself. */
void lks_redfish_hear_reset_off(struct lks_redfish_update *u, lks_ms now,
                                const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (u->off_target[0] != '\0') {
        lks_conversation_go(&u->r.head, LKS_RF_RESET_READ, now + OFF_EVERY);
        return;
    }
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    bool found;
    if (u->off_resource[0] == '\0')
        found = lks_redfish_keep(u->off_resource, sizeof(u->off_resource),
                                 choose_member(u, lks_doc_member(doc, "Members"), SYSTEMS));
    else
        found = lks_redfish_keep(u->off_target, sizeof(u->off_target),
                                 lks_bmc_json_path(doc, "Actions/#ComputerSystem.Reset/target"));
    if (found)
        lks_conversation_go(&u->r.head, LKS_RF_RESET_OFF, now);
    else
        try_next(u, now);
}

void lks_redfish_ask_reset(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->reset_target), out);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "ResetType", u->reset_type);
    if (u->recipe < LKS_COUNT(recipes) && recipes[u->recipe].more[0] != '\0')
        lks_json_cstr(&w, recipes[u->recipe].more, "On");
    lks_json_end(&w, '}');
}

void lks_redfish_hear_reset(struct lks_redfish_update *u, lks_ms now,
                            const struct lks_http_response *answer)
{
    u->reset_heard = answer->status >= 200 && answer->status <= 299;
    if (u->reset_heard) { /* after a restart of ours it would be as good as unanswered */
        lks_redfish_walk(u, LKS_RF_AGREE, now + 2 * LKS_REDFISH_POLL);
        u->r.head.checkpoint = true;
    } else
        refused(u, now, next_recipe(u), answer);
}

/* Giving up --------------------------------------------------------------------------------- */

void lks_redfish_cancel(struct lks_redfish_update *u, lks_ms now)
{
    if (u->running[0] == '\0' && u->bank_count == 0) {
        lks_redfish_end(u, now, LKS_BMC_SAME, "nothing of %s is staged", u->component);
        return;
    }
    if (u->running[0] == '\0' && u->entry_cancel[0] == '\0') {
        lks_redfish_end(u, now, LKS_BMC_REFUSED,
                        "the service offers no way to give up what is staged; stage %s, "
                        "which runs, over it",
                        u->before);
        return;
    }
    /* What is staged is given up by its own action; what is on its way there, by its task. */
    bool own = u->bank_count > 0 && u->entry_cancel[0] != '\0';
    lks_redfish_keep(u->task, sizeof(u->task), lks_str_from(own ? "" : u->running));
    lks_redfish_cancel_again(u, now);
}

/* To give up what is given up already changes nothing. */
void lks_redfish_cancel_again(struct lks_redfish_update *u, lks_ms now)
{
    u->sent = LKS_RF_SENT_CANCEL;
    u->since = now;
    u->resets++;
    u->reset_heard = false;
    lks_redfish_keep(u->reset_target, sizeof(u->reset_target), lks_str_from(u->entry_cancel));
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_CANCEL, now);
}

void lks_redfish_ask_cancel(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    if (u->task[0] != '\0') {
        lks_redfish_ask(&u->r, "DELETE", lks_str_from(u->task), out);
        return;
    }
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->reset_target), out);
    lks_buf_add(&out->body, LKS_STR("{}"));
}

void lks_redfish_hear_cancel(struct lks_redfish_update *u, lks_ms now,
                             const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    bool gone = u->resets > 1 && (answer->status == 404 || answer->status == 410);
    if (gone || (answer->status >= 200 && answer->status <= 299)) {
        u->reset_heard = true;
        lks_redfish_walk(u, LKS_RF_AGREE, now + LKS_REDFISH_POLL);
        return;
    }
    lks_redfish_error(answer, why);
    lks_redfish_end(u, now, LKS_BMC_REFUSED, "it cannot be given up: %s", why);
}
