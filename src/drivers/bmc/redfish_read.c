/*
 * Reading an inventory over Redfish:
 *
 *     ROOT      what the service is; VERSIONS asks where its root is if not where it should be
 *     SYSTEMS   the systems it manages, and then the chassis
 *     SYSTEM    what the machine is: its model and serial number
 *     SERVICE   where its inventories are
 *     LIST      a page of one of them, with the entries inside where the service can do that
 *     MEMBER    an entry that was only listed
 *     LOGOUT    close the session
 *
 * Only the first system is read, unless it has no model or no serial number: on GB200 and GH200 the
 * host has neither, and the baseboard or the chassis does.
 *
 * What is listed is in the inventory, also when it cannot be read.
 */
#include "base/vec.h"
#include "core/firmware/firmware_names.h"
#include "drivers/bmc/redfish.h"

#include <stdio.h>

#define AGAIN        (2 * LKS_SECOND)
#define MEMBER_TRIES 3 /* then it is missing */
#define NOTES_MAX    16
#define PAGES_MAX    256
#define SYSTEMS_MAX  4    /* of a list, that are read for a model and a serial number */
#define ALIKE_MAX    4096 /* pairs of entries that are compared by their keys */

enum { ROOT, VERSIONS, SYSTEMS, SYSTEM, SERVICE, LIST, MEMBER, LOGOUT };

struct reading {
    struct lks_redfish r;
    const struct lks_facts *facts;
    struct lks_bmc_inventory *out;
    lks_redfish_uri system, firmware, software; /* resources still to be read; or empty */
    lks_redfish_uri systems[SYSTEMS_MAX];       /* that may say what the machine is */
    size_t system_count, system_at;
    bool systems_listed, chassis_listed;
    lks_redfish_uri page; /* of the list that is being read */
    size_t at;            /* the item that is being read */
    size_t listed;        /* members of the list so far, each as it stands */
    unsigned notes, pages;
    bool moved; /* the root was looked for already */
};

static void note(struct reading *g, const char *fmt, ...) LKS_PRINTF(2, 3);
static void note(struct reading *g, const char *fmt, ...)
{
    char line[LKS_REDFISH_TEXT_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (++g->notes > NOTES_MAX)
        return;
    struct lks_bmc_inventory *out = g->out;
    struct lks_str all =
        lks_arena_format(&out->arena, "%" LKS_STR_FMT "%s%s", LKS_STR_ARG(out->notes),
                         out->notes.len > 0 ? "\n" : "", line);
    if (all.ptr != NULL)
        out->notes = all;
}

static void fail(struct reading *g, const char *what, const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    lks_redfish_error(answer, why);
    lks_conversation_fail(&g->r.head, LKS_E_INVALID, "%s: %s", what, why);
}

/* Items ------------------------------------------------------------------------------------- */

static bool is_read(const struct lks_bmc_item *item)
{
    return item->class.ptr != NULL;
}

static struct lks_bmc_item *add_item(struct lks_bmc_inventory *i)
{
    if (i->count >= LKS_BMC_ITEMS_MAX ||
        LKS_VEC_RESERVE_IN(&i->arena, i->items, i->room, i->count + 1, NULL) != LKS_OK)
        return NULL;
    return &i->items[i->count++];
}

static struct lks_bmc_item *find_item(const struct lks_bmc_inventory *i, struct lks_str uri)
{
    for (size_t k = 0; k < i->count; k++) {
        if (lks_str_eq(i->items[k].uri, uri))
            return &i->items[k];
    }
    return NULL;
}

/* Take the texts of `e` over into the inventory; false: there is no room for them. */
static bool fill_item(struct reading *g, struct lks_bmc_item *item,
                      const struct lks_redfish_entry *e)
{
    char of[LKS_REDFISH_OF_SIZE];
    struct lks_str uri = item->uri;
    lks_redfish_entry_of(e, of);
    *item = e->item;
    item->uri = uri;
    item->switches = e->item.bank == LKS_BANK_BACKUP && e->activate.len > 0;
    item->of = lks_str_from(of);
    struct lks_str *const texts[] = {
        &item->id,     &item->name,        &item->version,      &item->class,
        &item->of,     &item->software_id, &item->manufacturer, &item->released,
        &item->lowest, &item->related,     &item->health,
    };
    bool room = true;
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        *texts[i] = lks_arena_copy(&g->out->arena, *texts[i]);
        room = room && texts[i]->ptr != NULL;
    }
    return room;
}

