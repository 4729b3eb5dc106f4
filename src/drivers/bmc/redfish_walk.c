/* Walks over the inventory and over the tasks. */
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

#define PAGES_MAX     256
#define READ_ALL      24 /* in a list no longer than this, every entry is read each time */
#define UNLISTED_WAIT (20 * LKS_SECOND)
#define UNLISTED_MAX  90 /* times in a row: half an hour, in which the slowest is up again */

/* Lists ------------------------------------------------------------------------------------- */

static void clear_list(struct lks_redfish_update *u)
{
    u->listed_len = u->listed_at = u->listed_count = u->members = 0;
    u->listed_over = u->miscounted = false;
    u->pages = 0;
}

static void add_listed(struct lks_redfish_update *u, struct lks_str uri)
{
    if (u->listed_len + uri.len + 1 > sizeof(u->listed) || uri.len >= LKS_REDFISH_URI_SIZE) {
        u->listed_over = true;
        return;
    }
    memcpy(u->listed + u->listed_len, uri.ptr, uri.len);
    u->listed[u->listed_len + uri.len] = '\n';
    u->listed_len += uri.len + 1;
    u->listed_count++;
}

/* The next address of the list, or an empty view. */
static struct lks_str next_listed(const struct lks_redfish_update *u)
{
    struct lks_str rest = {u->listed + u->listed_at, u->listed_len - u->listed_at}, uri;
    lks_str_cut(rest, '\n', &uri, &rest);
    return uri;
}

static void drop_listed(struct lks_redfish_update *u)
{
    u->listed_at += next_listed(u).len + 1;
}

/* Is there another page? One that cannot be asked for is missing, and so is what the last one
 * counts and none had. */
static bool turn_page(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    const struct lks_doc *members = lks_doc_member(doc, "Members");
    u->members += members != NULL ? members->count : 0;
    if (lks_bmc_json_text(doc, "Members@odata.nextLink").len == 0) {
        u->miscounted = lks_bmc_json_number(doc, "Members@odata.count", 0) > u->members;
        return false;
    }
    struct lks_str next = lks_bmc_json_path(doc, "Members@odata.nextLink");
    if (++u->pages < PAGES_MAX && lks_redfish_keep(u->page, sizeof(u->page), next))
        return true;
    u->listed_over = true;
    return false;
}

/* The next page of a list, where there is one, or else what follows the list. */
static void next_page(struct lks_redfish_update *u, const struct lks_doc *doc, lks_ms now,
                      uint32_t list, void (*then)(struct lks_redfish_update *u, lks_ms now))
{
    if (turn_page(u, doc))
        lks_conversation_go(&u->r.head, list, now);
    else
        then(u, now);
}

/* The inventory ----------------------------------------------------------------------------- */

static void clear_found(struct lks_redfish_update *u)
{
    u->target_count = u->bank_count = 0;
    u->refused_entries = u->unreadable = u->missed = 0;
    u->backup_count = 0;
    u->lowest[0] = u->backup[0] = u->refused_why[0] = '\0';
    u->entry_activate[0] = u->entry_cancel[0] = u->backup_activate[0] = '\0';
}

void lks_redfish_walk(struct lks_redfish_update *u, enum lks_redfish_purpose purpose, lks_ms when)
{
    u->purpose = purpose;
    if (purpose == LKS_RF_SURVEY)
        u->passed_count = 0;
    clear_found(u);
    clear_list(u);
    u->software_too = u->firmware[0] == '\0';
    memcpy(u->page, u->software_too ? u->software : u->firmware, sizeof(u->page));
    lks_conversation_go(&u->r.head, LKS_RF_LIST, when);
}

static bool asked_for(const struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    struct lks_str component = lks_str_from(u->component);
    return (e->item.class.len > 0 && lks_str_eq(e->item.class, component)) ||
           lks_str_eq(e->item.id, component) || lks_str_eq(e->key, component);
}

