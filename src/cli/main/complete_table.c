/* What can be the value of each option and argument. A test finds the ones that have no row. */
#include "cli/main/complete.h"

#include "core/entity/settable.h"
#include "core/view/view.h"
#include "drivers/bmc/redfish_update.h"
#include "model/manifest/order.h"
#include "model/record/record_words.h"

#include <string.h>

/* Names that lockstepd knows ----------------------------------------------------------------- */

static const struct lks_complete_list nodes = {.path = "/v1/nodes",
                                               .form = "{name}\t[{pool}, ]{liveness}"};
static const struct lks_complete_list sites = {.path = "/v1/nodes", .form = "{site}\tsite"};
static const struct lks_complete_list racks = {.path = "/v1/nodes", .form = "{rack}\track"};
static const struct lks_complete_list domains = {.path = "/v1/nodes", .form = "{domain}\tdomain"};
static const struct lks_complete_list classes = {.path = "/v1/nodes",
                                                 .form = "{class}\thardware class"};
static const struct lks_complete_list pools = {.path = "/v1/pools",
                                               .form = "{name}\t{posture}, {nodes#node}"};
#define CHANGE "{id}\t{state}[: {name}][, {reason}]"
static const struct lks_complete_list changes = {
    .path = "/v1/changes", .form = CHANGE, .also = "{name}"};
static const struct lks_complete_list open_changes = {
    .path = "/v1/changes?open=true", .form = CHANGE, .also = "{name}"};
static const struct lks_complete_list alarms = {.path = "/v1/alarms?open=true",
                                                .form = "{id}\t{kind}: {text}"};
static const struct lks_complete_list deviations = {.path = "/v1/deviations?open=true",
                                                    .form = "{id}\t{nodes}: {subject}, {reason}"};
static const struct lks_complete_list stacks = {.path = "/v1/stacks", .form = "{name}\t{step}"};
static const struct lks_complete_list bundles = {.path = "/v1/bundles",
                                                 .form = "{name}\t{version}, by {signer}"};
static const struct lks_complete_list keys = {.path = "/v1/trust", .form = "{name}\tpinned key"};
static const struct lks_complete_list images = {.path = "/v1/images", .form = "{ref}\timage"};
static const struct lks_complete_list people = {
    .path = "/v1/access",
    .form = "{identity}\t{role}[ in site {site}][ in pool {pool}]",
    .member = "bindings"};
static const struct lks_complete_list flashes = {.path = "/v1/flashes",
                                                 .form = "{id}\t{node}: {component}"};
static const struct lks_complete_list endpoints = {.path = "/v1/endpoints",
                                                   .form = "{url}\t{node}"};

/* Words -------------------------------------------------------------------------------------- */

#define WORDS_OF(...) ((const char *const[]){__VA_ARGS__, NULL})

#define NONE(command, value)                                                                       \
    {                                                                                              \
        command, value, LKS_COMPLETE_NOTHING, NULL, NULL, false                                    \
    }
#define OF(command, value, kind)                                                                   \
    {                                                                                              \
        command, value, kind, NULL, NULL, false                                                    \
    }
#define WORDS(command, value, words)                                                               \
    {                                                                                              \
        command, value, LKS_COMPLETE_WORDS, words, NULL, false                                     \
    }
#define LIVE(command, value, list)                                                                 \
    {                                                                                              \
        command, value, LKS_COMPLETE_LIVE, NULL, &(list), false                                    \
    }
#define SEVERAL(command, value, list)                                                              \
    {                                                                                              \
        command, value, LKS_COMPLETE_LIVE, NULL, &(list), true                                     \
    }

#define SETTABLE(member, option, uses, about) #member "=",
static const char *const settable[] = {LKS_SETTABLE_NODE(SETTABLE) NULL};

/* The first row that fits counts, with those for the same value behind it: rows about one command
 * come before those about all. */
