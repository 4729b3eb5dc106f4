#include "cli/top/panes.h"

#include "cli/change/cmd_change.h"

#define LIVENESS_COLOUR "[{.=live}green|{.=late}yellow|{.=lost}red|{.=unseen}dim]"
#define CHANGE_COLOUR                                                                              \
    "[{.=running}green|{.=done}green|{.=paused}yellow|{.=halted}red|{.=aborting}red|"              \
    "{.=rolling back}red|{.=rolled back}red|{.=aborted}red|{.=proposed}dim]"
#define WAVE_COLOUR                                                                                \
    "[{state=halted}red|{state=held}yellow|{state=passed}green|"                                   \
    "{state=planned}dim]"
#define JUDGED_COLOUR "[{.=conforms}green|{.=drift}red|{.=deviation}yellow|{.=unmeasured}yellow]"
/* A step in the terms of the glossary. */
#define DOING "[{doing=leave}drain|{doing=return}return to service|{doing}]"
#define MEMBER_COLOUR                                                                              \
    "[{.=done}green|{.=fenced}red|{.=needs hands}red|{.=unknown}red|{.=reverted}yellow|"           \
    "{.=pending}dim]"
/* A wave's state, and the result of its gate. */
#define GATE "[{state=begun}in progress|{state=soaks}soaks|{state}][: {text}]"

/* Rows of a list can have a state that the list of a screen before it does not have yet: each
 * screen shows what its own requests answered. The layout is by hand: a row of the tables is a
 * line. */
/* clang-format off */
#define DRIFT_PANE(where)                                                                          \
    .title = "DRIFT", .path = (where), .items = "items",                                           \
    .badge = "[{counts:}{counts.drift#} of {counts.nodes#}]",                                      \
    .empty = "every node that was read conforms", .key = "{node}", .opens = LKS_TOP_NODE,          \
    .subject = "{node}", .every = 2, .grows = true