static void keep_staged(struct lks_redfish_update *u, struct lks_str key, struct lks_str version)
{
    char plain[LKS_BMC_PLAIN_SIZE];
    if (u->bank_count == LKS_COUNT(u->banks) || lks_bmc_version_plain(version, plain).len == 0)
        return;
    size_t i = u->bank_count++;
    lks_redfish_keep(u->banks[i].key, sizeof(u->banks[i].key), key);
    lks_redfish_keep(u->banks[i].version, sizeof(u->banks[i].version), version);
}

/* Whether an entry must not be updated. Its write protection counts, unless the vendor reports it
 * of each entry or the operator overrides it; that it is not updateable always counts. */
static bool is_barred(const struct lks_redfish_update *u, const struct lks_bmc_item *item)
{
    bool vendor = lks_redfish_manners(u->r.vendor)->all_protected;
    bool ignored = u->write_protected || (vendor && item->updateable == LKS_TOLD_YES);
    return item->updateable == LKS_TOLD_NO || (item->write_protected == LKS_TOLD_YES && !ignored);
}

static void refuse_entry(struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    bool fixed = e->item.updateable == LKS_TOLD_NO;
    const char *why = e->item.write_protected != LKS_TOLD_YES ? "not updateable, as it says"
                      : fixed ? "write-protected and not updateable, as it says"
                              : "write-protected, as it says; 'lockstep bmc update "
                                "--write-protected REASON' overrides that";
    u->refused_entries++;
    if (u->purpose == LKS_RF_SURVEY && u->passed_count < LKS_COUNT(u->passed))
        u->passed[u->passed_count++] = lks_redfish_hash(e->item.uri);
    snprintf(u->refused_why, sizeof(u->refused_why), "%" LKS_STR_FMT " is %s",
             LKS_STR_ARG(e->item.id), why);
}

/* What was not to be updated counts for nothing that was, also if it says another thing later. */
static bool was_passed(const struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    uint64_t hash = lks_redfish_hash(e->item.uri);
    for (size_t i = 0; i < u->passed_count && e->item.uri.len > 0; i++) {
        if (u->passed[i] == hash)
            return true;
    }
    return false;
}

/* A service may list an entry twice; another one that is gone must not be made up for by that. */
static bool is_known(const struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    for (size_t i = 0; i < u->target_count; i++) {
        /* Not all say where they are. */
        if (lks_str_is(e->item.uri, u->targets[i].uri) && lks_str_is(e->key, u->targets[i].key))
            return true;
    }
    return false;
}

/* Listed twice, it is one all the same. */
static bool is_target(const struct lks_redfish_update *u, struct lks_str uri)
{
    for (size_t i = 0; i < u->target_count && uri.len > 0; i++) {
        if (lks_str_is(uri, u->targets[i].uri))
            return true;
    }
    return false;
}

static void add_target(struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    if (is_target(u, e->item.uri))
        return;
    if (is_known(u, e))
        return;
    if (u->target_count == LKS_COUNT(u->targets)) {
        u->listed_over = true;
        return;
    }
    struct lks_redfish_target *t = &u->targets[u->target_count++];
    *t = (struct lks_redfish_target){0};
    lks_redfish_keep(t->uri, sizeof(t->uri), e->item.uri);
    lks_redfish_keep(t->related, sizeof(t->related), e->item.related);
    lks_redfish_keep(t->key, sizeof(t->key), e->key);
    lks_redfish_keep(t->version, sizeof(t->version), e->item.version);
    lks_redfish_keep(u->kind, sizeof(u->kind), e->item.class);
    enum lks_version_scheme scheme = lks_facts_scheme(u->facts, e->item.class);
    if (u->lowest[0] == '\0' ||
        lks_bmc_version_older(lks_str_from(u->lowest), e->item.lowest, scheme))
        lks_redfish_keep(u->lowest, sizeof(u->lowest), e->item.lowest);
    if (e->cancel.len > 0)
        lks_redfish_keep(u->entry_cancel, sizeof(u->entry_cancel), e->cancel);
    keep_staged(u, e->key, e->staged);
}