static void full(struct reading *g)
{
    lks_conversation_fail(&g->r.head, LKS_E_LIMIT,
                          "the inventory has more than %d entries or %zu bytes of text",
                          LKS_BMC_ITEMS_MAX, LKS_BMC_MEMORY_MAX);
}

/* The item at `index` from what was read of it; and what the same entry holds for the next reset,
 * as an item of its own. */
static void take_entry(struct reading *g, size_t index, const struct lks_doc *doc)
{
    struct lks_redfish_entry e;
    lks_redfish_entry(g->facts, lks_str_from(g->r.vendor), doc, &e);
    if (!fill_item(g, &g->out->items[index], &e)) {
        full(g);
        return;
    }
    if (e.staged.len == 0)
        return;
    struct lks_str uri = g->out->items[index].uri;
    struct lks_bmc_item *staged = add_item(g->out);
    e.item.version = e.staged;
    e.item.bank = LKS_BANK_STAGED;
    if (staged == NULL || !fill_item(g, staged, &e)) {
        full(g);
        return;
    }
    staged->uri = uri;
}

/* It is there and cannot be read: told by its address alone. */
static void miss(struct reading *g, const char *why)
{
    struct lks_bmc_item *item = &g->out->items[g->at];
    struct lks_redfish_entry e = {.item = {.id = lks_str_last(item->uri, '/')}};
    struct lks_firmware_name name =
        lks_firmware_name(g->facts, &(struct lks_firmware_hint){.vendor = lks_str_from(g->r.vendor),
                                                                .id = e.item.id});
    e.item.class = name.class;
    e.of = name.of;
    e.index = name.index;
    e.key = name.key.len > 0 ? name.key : e.item.id;
    if (!fill_item(g, item, &e)) {
        full(g);
        return;
    }
    g->out->missing++;
    note(g, "%" LKS_STR_FMT " is listed and cannot be read: %s", LKS_STR_ARG(item->id), why);
}

static bool add_listed(struct reading *g, struct lks_str uri)
{
    struct lks_bmc_item *item = add_item(g->out);
    if (item != NULL)
        item->uri = lks_arena_copy(&g->out->arena, uri);
    if (item != NULL && item->uri.ptr != NULL)
        return true;
    full(g);
    return false;
}

/* A member of a list: an entry, or only its address, which may be none. */
static void list_member(struct reading *g, const struct lks_doc *member)
{
    struct lks_str said = lks_bmc_json_text(member, "@odata.id");
    struct lks_str uri = lks_bmc_json_path(member, "@odata.id");
    g->listed++;
    if (said.len == 0) {
        note(g, "a member of %s has no address", g->page);
    } else if (find_item(g->out, uri.len > 0 ? uri : said) != NULL) {
        note(g, "%" LKS_STR_FMT " is listed twice", LKS_STR_ARG(said));
    } else if (add_listed(g, uri.len > 0 ? uri : said)) {
        size_t at = g->out->count - 1, before = g->at;
        bool whole =
            lks_doc_member(member, "Id") != NULL || lks_doc_member(member, "Version") != NULL;
        g->at = at;
        if (whole)
            take_entry(g, at, member);
        else if (uri.len == 0)
            miss(g, "its address cannot be asked for");
        g->at = before;
    }
}

/* Two entries of one class and bank that are called alike although they are two devices: their ids
 * tell them apart. */
static bool alike(const struct lks_bmc_item *a, const struct lks_bmc_item *b)
{
    return a->class.len > 0 && a->of.len > 0 && a->bank == b->bank &&
           lks_str_eq(a->class, b->class) && lks_str_eq(a->of, b->of);
}

static struct lks_str key_of(const struct reading *g, const struct lks_bmc_item *item)
{
    return lks_redfish_uri_key(g->facts, lks_str_from(g->r.vendor), item->uri);
}