#define DRIFT_COLUMNS                                                                              \
    {"result", "{judged}", 0, JUDGED_COLOUR},                                                      \
    {"cause", "{cause}", LKS_TOP_WIDE, NULL},                                                      \
    {"since", "{since}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},                                      \
    {"difference", "[in change {change}: ]{text}", LKS_TOP_REST, NULL}

const struct lks_top_screen lks_top_screens[LKS_TOP_KIND_COUNT] = {
    [LKS_TOP_FLEET] = {
        .name = "fleet", .path = "/v1/fleet",
        .panes = {
            {.title = "POOLS", .path = "/v1/fleet", .items = "pools",
             .empty = "none yet; run: lockstep fleet apply FILE",
             .key = "{name}", .opens = LKS_TOP_POOL, .subject = "{name}", .every = 1,
             .columns = {{"pool", "{name}", 0, "bold"},
                         {"", "", LKS_TOP_LIVENESS, NULL},
                         {"nodes", "{nodes#}", LKS_TOP_RIGHT, NULL},
                         {"live", "{liveness.live#}", LKS_TOP_RIGHT, "[{liveness.live?}green|dim]"},
                         {"late", "{liveness.late#}", LKS_TOP_RIGHT,
                          "[{liveness.late?}yellow|dim]"},
                         {"lost", "{liveness.lost#}", LKS_TOP_RIGHT, "[{liveness.lost?}red|dim]"},
                         {"unseen", "{liveness.unseen#}", LKS_TOP_RIGHT, "dim"},
                         {"stack", "[{frozen?}FROZEN ][{acts_wait?}acts wait ][{stack}]"
                                   "[ (behind {baseline})]", LKS_TOP_REST,
                          "[{acts_wait?}red|{frozen?}yellow]"}}},
            {.title = "CHANGES", .path = "/v1/changes?open=true", .items = "items",
             .empty = "none in progress", .detail = "/v1/changes/{id}?plan=false",
             .key = "{id}", .opens = LKS_TOP_CHANGE, .subject = "{id}", .every = 1, .grows = true,
             .columns = {{"change", "{id} {name}", 0, "bold"},
                         {"state", "{state}", 0, CHANGE_COLOUR},
                         {"done", "", LKS_TOP_PROGRESS, NULL},
                         {"", "{members.done#}/{total#}", LKS_TOP_RIGHT, NULL},
                         {"failed", "{failed#}", LKS_TOP_RIGHT, "[{failed?}red|dim]"},
                         {"wave", "{passed#}/{waves#}", LKS_TOP_RIGHT, NULL},
                         {"", "{kind}[ {pool}]", LKS_TOP_WAVE, NULL},
                         {"gate", GATE, LKS_TOP_WAVE | LKS_TOP_REST, WAVE_COLOUR}}},
            {.title = "ALARMS", .path = "/v1/alarms?open=true", .items = "items",
             .empty = "none open", .key = "{id}", .opens = LKS_TOP_ROW, .subject = "alarm {id}",
             .every = 1, .grows = true,
             .columns = {{"alarm", "{id} {kind}", 0, "red"},
                         {"about", "{subject}", 0, "bold"},
                         {"since", "{raised}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},
                         {"text", "{text}", LKS_TOP_REST, NULL}}},
            {DRIFT_PANE("/v1/drift"),
             .columns = {{"node", "{node}", 0, NULL}, {"pool", "{pool}", 0, NULL}, DRIFT_COLUMNS}},
            {.title = "FREEZES", .path = "/v1/freeze", .items = ". pools days", .empty = "none",
             .key = "[{days:}fleet|{pool}|{from}]", .opens = LKS_TOP_ROW,
             .subject = "freeze of [{days:}the fleet|{pool}|{from}]", .every = 2,
             .columns = {{"freeze", "[{days:}whole fleet|pool {pool}|{from} to {until}]", 0,
                          "[{from:}{now!}dim|yellow]"},
                         {"by", "{by}", 0, NULL},
                         {"since", "{since}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},
                         {"reason", "[{reason}|[{pools}: ]{description}]", LKS_TOP_REST, NULL}}},
            {.title = "EXPOSURE", .path = "/v1/exposure/advisories", .items = "items",
             .empty = "no advisory affects the fleet", .key = "{id}", .opens = LKS_TOP_ROW,
             .subject = "advisory {id}", .every = 15,
             .columns = {{"advisory", "{id}", 0, "bold"},
                         {"severity", "{severity}", 0,
                          "[{.=critical}red|{.=high}red|{.=medium}yellow]"},
                         {"days", "{days#}", LKS_TOP_RIGHT, NULL},
                         {"nodes", "{nodes#}", LKS_TOP_RIGHT, NULL},
                         {"gpus", "{gpus#}", LKS_TOP_RIGHT, NULL},
                         {"component", "{component}", LKS_TOP_WIDE, NULL},
                         {"closed by", "{fixed}", LKS_TOP_WIDE, NULL},
                         {"what", "{summary}", LKS_TOP_REST, NULL}}},
        }},
    [LKS_TOP_POOL] = {
        .name = "pool", .path = "/v1/fleet", .find = "pools",
        .facts = {{"nodes", "", LKS_TOP_LIVENESS, NULL},
                  {"", "{liveness.live#} live, {liveness.late#} late, {liveness.lost#} lost, "
                       "{liveness.unseen#} unseen[{acts_wait?}; automatic acts wait]", 0,
                   "[{acts_wait?}red]"},
                  {"stack", "{stack}[ (behind {baseline}[ since {behind_since}])]", 0,
                   "[{baseline?}yellow]"},
                  {"posture", "[{posture}, ]criticality {criticality#}[, enforce {enforce}]"
                              "[, scheduler {sched}]", 0, NULL},
                  {"freeze", "[{frozen?}no further node of the pool is changed]", 0, "yellow"}},
        .panes = {
            {.title = "NODES", .path = "/v1/nodes?pool={1}", .items = "items",
             .empty = "none", .key = "{name}", .opens = LKS_TOP_NODE, .subject = "{name}",
             .order = "&sort=-liveness", .every = 1, .grows = true,
             .columns = {{"node", "{name}", 0, "bold"},
                         {"status", "{liveness}", 0, LIVENESS_COLOUR},
                         {"since", "{liveness_since}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},
                         {"result", "{judged}", 0, JUDGED_COLOUR},
                         {"rack", "{rack}", LKS_TOP_WIDE, NULL},
                         {"class", "{class}", LKS_TOP_WIDE, NULL},
                         {"assigned", "{assigned_to}", LKS_TOP_WIDE, NULL},
                         {"jobs", "[{held?}on hold: ][{intake?}intake: ]"
                                  "[{admissible?}admitted|{why}]", LKS_TOP_REST,
                          "[{held?}yellow|{intake?}yellow|{admissible?}dim]"}}},
            {DRIFT_PANE("/v1/drift?pool={1}"),
             .columns = {{"node", "{node}", 0, NULL}, DRIFT_COLUMNS}},
        }},
    [LKS_TOP_CHANGE] = {
        .name = "change", .path = "/v1/changes/{1}?plan=false",
        .facts = {{"state", "{state}[{frozen?} (frozen)][: {moved_reason}][ ({moved_by})]", 0,
                   "[{state=running}green|{state=done}green|{state=halted}red|"
                   "{state=paused}yellow]"},
                  {"done", "", LKS_TOP_PROGRESS, NULL},
                  {"", LKS_CHANGE_PROGRESS, 0, NULL},
                  {"target", "[{name}|{stack}] on {nodes#node}, {gpus#GPU}[ ({class})]", 0, NULL},
                  {"proposed", "[{by}][: {reason}]", 0, NULL},
                  {"started", "{started}", LKS_TOP_AGE, NULL},
                  {"approvals", "[{approvals.needed?}{approvals.given#} of {approvals.needed#}]", 0,
                   "[{approvals.given<approvals.needed}yellow]"},
                  {"cannot start", "{cannot_start}", 0, "yellow"}},
        .panes = {
            {.title = "WAVES", .path = "/v1/changes/{1}?plan=false", .items = "waves",
             .empty = "none", .key = "{wave#}", .opens = LKS_TOP_ROW, .subject = "wave {wave#}",
             .every = 1,
             .columns = {{"wave", "{wave#} {kind}[ {pool}]", 0, "bold"},
                         {"done", "", LKS_TOP_PROGRESS, NULL},
                         {"", "{members.done#}/{members#}", LKS_TOP_RIGHT, NULL},
                         {"failed", "{failed#}", LKS_TOP_RIGHT, "[{failed?}red|dim]"},
                         {"busy", "{busy#}", LKS_TOP_RIGHT | LKS_TOP_WIDE, NULL},
                         {"width", "{width#}", LKS_TOP_RIGHT | LKS_TOP_WIDE, NULL},
                         {"next", "{until}", LKS_TOP_LEFT_OVER | LKS_TOP_RIGHT, NULL},
                         {"gate", GATE, LKS_TOP_REST, WAVE_COLOUR}}},
            {.title = "METRICS", .path = "/v1/changes/{1}?plan=false", .items = "waves.gate",
             .empty = "no gate compares metrics yet", .key = "{^wave#} {metric}",
             .opens = LKS_TOP_ROW, .subject = "metric {metric}", .every = 1,
             .columns = {{"metric", "{metric}", 0, "bold"},
                         {"wave", "{^wave#}", LKS_TOP_RIGHT, NULL},
                         {"verdict", "[{waived?}waived|{verdict}]", 0,
                          "[{.=pass}green|{.=halt}red|{.=hold}yellow|{.=extend}yellow]"},
                         {"changed", "{changed#}/{expected#}", LKS_TOP_RIGHT, NULL},
                         {"controls", "{controls#}", LKS_TOP_RIGHT | LKS_TOP_WIDE, NULL},
                         {"found", "[{events:}{events#} with, {control_events#} controls|"
                                   "{estimate} %]", 0, NULL},
                         {"margin", "{margin}", LKS_TOP_RIGHT | LKS_TOP_WIDE, NULL},
                         {"why", "{text}", LKS_TOP_REST, NULL}}},
            {.title = "WAITS FOR", .path = "/v1/changes/{1}?plan=false", .items = "waits",
             .empty = "no node", .key = "{node}", .opens = LKS_TOP_NODE, .subject = "{node}",
             .every = 1,
             .columns = {{"node", "{node}", 0, "bold"},
                         {"wave", "{wave#}", LKS_TOP_RIGHT, NULL},
                         {"step", DOING, 0, NULL},
                         {"limit", "{until}", LKS_TOP_LEFT_OVER | LKS_TOP_RIGHT, NULL},
                         {"why", "{why}", LKS_TOP_REST, NULL}}},
            {.title = "NODES", .path = "/v1/changes/{1}/members", .items = "items",
             .empty = "none", .key = "{node}", .opens = LKS_TOP_NODE, .subject = "{node}",
             .every = 1, .grows = true,
             .columns = {{"node", "{node}", 0, "bold"},
                         {"wave", "{wave#}", LKS_TOP_RIGHT, NULL},
                         {"pool", "{pool}", LKS_TOP_WIDE, NULL},
                         {"state", "{state}", 0, MEMBER_COLOUR},
                         {"step", "{step#}/{steps#}", LKS_TOP_RIGHT, NULL},
                         {"", DOING "[ {component}]", 0, NULL},
                         {"since", "{since}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},
                         {"why", "{text}", LKS_TOP_REST, "[{failure:}{failure!none}red]"}}},
        }},
    [LKS_TOP_NODE] = {
        .name = "node", .path = "/v1/nodes/{1}",
        .facts = {{"status", "{liveness}", 0, LIVENESS_COLOUR},
                  {"since", "{liveness_since}", LKS_TOP_AGE, NULL},
                  {"heard", "[{heard_ms_ago:}{heard_ms_ago#} ms ago"
                            "[, clock off by {skew_ms} ms]]", 0, NULL},
                  {"where", "[pool {pool}][, site {site}][, rack {rack}][, domain {domain}]", 0,
                   NULL},
                  {"class", "{class}", 0, NULL},
                  {"stack", "{stack}[ (from its {intent_from})]", 0, NULL},
                  {"result", "{judged}[: {text}]", 0,
                   "[{judged=conforms}green|{judged=drift}red|yellow]"},
                  {"jobs", "[{admissible?}admitted|{why}]", 0, "[{admissible?}green|yellow]"},
                  {"change", "{change}", 0, NULL},
                  {"hold", "[{held?}by [{held_by}][: {held_reason}]]", 0, "yellow"},
                  {"assigned", "{assigned_to}", 0, NULL}},
        .panes = {
            {.title = "DIFFERENCES", .path = "/v1/nodes/{1}", .items = "rows",
             .empty = "none", .key = "{subject} {of}", .opens = LKS_TOP_ROW,
             .subject = "{subject}", .every = 1,
             .columns = {{"component", "{subject}[ ({of})]", 0, "bold"},
                         {"how", "{cause}", 0, NULL},
                         {"deviation", "{deviation}", LKS_TOP_RIGHT | LKS_TOP_WIDE, NULL},
                         {"value", "[{actual}|-][, pinned {pinned}]", LKS_TOP_REST, NULL}}},
            {.title = "HISTORY", .path = "/v1/nodes/{1}/history?limit=200", .items = "items",
             .empty = "none", .key = "{seq#}", .opens = LKS_TOP_ROW, .subject = "row {seq#}",
             .every = 2,
             .columns = {{"row", "{seq#} {kind}", 0, NULL},
                         {"age", "{time}", LKS_TOP_AGE | LKS_TOP_RIGHT, "dim"},
                         {"by", "{by}", LKS_TOP_WIDE, NULL},
                         {"what", "[{state}[: {text}]|{condition}[: {text}]|"
                                  "{cause}[: {text}]|{reason}|{text}]", LKS_TOP_REST, NULL}}},
        }},
    [LKS_TOP_ROW] = {.name = ""},
};
/* clang-format on */