/* An entry of the component in another bank than the one that runs. */
static void add_other(struct lks_redfish_update *u, const struct lks_redfish_entry *e)
{
    if (e->item.bank == LKS_BANK_STAGED) {
        keep_staged(u, e->key, e->item.version);
        lks_redfish_keep(u->entry_activate, sizeof(u->entry_activate), e->activate);
        lks_redfish_keep(u->entry_cancel, sizeof(u->entry_cancel), e->cancel);
    } else if (e->item.bank == LKS_BANK_BACKUP) {
        u->backup_count++;
        lks_redfish_keep(u->backup, sizeof(u->backup), e->item.version);
        lks_redfish_keep(u->backup_activate, sizeof(u->backup_activate), e->activate);
    }
}

static void take_entry(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    struct lks_redfish_entry e;
    lks_redfish_entry(u->facts, lks_str_from(u->r.vendor), doc, &e);
    if (!asked_for(u, &e))
        return;
    bool by_id = lks_str_is(e.item.id, u->component);
    u->by_id = u->by_id || by_id;
    if (e.item.bank != LKS_BANK_ACTIVE && !by_id)
        add_other(u, &e);
    else if (is_barred(u, &e.item) || was_passed(u, &e))
        refuse_entry(u, &e);
    else
        add_target(u, &e);
}

/* An entry that cannot be read counts where its name says that it belongs to the component. */
static void miss_entry(struct lks_redfish_update *u, struct lks_str uri)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_redfish_entry e;
    u->missed++;
    if (lks_docs_init(&docs, "entry", &err) != LKS_OK)
        return;
    struct lks_doc *doc = lks_doc_add(&docs, NULL, LKS_DOC_MAP);
    struct lks_doc *at = doc != NULL ? lks_doc_add_text(&docs, doc, uri) : NULL;
    if (at == NULL)
        return;
    at->key = LKS_STR("@odata.id");
    lks_redfish_entry(u->facts, lks_str_from(u->r.vendor), doc, &e);
    if (!asked_for(u, &e))
        return;
    u->unreadable++;
    snprintf(u->refused_why, sizeof(u->refused_why), "%" LKS_STR_FMT " cannot be read",
             LKS_STR_ARG(e.item.id));
}

/* Which banks hold what is asked for. */
static void match_banks(struct lks_redfish_update *u)
{
    for (size_t i = 0; i < u->bank_count; i++) {
        if (!lks_bmc_version_same(lks_str_from(u->banks[i].version), lks_str_from(u->version)))
            continue;
        for (size_t k = 0; k < u->target_count; k++) {
            bool same = strcmp(u->targets[k].key, u->banks[i].key) == 0;
            if (same || u->target_count == 1)
                u->targets[k].staged = true;
        }
    }
}

/* In a long list, once it is known which entries count, only those are read again. */
static bool is_wanted(const struct lks_redfish_update *u, struct lks_str uri)
{
    uint64_t hash = lks_redfish_hash(lks_redfish_uri_key(u->facts, lks_str_from(u->r.vendor), uri));
    for (size_t i = 0; i < u->wanted_count; i++) {
        if (u->wanted[i] == hash)
            return true;
    }
    return u->wanted_count == 0;
}

static void keep_wanted(struct lks_redfish_update *u)
{
    if (u->target_count == 0)
        return;
    u->wanted_count = u->target_count;
    for (size_t i = 0; i < u->target_count; i++)
        u->wanted[i] = lks_redfish_hash(lks_str_from(u->targets[i].key));
}

void lks_redfish_ask_list(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    if (lks_str_find(lks_str_from(u->page), LKS_STR("?")) >= 0)
        lks_redfish_ask(&u->r, "GET", lks_str_from(u->page), out);
    else
        lks_redfish_ask_expanded(&u->r, lks_str_from(u->page), out);
}