static const struct lks_complete_source sources[] = {
    /* Words of one command. */
    WORDS("completion", "SHELL", WORDS_OF("bash", "zsh", "fish")),
    OF("config *", "NAME", LKS_COMPLETE_CONTEXTS),
    OF("help", "COMMAND", LKS_COMPLETE_COMMANDS),
    OF("access can-i", "VERB", LKS_COMPLETE_COMMANDS),
    OF("access can-i", "OBJECT", LKS_COMPLETE_COMMANDS),
    SEVERAL("access can-i", "NAME", nodes),
    NONE("access can-i", "--as"),
    WORDS("explain", "FIELD",
          WORDS_OF("stack", "fleet", "hardware-class", "bundle", "node", "pool", "change",
                   "deviation", "alarm", "record", "config")),
    WORDS("access *", "ROLE", WORDS_OF("viewer", "operator", "approver", "admin")),
    WORDS("alarm ls", "--kind", lks_alarm_words),
    WORDS("bmc *", "--driver", WORDS_OF("redfish", "nvos")),
    WORDS("bmc update", "--apply-time", lks_redfish_apply_words),
    WORDS("change propose", "--class",
          WORDS_OF("standard", "routine", "emergency", "power-fabric")),
    WORDS("change show", "--nodes", lks_member_state_words),
    WORDS("change show", "--nodes", WORDS_OF("all")),
    WORDS("change waive", "--gate", WORDS_OF("failure count", "soak", "acceptance")),
    WORDS("drift", "--cause", lks_drift_words),
    WORDS("drift", "--judged", WORDS_OF("drift", "unmeasured", "deviation")),
    WORDS("fleet import", "--posture",
          WORDS_OF("pre-training", "post-training", "online-inference", "batch", "dev")),
    OF("journal export", "--kind", LKS_COMPLETE_RECORDS),
    WORDS("node command", "EXECUTOR", WORDS_OF("reboot", "accept")),
    WORDS("node command", "EXECUTOR", lks_order_words),
    WORDS("job *", "--state", lks_run_state_words),
    WORDS("job *", "--cause", lks_run_cause_words),
    WORDS("flash *", "--act", lks_bmc_act_words),
    WORDS("flash ls", "--outcome", lks_bmc_outcome_words),
    WORDS("flash start", "--apply-time", lks_redfish_apply_words),
    WORDS("node condition", "CONDITION", lks_condition_words),
    WORDS("node ls", "--judged", lks_view_judged_words),
    WORDS("node ls", "--liveness", lks_liveness_words),
    WORDS("node set", "COLUMN=VALUE", settable),
    WORDS("stack ls", "--step", lks_step_words),
    WORDS("stack promote", "STAGE", WORDS_OF("lab", "canary", "released")),

    /* Names of one command. */
    LIVE("access *", "IDENTITY", people),
    LIVE("admit", "--image", images),
    LIVE("admit", "--stack", stacks),
    LIVE("alarm *", "ID", alarms),
    LIVE("change show", "ID", changes),
    LIVE("change procedure", "ID", changes),
    LIVE("change *", "ID", open_changes),
    LIVE("deviation *", "ID", deviations),
    LIVE("image *", "REF", images),
    LIVE("flash show", "ID", flashes),
    LIVE("job ls", "--node", nodes),
    LIVE("job ls", "--stack", stacks),
    NONE("job ls", "--component"),
    LIVE("node ls", "--class", classes),
    LIVE("rehearse", "CHANGE", changes),
    LIVE("stack show", "STACK", stacks),
    OF("stack show", "STACK", LKS_COMPLETE_FILES),
    LIVE("stack ls", "--name", stacks),
    LIVE("trust rm", "NAME", keys),
    NONE("conform", "--pool"), /* of a data directory that lockstepd may not have */

    /* By the option. */
    {NULL, "--columns", LKS_COMPLETE_COLUMNS, NULL, NULL, true},
    OF(NULL, "--context", LKS_COMPLETE_CONTEXTS),
    OF(NULL, "--sort-by", LKS_COMPLETE_SORTS),
    {NULL, "--selector", LKS_COMPLETE_SELECTOR, NULL, NULL, true},
    LIVE(NULL, "--pool", pools),
    LIVE(NULL, "--site", sites),
    LIVE(NULL, "--rack", racks),
    LIVE(NULL, "--domain", domains),

    /* By what stands for the value. */
    WORDS(NULL, "FORMAT", WORDS_OF("table", "wide", "json", "yaml", "name")),
    LIVE(NULL, "NODE", nodes),
    SEVERAL(NULL, "NODES", nodes),
    LIVE(NULL, "STACK", stacks),
    LIVE(NULL, "BUNDLE", bundles),
    LIVE("bmc *", "URL", endpoints),
    OF(NULL, "FILE", LKS_COMPLETE_FILES),
    OF(NULL, "KEYFILE", LKS_COMPLETE_FILES),
    OF(NULL, "KEY", LKS_COMPLETE_FILES),
    LIVE(NULL, "OLD", stacks),
    OF(NULL, "OLD", LKS_COMPLETE_FILES),
    LIVE(NULL, "NEW", stacks),
    OF(NULL, "NEW", LKS_COMPLETE_FILES),
    OF(NULL, "PLACE", LKS_COMPLETE_FILES),
    OF(NULL, "DIR", LKS_COMPLETE_FOLDERS),

    /* Numbers, times, spans, versions and texts: the table cannot know them. */
    NONE(NULL, "ADDRESS"),
    NONE(NULL, "C"),
    NONE(NULL, "COMPONENT"),
    NONE(NULL, "DAY"),
    NONE(NULL, "DIGEST"),
    NONE(NULL, "FINGERPRINT"),
    NONE(NULL, "FP"),
    NONE(NULL, "GPU"),
    NONE(NULL, "HEX"),
    NONE(NULL, "ID"),
    NONE(NULL, "IDENTITY"),
    NONE(NULL, "JOB"),
    NONE(NULL, "LIST"),
    NONE(NULL, "MIN"),
    NONE(NULL, "N"),
    NONE(NULL, "NAME"),
    NONE(NULL, "NUMBER"),
    NONE(NULL, "PRICE"),
    NONE(NULL, "R"),
    NONE(NULL, "REASON"),
    NONE(NULL, "REF"),
    NONE(NULL, "ROW"),
    NONE(NULL, "SECONDS"),
    NONE(NULL, "SHARE"),
    NONE(NULL, "SPAN"),
    NONE(NULL, "T"),
    NONE(NULL, "TEXT"),
    NONE(NULL, "TIME"),
    NONE(NULL, "TOKEN-ID"),
    NONE(NULL, "URL"),
    NONE(NULL, "V"),
    NONE(NULL, "VERSION"),
    NONE(NULL, "WHO"),
};

