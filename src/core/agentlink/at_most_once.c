#include "core/agentlink/at_most_once.h"

#include "base/vec.h"
#include "model/record/moves.h"

#include <stdio.h>
#include <stdlib.h>

#define HEADER         "lockstep ledger 1"
#define WORD_BEGUN     "begun"
#define WHY_UNFINISHED "the agent stopped after it started and before it ended"

void lks_at_most_once_fini(struct lks_at_most_once *o)
{
    free(o->entries);
    *o = (struct lks_at_most_once){0};
}

/* Where `id` is, or where it would be put. */
static size_t place_of(const struct lks_at_most_once *o, uint64_t id)
{
    size_t at;
    LKS_VEC_PLACE(at, o->count, o->entries[at].id < id);
    return at;
}

static struct lks_at_most_once_entry *find(const struct lks_at_most_once *o, uint64_t id)
{
    size_t at = place_of(o, id);
    return at < o->count && o->entries[at].id == id ? &o->entries[at] : NULL;
}

/* NULL when it may run. */
static const char *refusal(const struct lks_at_most_once *o, const struct lks_envelope *e,
                           struct lks_str boot, lks_ms wall)
{
    if (e->id <= o->floor)
        return "it is older than what the ledger of this node remembers";
    if (e->epoch < o->epoch)
        return "it comes from a controller that no longer leads";
    if (!lks_str_is(boot, e->boot))
        return "it is for another boot of this node";
    if (wall >= e->expires)
        return "it has expired";
    return NULL;
}

enum lks_at_most_once_verdict
lks_at_most_once_judge(const struct lks_at_most_once *o, const struct lks_envelope *e,
                       struct lks_str node, struct lks_str boot, lks_ms wall,
                       struct lks_at_most_once_entry *entry, const char **why)
{
    bool ours = o->journal[0] == '\0' || strcmp(o->journal, e->journal) == 0;
    if (!ours || !lks_str_is(node, e->node)) {
        *why = ours ? "it is for another node" : "it is of another journal";
        return LKS_AT_MOST_ONCE_REFUSE;
    }
    /* Before all else that could be wrong with it: a command that ended before a boot, or before
     * its expiry, and whose answer was lost, still has its outcome. */
    const struct lks_at_most_once_entry *known = find(o, e->id);
    if (known != NULL) {
        *entry = *known;
        return LKS_AT_MOST_ONCE_REPEAT;
    }
    const char *reason = refusal(o, e, boot, wall);
    if (reason == NULL)
        return LKS_AT_MOST_ONCE_RUN;
    *why = reason;
    return LKS_AT_MOST_ONCE_REFUSE;
}

/* The oldest entry that ended leaves; its id, and those below, stay refused. */
static bool make_room(struct lks_at_most_once *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (!o->entries[i].ended)
            continue;
        if (o->entries[i].id > o->floor)
            o->floor = o->entries[i].id;
        LKS_VEC_REMOVE(o->entries, o->count, i);
        return true;
    }
    return false;
}