static void next_member(struct lks_redfish_update *u, lks_ms now)
{
    if (next_listed(u).len > 0) {
        lks_conversation_go(&u->r.head, LKS_RF_MEMBER, now);
        return;
    }
    /* Firmware is mostly listed as such; where it is not, it may be among the software. */
    if (!u->software_too && u->software[0] != '\0' && u->target_count == 0 && !u->firmware_only &&
        strcmp(u->software, u->firmware) != 0) {
        u->software_too = true;
        clear_list(u);
        memcpy(u->page, u->software, sizeof(u->page));
        lks_conversation_go(&u->r.head, LKS_RF_LIST, now);
        return;
    }
    match_banks(u);
    keep_wanted(u);
    lks_redfish_walked(u, now);
}

/* Not to be let in is no news of what was sent. */
static void give_up_list(struct lks_redfish_update *u, lks_ms now, int status, const char *why)
{
    if (u->sent == LKS_RF_NOTHING || status == 403)
        lks_conversation_fail(&u->r.head, status == 403 ? LKS_E_DENIED : LKS_E_INVALID,
                              "the inventory cannot be listed: %s", why);
    else
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN, "the inventory cannot be listed any more: %s",
                        why);
}

/* A list that cannot be read: before anything was sent that is the end, afterwards the service may
 * be restarting. */
static void no_list(struct lks_redfish_update *u, lks_ms now,
                    const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    if (u->r.expand != LKS_EXPAND_NOT) {
        u->r.expand = LKS_EXPAND_NOT;
        lks_conversation_go(&u->r.head, u->r.head.step, now);
        return;
    }
    if (u->software_too && u->firmware[0] != '\0') { /* it was only tried */
        next_member(u, now);
        return;
    }
    lks_redfish_error(answer, why);
    if (u->sent == LKS_RF_NOTHING || ++u->unlisted >= UNLISTED_MAX)
        give_up_list(u, now, answer->status, why);
    else
        lks_redfish_walk(u, u->purpose, now + UNLISTED_WAIT);
}

/* Take over what a page holds; members that are only addresses are listed. */
static void take_page(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    const struct lks_doc *members = lks_doc_member(doc, "Members");
    bool all = members == NULL || members->count <= READ_ALL || u->purpose == LKS_RF_SURVEY;
    for (const struct lks_doc *one = members != NULL ? members->first : NULL; one != NULL;
         one = one->next) {
        struct lks_str uri = lks_bmc_json_path(one, "@odata.id");
        if (lks_doc_member(one, "Id") != NULL || lks_doc_member(one, "Version") != NULL)
            take_entry(u, one);
        else if (uri.len > 0 && (all || is_wanted(u, uri)))
            add_listed(u, uri);
    }
}

void lks_redfish_hear_list(struct lks_redfish_update *u, lks_ms now,
                           const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc == NULL) {
        no_list(u, now, answer);
        return;
    }
    u->unlisted = 0;
    take_page(u, doc);
    next_page(u, doc, now, LKS_RF_LIST, next_member);
}

void lks_redfish_ask_listed(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", next_listed(u), out);
}

void lks_redfish_hear_member(struct lks_redfish_update *u, lks_ms now,
                             const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc != NULL)
        take_entry(u, doc);
    else
        miss_entry(u, next_listed(u));
    drop_listed(u);
    next_member(u, now);
}

/* Tasks ------------------------------------------------------------------------------------- */