static void tell_apart(struct reading *g)
{
    struct lks_bmc_item *items = g->out->items;
    unsigned compared = 0;
    for (size_t i = 0; i < g->out->count; i++) {
        struct lks_bmc_item first = items[i];
        bool several = false;
        for (size_t k = i + 1; k < g->out->count && compared < ALIKE_MAX; k++) {
            if (!alike(&first, &items[k]))
                continue;
            compared++;
            if (lks_str_eq(key_of(g, &first), key_of(g, &items[k])))
                continue;
            several = true;
            items[k].of = lks_arena_format(&g->out->arena, "%" LKS_STR_FMT " %" LKS_STR_FMT,
                                           LKS_STR_ARG(first.of), LKS_STR_ARG(items[k].id));
        }
        if (several)
            items[i].of = lks_arena_format(&g->out->arena, "%" LKS_STR_FMT " %" LKS_STR_FMT,
                                           LKS_STR_ARG(first.of), LKS_STR_ARG(first.id));
    }
}

static void finish(struct reading *g, lks_ms now)
{
    if (g->r.head.err.code == LKS_OK)
        tell_apart(g);
    g->out->requests = g->r.requests;
    lks_redfish_finish(&g->r, now, LOGOUT);
}

/* Steps ------------------------------------------------------------------------------------- */

/* Where to go when a list, or what was only listed, is done. */
static void go_on(struct reading *g, lks_ms now)
{
    for (; g->at < g->out->count; g->at++) {
        if (!is_read(&g->out->items[g->at])) {
            lks_conversation_go(&g->r.head, MEMBER, now);
            return;
        }
    }
    lks_redfish_uri *const lists[] = {&g->firmware, &g->software};
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        if ((*lists[i])[0] == '\0')
            continue;
        memcpy(g->page, *lists[i], sizeof(g->page));
        (*lists[i])[0] = '\0';
        g->listed = 0;
        lks_conversation_go(&g->r.head, LIST, now);
        return;
    }
    finish(g, now);
}

/* The next resource that may say what the machine is, until one did; then the inventory. */
static void next_system(struct reading *g, lks_ms now)
{
    bool said = g->out->model.len > 0 && g->out->serial.len > 0;
    bool more = g->system_at < g->system_count;
    bool systems = g->r.systems[0] != '\0' && !g->systems_listed;
    bool chassis = g->r.chassis[0] != '\0' && !g->chassis_listed;
    if (said || (!more && !systems && !chassis)) {
        lks_conversation_go(&g->r.head, SERVICE, now);
        return;
    }
    const char *next = more ? g->systems[g->system_at++] : systems ? g->r.systems : g->r.chassis;
    memcpy(g->system, next, sizeof(g->system));
    g->systems_listed = true;
    g->chassis_listed = g->chassis_listed || (!more && !systems);
    lks_conversation_go(&g->r.head, more ? SYSTEM : SYSTEMS, now);
}

static void ask_root(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask(&g->r, "GET", lks_str_from(g->r.root), out);
}

static void hear_root(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *root = lks_redfish_read(answer, &docs);
    if (!g->moved && lks_redfish_moved(&g->r, answer)) {
        g->moved = true;
        lks_conversation_go(&g->r.head, ROOT, now);
        return;
    }
    if (root == NULL && answer->status == 404 && !g->moved) {
        lks_conversation_go(&g->r.head, VERSIONS, now);
        return;
    }
    if (root == NULL) {
        fail(g, "no Redfish service root", answer);
        return;
    }
    if (!lks_redfish_hear_root(&g->r, root, &err)) {
        lks_conversation_fail(&g->r.head, err.code, "%s", err.msg);
        return;
    }
    g->out->product = lks_arena_copy(&g->out->arena, lks_str_from(g->r.product));
    next_system(g, now);
}

static void ask_versions(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask(&g->r, "GET", LKS_STR("/redfish"), out);
}

static void hear_versions(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    g->moved = true;
    if (!lks_redfish_keep(g->r.root, sizeof(g->r.root),
                          lks_bmc_json_path(lks_redfish_read(answer, &docs), "v1"))) {
        fail(g, "there is no Redfish service", answer);
        return;
    }
    lks_conversation_go(&g->r.head, ROOT, now);
}

static void ask_system(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask(&g->r, "GET", lks_str_from(g->system), out);
}

/* A chassis among many that is the machine and not a part of it: "Chassis_0", "HGX_Chassis_0". On a
 * machine without systems it may be any. */