enum lks_code lks_at_most_once_begin(struct lks_at_most_once *o, const struct lks_envelope *e,
                                     struct lks_err *err)
{
    LKS_ASSERT(find(o, e->id) == NULL && e->id > o->floor);
    if (o->count >= LKS_AT_MOST_ONCE_ENTRIES_MAX && !make_room(o))
        return lks_fail(err, LKS_E_LIMIT, "%d commands have started here and none has ended",
                        LKS_AT_MOST_ONCE_ENTRIES_MAX);
    size_t at = place_of(o, e->id), max = LKS_AT_MOST_ONCE_ENTRIES_MAX;
    if (LKS_VEC_INSERT(o->entries, o->room, o->count, at, max, err) != LKS_OK)
        return err->code;
    o->entries[at] = (struct lks_at_most_once_entry){.id = e->id, .outcome = LKS_OUTCOME_UNKNOWN};
    snprintf(o->journal, sizeof(o->journal), "%s", e->journal);
    if (e->epoch > o->epoch)
        o->epoch = e->epoch;
    return LKS_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* As much of `text` as fits, cut between characters. It stays one line: ends of lines at its end
 * go, those within become blanks, and what else is not printable becomes '?'. */
static void keep_text(char *out, size_t size, struct lks_str text)
{
    size_t kept = 0;
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    for (size_t at = 0; at < text.len;) {
        uint32_t point = 0;
        size_t length = lks_str_rune(text, at, &point);
        bool fine = length > 0 && lks_str_rune_printable(point);
        size_t bytes = fine ? length : 1;
        if (kept + bytes >= size)
            break;
        memcpy(out + kept, fine ? text.ptr + at : is_blank(text.ptr[at]) ? " " : "?", bytes);
        kept += bytes;
        at += length > 0 ? length : 1;
    }
    out[kept] = '\0';
}

void lks_at_most_once_end(struct lks_at_most_once *o, uint64_t id, enum lks_outcome outcome,
                          struct lks_str text)
{
    struct lks_at_most_once_entry *entry = find(o, id);
    LKS_ASSERT(entry != NULL && outcome < LKS_OUTCOME_COUNT);
    (void)lks_machine_step(&lks_moves_command,
                           lks_moves_command_stage(entry->ended, entry->outcome),
                           lks_moves_command_stage(true, outcome));
    LKS_ASSERT(!entry->ended); /* a controller takes a result after the expiry, a ledger does not */
    entry->ended = true;
    entry->outcome = outcome;
    keep_text(entry->text, sizeof(entry->text), text);
}

/* As text ----------------------------------------------------------------------------------- */

/* The last line counts the entries: a ledger that lost some would let them run again. */
void lks_at_most_once_print(const struct lks_at_most_once *o, struct lks_buf *out)
{
    lks_buf_addf(out, HEADER "\njournal %s\nepoch %llu\nfloor %llu\n", o->journal,
                 (unsigned long long)o->epoch, (unsigned long long)o->floor);
    for (size_t i = 0; i < o->count; i++) {
        const struct lks_at_most_once_entry *e = &o->entries[i];
        lks_buf_addf(out, "%llu %s %s\n", (unsigned long long)e->id,
                     e->ended ? lks_outcome_words[e->outcome] : WORD_BEGUN, e->text);
    }
    lks_buf_addf(out, "end %zu\n", o->count);
}

struct reader {
    struct lks_str rest;
    unsigned line;
    struct lks_err *err;
};

static enum lks_code bad(const struct reader *r, const char *what)
{
    return lks_fail(r->err, LKS_E_INVALID,
                    "line %u of the ledger: %s; restore it, or enrol the node anew", r->line, what);
}

static enum lks_code next_line(struct reader *r, struct lks_str *line)
{
    r->line++;
    if (!lks_str_cut(r->rest, '\n', line, &r->rest))
        return bad(r, "it ends too early");
    return LKS_OK;
}

/* "WORD VALUE", the value as `out`. */
static enum lks_code read_value(struct reader *r, const char *word, struct lks_str *out)
{
    struct lks_str line = {0}, key, value;
    if (next_line(r, &line) != LKS_OK)
        return r->err->code;
    if (!lks_str_cut(line, ' ', &key, &value) || !lks_str_is(key, word))
        return bad(r, "another line was expected here");
    *out = value;
    return LKS_OK;
}

static enum lks_code read_number(struct reader *r, const char *word, uint64_t *out)
{
    struct lks_str value = {0};
    if (read_value(r, word, &value) != LKS_OK)
        return r->err->code;
    if (!lks_str_number(value, UINT64_MAX, out))
        return bad(r, "not a number");
    return LKS_OK;
}

static enum lks_code read_journal(struct reader *r, struct lks_at_most_once *o)
{
    struct lks_str id = {0};
    if (read_value(r, "journal", &id) != LKS_OK)
        return r->err->code;
    if (id.len != 0 && id.len != LKS_JOURNAL_ID_SIZE - 1)
        return bad(r, "not the id of a journal");
    for (size_t i = 0; i < id.len; i++) {
        uint64_t digit;
        if (!lks_str_hex((struct lks_str){id.ptr + i, 1}, 15, &digit))
            return bad(r, "not the id of a journal");
        o->journal[i] = id.ptr[i];
    }
    return LKS_OK;
}

/* What began and did not end is not known to have ended well, or at all. */
static enum lks_code read_entry(struct reader *r, struct lks_str line, struct lks_at_most_once *o)
{
    struct lks_str id, word, text;
    struct lks_at_most_once_entry entry = {.ended = true, .outcome = LKS_OUTCOME_UNKNOWN};
    uint64_t outcome = LKS_OUTCOME_UNKNOWN;
    lks_str_cut(line, ' ', &id, &line);
    if (!lks_str_number(id, UINT64_MAX, &entry.id))
        return bad(r, "not the id of a command");
    if (o->count > 0 && entry.id <= o->entries[o->count - 1].id)
        return bad(r, "ids do not rise");
    if (!lks_str_cut(line, ' ', &word, &text) || text.len >= sizeof(entry.text) ||
        !lks_str_printable(text))
        return bad(r, "not an entry");
    if (lks_str_is(word, WORD_BEGUN))
        text = LKS_STR(WHY_UNFINISHED);
    else if (!lks_record_word_find(lks_outcome_words, word, &outcome))
        return bad(r, "no such outcome");
    entry.outcome = (enum lks_outcome)outcome;
    memcpy(entry.text, text.ptr, text.len);
    if (o->count >= LKS_AT_MOST_ONCE_ENTRIES_MAX)
        return bad(r, "more entries than a ledger holds");
    if (LKS_VEC_RESERVE(o->entries, o->room, o->count + 1, r->err) != LKS_OK)
        return r->err->code;
    LKS_ASSERT(o->entries != NULL);
    o->entries[o->count++] = entry;
    return LKS_OK;
}

static enum lks_code read_entries(struct reader *r, struct lks_at_most_once *o)
{
    struct lks_str line = {0};
    uint64_t count = 0;
    for (;;) {
        if (next_line(r, &line) != LKS_OK)
            return r->err->code;
        if (lks_str_starts(line, "end "))
            break;
        if (read_entry(r, line, o) != LKS_OK)
            return r->err->code;
    }
    line = (struct lks_str){line.ptr + 4, line.len - 4};
    if (!lks_str_number(line, LKS_AT_MOST_ONCE_ENTRIES_MAX, &count) || count != o->count)
        return bad(r, "entries are missing");
    return r->rest.len == 0 ? LKS_OK : bad(r, "something follows the end");
}

enum lks_code lks_at_most_once_parse(struct lks_str text, struct lks_at_most_once *out,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    struct reader r = {.rest = text, .err = err};
    struct lks_str header = {0};
    if (next_line(&r, &header) != LKS_OK)
        return err->code;
    if (!lks_str_is(header, HEADER))
        return bad(&r, "this is no ledger that this program can read");
    if (read_journal(&r, &o) != LKS_OK || read_number(&r, "epoch", &o.epoch) != LKS_OK ||
        read_number(&r, "floor", &o.floor) != LKS_OK || read_entries(&r, &o) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(o);
    return LKS_OK;
}