uint64_t lks_redfish_hash(struct lks_str uri)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < uri.len; i++)
        hash = (hash ^ (unsigned char)uri.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Its place among the old ones; behind the last: it is none. */
static size_t old_place(const struct lks_redfish_update *u, struct lks_str task)
{
    uint64_t hash = lks_redfish_hash(task);
    size_t i = 0;
    while (i < u->old_count && u->old_tasks[i] != hash)
        i++;
    return i;
}

bool lks_redfish_is_old(const struct lks_redfish_update *u, struct lks_str task)
{
    return old_place(u, task) < u->old_count;
}

void lks_redfish_add_old(struct lks_redfish_update *u, struct lks_str task)
{
    if (task.len == 0 || lks_redfish_is_old(u, task))
        return;
    if (u->old_count == LKS_COUNT(u->old_tasks))
        u->old_known = false;
    else
        u->old_tasks[u->old_count++] = lks_redfish_hash(task);
}

static bool is_staying(const struct lks_redfish_update *u, struct lks_str task)
{
    uint64_t hash = lks_redfish_hash(task);
    for (size_t i = 0; i < u->staying_count; i++) {
        if (u->staying[i] == hash)
            return true;
    }
    return false;
}

/* Where there is no room it counts as one that runs, which is only waited for. */
void lks_redfish_add_staying(struct lks_redfish_update *u, struct lks_str task)
{
    if (!is_staying(u, task) && u->staying_count < LKS_COUNT(u->staying))
        u->staying[u->staying_count++] = lks_redfish_hash(task);
}

void lks_redfish_walk_tasks(struct lks_redfish_update *u, lks_ms now)
{
    clear_list(u);
    u->running[0] = u->fresh[0] = '\0';
    memset(u->old_there, 0, sizeof(u->old_there));
    u->tasks_read = u->fresh_runs = u->fresh_blank = u->others_run = false;
    if (u->purpose == LKS_RF_SURVEY) {
        u->old_count = 0;
        u->old_known = true;
    }
    if (u->task_list[0] != '\0')
        lks_conversation_go(&u->r.head, LKS_RF_TASK_LIST, now);
    else if (u->r.tasks[0] != '\0')
        lks_conversation_go(&u->r.head, LKS_RF_TASKS, now);
    else
        lks_redfish_tasks_walked(u, now);
}

void lks_redfish_ask_tasks(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->r.tasks), out);
}

void lks_redfish_hear_tasks(struct lks_redfish_update *u, lks_ms now,
                            const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_str at = lks_bmc_json_link(lks_redfish_read(answer, &docs), "Tasks");
    if (lks_redfish_keep(u->task_list, sizeof(u->task_list), at))
        lks_conversation_go(&u->r.head, LKS_RF_TASK_LIST, now);
    else
        lks_redfish_tasks_walked(u, now);
}

void lks_redfish_ask_task_list(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    if (u->pages > 0)
        lks_redfish_ask(&u->r, "GET", lks_str_from(u->page), out);
    else
        lks_redfish_ask_expanded(&u->r, lks_str_from(u->task_list), out);
}

/* Does it say that it is an update? Only such a one is ours to follow or to give up. */
static bool is_update(const struct lks_redfish_update *u, const struct lks_doc *task)
{
    const char *const ways[] = {u->multipart, u->push, u->simple, u->start, u->activate};
    struct lks_str at = lks_bmc_json_text(task, "Payload/TargetUri");
    bool update = at.len == 0 || lks_str_find(at, LKS_STR("pdate")) >= 0 ||
                  lks_str_find(at, LKS_STR("pload")) >= 0;
    for (size_t i = 0; i < LKS_COUNT(ways); i++)
        update = update || lks_str_is(lks_bmc_json_path(task, "Payload/TargetUri"), ways[i]);
    return update;
}

/* May it be one? It is waited for, unless it is known to be about something else. */
static bool may_be_update(const struct lks_redfish_update *u, const struct lks_doc *task)
{
    static const char *const others[] = {
        "/LogServices/",       "/AccountService",   "/EventService",
        "/SessionService",     "/TelemetryService", "/VirtualMedia/",
        "/CertificateService", "/Certificates",     "/Volumes"};
    struct lks_str at = lks_bmc_json_text(task, "Payload/TargetUri");
    bool other = false;
    for (size_t i = 0; i < LKS_COUNT(others); i++)
        other = other || lks_str_find(at, lks_str_from(others[i])) >= 0;
    return !other || is_update(u, task);
}

/* Its end was not seen, and it is still listed: an entry without its state does not mean that it
 * ended. */