static bool is_machine(const struct reading *g, struct lks_str uri)
{
    return !g->chassis_listed || g->r.systems[0] == '\0' ||
           lks_str_find(lks_str_last(uri, '/'), LKS_STR("Chassis")) >= 0;
}

static void hear_systems(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *members = lks_doc_member(lks_redfish_read(answer, &docs), "Members");
    g->system_count = g->system_at = 0;
    for (const struct lks_doc *one = members != NULL ? members->first : NULL;
         one != NULL && g->system_count < SYSTEMS_MAX; one = one->next) {
        struct lks_str uri = lks_bmc_json_path(one, "@odata.id");
        if (is_machine(g, uri))
            g->system_count +=
                lks_redfish_keep(g->systems[g->system_count], sizeof(g->system), uri);
    }
    next_system(g, now);
}

/* What nothing before it said. */
static void fill(struct reading *g, struct lks_str *out, struct lks_str value)
{
    if (out->len == 0)
        *out = lks_arena_copy(&g->out->arena, value);
}

static void hear_system(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    fill(g, &g->out->model, lks_bmc_json_text(doc, "Model"));
    fill(g, &g->out->serial, lks_bmc_json_text(doc, "SerialNumber"));
    fill(g, &g->out->power, lks_bmc_json_text(doc, "PowerState"));
    struct lks_str maker = lks_bmc_json_text(doc, "Manufacturer");
    if (g->r.vendor[0] == '\0')
        lks_redfish_keep(g->r.vendor, sizeof(g->r.vendor),
                         lks_firmware_vendor(maker, LKS_STR(""), LKS_STR("")));
    if (doc == NULL)
        note(g, "the system cannot be read: status %d", answer->status);
    next_system(g, now);
}

static void ask_service(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask(&g->r, "GET", lks_str_from(g->r.update_service), out);
}

static void hear_service(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc == NULL) {
        fail(g, "the UpdateService cannot be read", answer);
        return;
    }
    g->out->vendor = lks_arena_copy(&g->out->arena, lks_str_from(g->r.vendor));
    lks_redfish_keep(g->firmware, sizeof(g->firmware), lks_bmc_json_link(doc, "FirmwareInventory"));
    lks_redfish_keep(g->software, sizeof(g->software), lks_bmc_json_link(doc, "SoftwareInventory"));
    if (g->firmware[0] == '\0' && g->software[0] == '\0') {
        lks_conversation_fail(&g->r.head, LKS_E_INVALID, "the UpdateService names no inventory");
        return;
    }
    go_on(g, now);
}

static void ask_list(const struct reading *g, struct lks_http_request *out)
{
    if (lks_str_find(lks_str_from(g->page), LKS_STR("?")) >= 0) /* a page the service named */
        lks_redfish_ask(&g->r, "GET", lks_str_from(g->page), out);
    else
        lks_redfish_ask_expanded(&g->r, lks_str_from(g->page), out);
}

static void check_count(struct reading *g, const struct lks_doc *doc)
{
    uint64_t count = lks_bmc_json_number(doc, "Members@odata.count", g->listed);
    if (count != g->listed)
        note(g, "%s says it has %llu members and lists %zu", g->page, (unsigned long long)count,
             g->listed);
}

static void hear_page(struct reading *g, lks_ms now, const struct lks_doc *doc)
{
    const struct lks_doc *members = lks_doc_member(doc, "Members");
    for (const struct lks_doc *one = members != NULL ? members->first : NULL;
         one != NULL && !g->r.head.ended; one = one->next)
        list_member(g, one);
    if (g->r.head.ended)
        return;
    struct lks_str next = lks_bmc_json_path(doc, "Members@odata.nextLink");
    bool more = next.len > 0 && ++g->pages <= PAGES_MAX;
    if (!more && next.len > 0)
        note(g, "the inventory has more than %d pages; the rest was not read", PAGES_MAX);
    if (!more) {
        check_count(g, doc);
        go_on(g, now);
        return;
    }
    if (!lks_redfish_keep(g->page, sizeof(g->page), next)) {
        lks_conversation_fail(&g->r.head, LKS_E_LIMIT,
                              "the address of a page of the "
                              "inventory is too long");
        return;
    }
    lks_conversation_go(&g->r.head, LIST, now);
}