static bool is_about(const char *pattern, const char *command)
{
    size_t len = pattern != NULL ? strlen(pattern) : 0;
    if (pattern == NULL)
        return true;
    return pattern[len - 1] == '*' ? strncmp(command, pattern, len - 1) == 0
                                   : strcmp(command, pattern) == 0;
}

static bool is_same(const struct lks_complete_source *a, const struct lks_complete_source *b)
{
    return strcmp(a->value, b->value) == 0 &&
           (a->command == b->command ||
            (a->command != NULL && b->command != NULL && strcmp(a->command, b->command) == 0));
}

const struct lks_complete_source *lks_complete_table_find(const struct lks_command *command,
                                                          struct lks_str name, struct lks_str value,
                                                          size_t *count)
{
    const struct lks_complete_source *end = sources + LKS_COUNT(sources);
    *count = 0;
    for (const struct lks_complete_source *s = sources; s < end; s++) {
        if (!is_about(s->command, command->name) ||
            (!lks_str_is(value, s->value) && (name.len == 0 || !lks_str_is(name, s->value))))
            continue;
        while (s + *count < end && is_same(s, s + *count))
            ++*count;
        return s;
    }
    return NULL;
}

/* "NODES" of "[NODES...]". */
static struct lks_str bare(struct lks_str value)
{
    while (value.len > 0 && strchr("[", value.ptr[0]) != NULL)
        value = (struct lks_str){value.ptr + 1, value.len - 1};
    while (value.len > 0 && strchr(".]", value.ptr[value.len - 1]) != NULL)
        value.len--;
    return value;
}

struct lks_str lks_complete_table_value(const struct lks_option *option)
{
    const char *value = lks_args_value(option);
    return value != NULL ? bare(lks_str_from(value)) : LKS_STR("");
}

bool lks_complete_table_argument(const struct lks_command *command, size_t number,
                                 struct lks_str *out)
{
    struct lks_str rest = lks_str_from(command->args), last = {0}, word;
    size_t count = 0;
    for (; count <= number && lks_str_word(&rest, &word); count++)
        last = word;
    *out = bare(last);
    return count > number || (count > 0 && lks_str_find(last, LKS_STR("...")) >= 0);
}