static bool is_lost(const struct lks_redfish_update *u, struct lks_str task)
{
    return u->purpose == LKS_RF_CLEAR && u->task_lost && lks_str_is(task, u->task);
}

static void take_task(struct lks_redfish_update *u, struct lks_str uri, const struct lks_doc *task)
{
    bool runs = lks_redfish_task_runs(u, task);
    size_t place = old_place(u, uri);
    /* None of those that the service listed before was running, or nothing would have been sent:
     * one that runs now has the name of an old one, and is new. One of ours that was taken for over
     * is not while it runs, unless all that it waits for is the reset. */
    bool fresh = place == u->old_count || (runs && !is_staying(u, uri));
    bool sure = is_update(u, task);
    if (!may_be_update(u, task))
        return;
    if (runs && (sure || u->act != LKS_BMC_ABORT))
        lks_redfish_keep(u->running, sizeof(u->running), uri);
    if (u->purpose == LKS_RF_SURVEY || (!fresh && !is_lost(u, uri)))
        return;
    bool sought = u->purpose == LKS_RF_SEEK && (u->task[0] == '\0' || u->task_found);
    if (!sure && !(sought && runs)) {
        u->others_run = u->others_run || runs;
        return;
    }
    u->fresh_blank = u->fresh_blank || lks_redfish_task_blank(task);
    if (!fresh)
        return;
    if (u->fresh_runs && !runs)
        return;
    lks_redfish_keep(u->fresh, sizeof(u->fresh), uri);
    u->fresh_runs = runs;
}

static void list_task(struct lks_redfish_update *u, const struct lks_doc *one)
{
    struct lks_str uri = lks_bmc_json_path(one, "@odata.id");
    size_t place = old_place(u, uri);
    bool old = place < u->old_count;
    if (uri.len == 0) {
        u->listed_over = true; /* what this one is cannot be known */
        return;
    }
    if (u->purpose == LKS_RF_SURVEY)
        lks_redfish_add_old(u, uri);
    else if (old)
        u->old_there[place] = true;
    if (lks_doc_member(one, "TaskState") != NULL)
        take_task(u, uri, one);
    else
        add_listed(u, uri);
}

static void next_task(struct lks_redfish_update *u, lks_ms now)
{
    u->tasks_read =
        !u->listed_over && !u->miscounted; /* the one that counts may be among those left out */
    if (next_listed(u).len > 0)
        lks_conversation_go(&u->r.head, LKS_RF_TASK, now);
    else
        lks_redfish_tasks_walked(u, now);
}

void lks_redfish_hear_task_list(struct lks_redfish_update *u, lks_ms now,
                                const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    const struct lks_doc *members = lks_doc_member(doc, "Members");
    bool listed = members != NULL && members->kind == LKS_DOC_LIST;
    if (!listed && u->r.expand != LKS_EXPAND_NOT) {
        u->r.expand = LKS_EXPAND_NOT;
        lks_conversation_go(&u->r.head, LKS_RF_TASK_LIST, now);
        return;
    }
    if (!listed) {
        lks_redfish_tasks_walked(u, now);
        return;
    }
    for (const struct lks_doc *one = members->first; one != NULL; one = one->next)
        list_task(u, one);
    next_page(u, doc, now, LKS_RF_TASK_LIST, next_task);
}

/* A task that cannot be read, and was not there before, is ours for all we know. */
void lks_redfish_hear_task(struct lks_redfish_update *u, lks_ms now,
                           const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    struct lks_str uri = next_listed(u);
    if (doc != NULL)
        take_task(u, uri, doc);
    else if (is_lost(u, uri))
        u->fresh_blank = true;
    else if (u->purpose != LKS_RF_SURVEY && !lks_redfish_is_old(u, uri)) {
        u->fresh_blank = true;
        if (u->fresh[0] == '\0')
            lks_redfish_keep(u->fresh, sizeof(u->fresh), uri);
    }
    drop_listed(u);
    next_task(u, now);
}