static void hear_list(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc != NULL) {
        hear_page(g, now, doc);
        return;
    }
    if (g->r.expand != LKS_EXPAND_NOT) {
        note(g, "$expand is offered and refused with status %d", answer->status);
        g->r.expand = LKS_EXPAND_NOT;
        lks_conversation_go(&g->r.head, LIST, now);
        return;
    }
    if (g->out->count == 0) {
        fail(g, "the inventory cannot be listed", answer);
        return;
    }
    note(g, "%s cannot be listed: status %d", g->page, answer->status);
    go_on(g, now);
}

static void ask_member(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask(&g->r, "GET", g->out->items[g->at].uri, out);
}

static void hear_member(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char why[LKS_REDFISH_TEXT_SIZE];
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc != NULL) {
        take_entry(g, g->at, doc);
    } else {
        lks_redfish_error(answer, why);
        miss(g, why);
    }
    if (!g->r.head.ended)
        go_on(g, now);
}

static void ask_logout(const struct reading *g, struct lks_http_request *out)
{
    lks_redfish_ask_logout(&g->r, out);
}

static void hear_logout(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    (void)now;
    (void)answer;
    lks_redfish_hear_logout(&g->r);
}

static const struct {
    void (*ask)(const struct reading *g, struct lks_http_request *out);
    void (*hear)(struct reading *g, lks_ms now, const struct lks_http_response *answer);
} steps[] = {
    [ROOT] = {ask_root, hear_root},          [VERSIONS] = {ask_versions, hear_versions},
    [SYSTEMS] = {ask_system, hear_systems},  [SYSTEM] = {ask_system, hear_system},
    [SERVICE] = {ask_service, hear_service}, [LIST] = {ask_list, hear_list},
    [MEMBER] = {ask_member, hear_member},    [LOGOUT] = {ask_logout, hear_logout},
};

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct reading *g = value;
    LKS_ASSERT(g->r.head.step < LKS_COUNT(steps));
    if (lks_redfish_wants_login(&g->r))
        lks_redfish_ask_login(&g->r, out);
    else
        steps[g->r.head.step].ask(g, out);
    return LKS_REDFISH_PATIENCE;
}

/* No answer, or one that says as little. One entry is not worth the whole inventory. */
static void hear_nothing(struct reading *g, lks_ms now)
{
    if (g->r.head.step != MEMBER || g->r.head.tries + 1 < MEMBER_TRIES) {
        lks_conversation_retry(&g->r.head, now + (AGAIN << g->r.head.tries));
        return;
    }
    miss(g, "no answer");
    if (!g->r.head.ended)
        go_on(g, now);
}

static void hear_step(struct reading *g, lks_ms now, const struct lks_http_response *answer)
{
    bool silent = answer == NULL || (answer->status >= 500 && answer->status != 501);
    if (lks_redfish_wants_login(&g->r))
        lks_redfish_hear_login(&g->r, now, answer);
    else if (lks_redfish_hear_common(&g->r, now, answer))
        return;
    else if (silent)
        hear_nothing(g, now);
    else
        steps[g->r.head.step].hear(g, now, answer);
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct reading *g = value;
    LKS_ASSERT(g->r.head.step < LKS_COUNT(steps));
    g->r.requests++;
    if (g->r.head.step != ROOT) /* who never showed a service is told by its page */
        answer = lks_redfish_heard(answer);
    if (g->r.head.step == LOGOUT) {
        lks_redfish_hear_logout(&g->r);
        return;
    }
    hear_step(g, now, answer);
    if (g->r.head.ended && g->r.head.err.code != LKS_OK && answer != NULL)
        finish(g, now);
}

const struct lks_conversation_ops lks_redfish_read_ops = {
    .name = "redfish-read",
    .size = sizeof(struct reading),
    .ask = ask,
    .hear = hear,
    .hears_all = true,
};

void lks_redfish_read_begin(void *value, const struct lks_facts *facts,
                            const struct lks_bmc_secret *secret, lks_ms deadline,
                            struct lks_bmc_inventory *out)
{
    struct reading *g = value;
    *g = (struct reading){.facts = facts, .out = out};
    lks_redfish_begin(&g->r, secret, deadline);
}
