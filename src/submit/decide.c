#include "submit/decide.h"

#include "codec/notation/image.h"
#include "codec/notation/word.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SLOTS        "[lks0|lks1|lks2]"
#define SHA256       "sha256:"
#define STACK_TOKEN  "lockstep:stack="
#define IMAGE_OPTION "--container-image"

enum { SHORT_HEX = 12, PREFIXED_HEX = 4, ALTERNATIVES_MAX = 8, NAMES_SHOWN = 5, WORD_SHOWN = 60 };

/* Words of a job, as a user may read them again: cut, and without control bytes. */
struct shown {
    char text[WORD_SHOWN + 1];
};

static struct shown show(struct lks_str s)
{
    struct shown out = {""};
    size_t len = s.len < WORD_SHOWN ? s.len : WORD_SHOWN;
    for (size_t i = 0; i < len; i++)
        out.text[i] = (char)(s.ptr[i] >= ' ' && s.ptr[i] < 0x7f ? s.ptr[i] : '?');
    return out;
}

/* Features ---------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':' || c == '=' || c == '+' || c == '/';
}

/* Words between `sep`, each plain and none empty; how many: 0: it is something else. */
static size_t count_words(struct lks_str s, char sep, char other)
{
    size_t words = 0, len = 0;
    for (size_t i = 0; i <= s.len; i++) {
        if (i == s.len || s.ptr[i] == sep || (other != '\0' && s.ptr[i] == other)) {
            if (len == 0)
                return 0;
            words++;
            len = 0;
        } else if (!is_plain(s.ptr[i])) {
            return 0;
        } else {
            len++;
        }
    }
    return words;
}

/* "(a|b)" and "a&(b|c)&d": parentheses of alternatives, joined by "&". */
static bool is_joined(struct lks_str s)
{
    while (s.len > 0) {
        struct lks_str part = s;
        size_t end = 0;
        while (end < s.len && s.ptr[end] != (s.ptr[0] == '(' ? ')' : '&'))
            end++;
        bool group = s.ptr[0] == '(';
        if (group &&
            (end == s.len || count_words((struct lks_str){s.ptr + 1, end - 1}, '|', '\0') == 0))
            return false;
        part.len = end;
        if (!group && count_words(part, '&', '\0') == 0)
            return false;
        end += group;
        if (end == s.len)
            return true;
        if (s.ptr[end] != '&')
            return false;
        s = (struct lks_str){s.ptr + end + 1, s.len - end - 1};
    }
    return false;
}

/* Text that grows in a fixed place. */
struct text {
    char *at;
    size_t size, len;
    bool full;
};

static void LKS_PRINTF(2, 3) add(struct text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int len = vsnprintf(t->at + t->len, t->size - t->len, format, ap);
    va_end(ap);
    t->full = t->full || len < 0 || (size_t)len >= t->size - t->len;
    t->len = t->full ? t->len : t->len + (size_t)len;
}

/* "[a|b]" with each slot: Slurm takes one matching OR in an expression, and parentheses in it. */
static void multiply(struct lks_str list, struct lks_str term, struct text *t)
{
    struct lks_str word, slot, slots = {term.ptr + 1, term.len - 2};
    const char *between = "";
    add(t, "[");
    for (bool more = true; more;) {
        more = lks_str_cut(list, '|', &word, &list);
        struct lks_str rest = slots;
        for (bool next = true; next;) {
            next = lks_str_cut(rest, '|', &slot, &rest);
            add(t, "%s(%" LKS_STR_FMT "&%" LKS_STR_FMT ")", between, LKS_STR_ARG(word),
                LKS_STR_ARG(slot));
            between = "|";
        }
    }
    add(t, "]");
}

bool lks_submit_decide_combine(struct lks_str user, struct lks_str term, char *out, size_t size)
{
    struct text t = {.at = out, .size = size};
    bool bracket = user.len > 2 && user.ptr[0] == '[' && user.ptr[user.len - 1] == ']';
    struct lks_str inner = {bracket ? user.ptr + 1 : "", bracket ? user.len - 2 : 0};
    size_t alternatives = count_words(inner, '|', '\0');
    if (user.len > size)
        return false;
    if (user.len == 0)
        add(&t, "%" LKS_STR_FMT, LKS_STR_ARG(term));
    else if (count_words(user, '&', ',') > 0 || is_joined(user))
        add(&t, "%" LKS_STR_FMT "&%" LKS_STR_FMT, LKS_STR_ARG(user), LKS_STR_ARG(term));
    else if (count_words(user, '|', '\0') > 0)
        add(&t, "(%" LKS_STR_FMT ")&%" LKS_STR_FMT, LKS_STR_ARG(user), LKS_STR_ARG(term));
    else if (alternatives > 0 && alternatives <= ALTERNATIVES_MAX && term.ptr[0] == '[')
        multiply(inner, term, &t);
    else
        return false;
    return !t.full;
}

/* Whether the user chose by features of lockstep already. */
static bool names_ours(struct lks_str s)
{
    for (size_t i = 0; i + 3 < s.len; i++) {
        bool starts = i == 0 || !is_plain(s.ptr[i - 1]);
        char next = s.ptr[i + 3];
        if (starts && memcmp(s.ptr + i, "lks", 3) == 0 &&
            (next == '-' || (next >= '0' && next <= '9')))
            return true;
    }
    return false;
}

/* Images ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
}

/* A comment of the shell, which is no line of options for sbatch; it may have blanks before it. */
static bool is_comment(struct lks_str line)
{
    size_t at = 0;
    while (at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t'))
        at++;
    return at < line.len && line.ptr[at] == '#' && !lks_str_starts(line, "#SBATCH");
}

/* Whether the byte at `at` is in a comment. Behind an option of a line nothing is: what is behind
 * it starts with "=" or a blank. */
static bool in_comment(struct lks_str s, size_t at, bool behind)
{
    size_t start = at;
    while (start > 0 && s.ptr[start - 1] != '\n')
        start--;
    return (start > 0 || !behind) && is_comment((struct lks_str){s.ptr + start, s.len - start});
}

/* What follows the option: behind "=" or blanks, up to the next blank, without quotes. */
static struct lks_str value_of(struct lks_str s)
{
    size_t at = 0, end;
    if (s.len > 0 && s.ptr[0] == '=')
        at = 1;
    else
        while (at < s.len && is_blank(s.ptr[at]) &&
               (s.ptr[at] != '\n' || (at > 0 && s.ptr[at - 1] == '\\')))
            at++;
    char quote = at < s.len && (s.ptr[at] == '"' || s.ptr[at] == '\'') ? s.ptr[at] : '\0';
    at += quote != '\0';
    for (end = at; end < s.len; end++) {
        if (quote != '\0' ? s.ptr[end] == quote || s.ptr[end] == '\n' : is_blank(s.ptr[end]))
            break;
    }
    return (struct lks_str){s.ptr + at, end - at};
}

bool lks_submit_decide_image(struct lks_str *rest, struct lks_str *image)
{
    ptrdiff_t at;
    bool behind = rest->len > 0 && (rest->ptr[0] == '=' || is_blank(rest->ptr[0]));
    while ((at = lks_str_find(*rest, LKS_STR(IMAGE_OPTION))) >= 0) {
        size_t skip = (size_t)at + sizeof(IMAGE_OPTION) - 1;
        bool starts = at == 0 || is_blank(rest->ptr[at - 1]);
        bool comment = in_comment(*rest, (size_t)at, behind);
        while (comment && skip < rest->len && rest->ptr[skip] != '\n')
            skip++;
        behind = true;
        *rest = (struct lks_str){rest->ptr + skip, rest->len - skip};
        if (comment || !starts || rest->len == 0 ||
            (rest->ptr[0] != '=' && !is_blank(rest->ptr[0])))
            continue;
        *image = value_of(*rest);
        if (image->len > 0 && image->len <= LKS_SUBMIT_IMAGE_MAX &&
            memchr(image->ptr, '$', image->len) == NULL)
            return true;
    }
    return false;
}

/* Up to LKS_SUBMIT_IMAGE_MAX bytes. enroot separates the registry by "#". */
static const struct lks_policy_image *find_image(const struct lks_policy *p, struct lks_str said)
{
    static const char scheme[] = "docker://";
    char ref[LKS_SUBMIT_IMAGE_MAX];
    size_t skip = lks_str_starts(said, scheme) ? sizeof(scheme) - 1 : 0;
    for (size_t i = skip; i < said.len; i++)
        ref[i - skip] = (char)(said.ptr[i] == '#' ? '/' : said.ptr[i]);
    return lks_policy_image(p, (struct lks_str){ref, said.len - skip});
}

/* What is decided --------------------------------------------------------------------------- */

struct deciding {
    const struct lks_policy *p;
    const struct lks_submit_job *job;
    lks_ms now;
    struct lks_submit_answer *out;
    struct lks_str stack; /* that the job asks for; empty: none */
    const struct lks_policy_image *images[LKS_SUBMIT_IMAGES_MAX]; /* that the policy has */
    size_t image_count;
    /* Of its partitions: */
    uint32_t asked, ours, refused;
    bool enforced; /* each that refuses it enforces */
    bool stamps;   /* all enforce, and each has nodes of one pool */
    bool slots;    /* and no others, so that all nodes show slots */
    bool split;    /* a partition has nodes in several slots */
    uint64_t most; /* nodes of one slot or of the stack, in the partition that has most */
    const struct lks_policy_stack *wanted;
    bool several; /* stacks of that name */
};

static void LKS_PRINTF(2, 3) say(struct deciding *d, const char *format, ...)
{
    va_list ap;
    if (d->out->text[0] != '\0')
        return; /* the first reason */
    va_start(ap, format);
    vsnprintf(d->out->text, sizeof(d->out->text), format, ap);
    va_end(ap);
}

/* Compared with each stack of each partition's pool, under slurmctld's locks. */
static struct lks_str cut_stack(struct lks_str said)
{
    return (struct lks_str){said.ptr,
                            said.len < LKS_SUBMIT_STACK_MAX ? said.len : LKS_SUBMIT_STACK_MAX};
}

static struct lks_str stack_of(const struct lks_submit_job *job)
{
    struct lks_str rest = job->comment, word;
    if (job->stack.len > 0)
        return cut_stack(job->stack);
    rest.len = rest.len < LKS_SUBMIT_SCRIPT_MAX ? rest.len : LKS_SUBMIT_SCRIPT_MAX;
    while (lks_str_word(&rest, &word)) {
        size_t skip = sizeof(STACK_TOKEN) - 1;
        if (lks_str_starts(word, STACK_TOKEN))
            return cut_stack((struct lks_str){word.ptr + skip, word.len - skip});
    }
    return LKS_STR("");
}

static void take_images(struct deciding *d)
{
    struct lks_str rest = d->job->script, image = d->job->image;
    rest.len = rest.len < LKS_SUBMIT_SCRIPT_MAX ? rest.len : LKS_SUBMIT_SCRIPT_MAX;
    bool more = image.len > 0 && image.len <= LKS_SUBMIT_IMAGE_MAX;
    more = more || lks_submit_decide_image(&rest, &image);
    /* Images that the policy does not have count as well: slurmctld holds its locks here. */
    for (unsigned looked = 0; more && looked < LKS_SUBMIT_IMAGES_MAX; looked++) {
        if (d->out->image[0] == '\0' && lks_word_fits(image) && lks_image_passes(image))
            snprintf(d->out->image, sizeof(d->out->image), "%" LKS_STR_FMT, LKS_STR_ARG(image));
        const struct lks_policy_image *known = find_image(d->p, image);
        if (known != NULL)
            d->images[d->image_count++] = known;
        more = lks_submit_decide_image(&rest, &image);
    }
}

/* As admission has it: NAME, NAME/VERSION, or digits of the digest: behind "sha256:" fewer, because
 * nothing else is meant. A stack whose version the policy does not have may have any. */
static bool is_stack(const struct lks_policy_stack *stack, struct lks_str wanted)
{
    struct lks_str name, version, kind, hex = {0};
    bool prefixed = lks_str_starts(wanted, SHA256);
    bool versioned = lks_str_cut(wanted, '/', &name, &version);
    if (name.len > 0 && lks_str_eq(stack->name, name) &&
        (!versioned || stack->version.len == 0 || lks_str_eq(stack->version, version)))
        return true;
    if (!lks_str_cut(stack->digest, ':', &kind, &hex))
        return false;
    if (prefixed)
        wanted = (struct lks_str){wanted.ptr + sizeof(SHA256) - 1, wanted.len - sizeof(SHA256) + 1};
    return wanted.len >= (prefixed ? PREFIXED_HEX : SHORT_HEX) && wanted.len <= hex.len &&
           memcmp(wanted.ptr, hex.ptr, wanted.len) == 0;
}

static void name_stacks(const struct deciding *d, uint32_t pool, char *out, size_t size)
{
    struct text t = {.at = out, .size = size};
    unsigned shown = 0;
    for (uint32_t i = 0; i < d->p->stack_count; i++) {
        const struct lks_policy_stack *stack = &d->p->stacks[i];
        if (stack->pool != pool || stack->name.len == 0 || shown++ >= NAMES_SHOWN)
            continue;
        add(&t, "%s%s", t.len > 0 ? ", " : "", show(stack->name).text);
    }
    if (t.len == 0)
        add(&t, "none");
}

/* The stack that is asked for, in this pool. */
static bool check_stack(struct deciding *d, uint32_t pool)
{
    char names[128] = "";
    const struct lks_policy_stack *found = NULL;
    for (uint32_t i = 0; i < d->p->stack_count; i++) {
        const struct lks_policy_stack *stack = &d->p->stacks[i];
        if (stack->pool != pool || !is_stack(stack, d->stack))
            continue;
        d->several = d->several || (found != NULL && !lks_str_eq(found->digest, stack->digest));
        found = stack;
    }
    if (found == NULL) {
        name_stacks(d, pool, names, sizeof(names));
        say(d, "lockstep: no node of pool '%s' runs the stack '%s'; its stacks: %s",
            show(d->p->pools[pool].name).text, show(d->stack).text, names);
        return false;
    }
    if (d->several || (d->wanted != NULL && !lks_str_eq(d->wanted->digest, found->digest))) {
        d->several = true;
        say(d,
            "lockstep: several stacks are named '%s'; name one as NAME/VERSION, or by 12 digits of "
            "its digest ('lockstep stack ls' has both)",
            show(d->stack).text);
        return false;
    }
    if (d->job->nodes > found->nodes) {
        say(d,
            "lockstep: %" PRIu64 " nodes of pool '%s' run the stack '%s', and the job needs "
            "%" PRIu64 "; request at most %" PRIu64 " nodes",
            found->nodes, show(d->p->pools[pool].name).text, show(d->stack).text, d->job->nodes,
            found->nodes);
        return false;
    }
    d->wanted = found;
    return true;
}

static bool is_unfit(const struct lks_policy_pool *pool, struct lks_str version)
{
    struct lks_str one, rest = pool->unfit;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, ',', &one, &rest);
        if (lks_str_eq(one, version))
            return true;
    }
    return false;
}

/* Of "2.28.9" and "2.28.9+cuda12.8" the numbers count: catalogues have more or less of a version.
 */
static struct lks_str numbers_of(struct lks_str version)
{
    size_t len = 0;
    while (len < version.len &&
           (version.ptr[len] == '.' || (version.ptr[len] >= '0' && version.ptr[len] <= '9')))
        len++;
    return (struct lks_str){version.ptr, len};
}

static bool is_other(struct lks_str a, struct lks_str b)
{
    return !lks_str_eq(numbers_of(a), numbers_of(b));
}

static bool check_images(struct deciding *d, const struct lks_policy_pool *pool)
{
    for (size_t i = 0; i < d->image_count; i++) {
        const struct lks_policy_image *image = d->images[i];
        if (pool->nccl.len > 0 && is_other(image->nccl, d->images[0]->nccl)) {
            say(d, "lockstep: images '%s' (NCCL %s) and '%s' (NCCL %s) cannot run in one job",
                show(d->images[0]->ref).text, show(d->images[0]->nccl).text, show(image->ref).text,
                show(image->nccl).text);
            return false;
        }
        if (is_unfit(pool, image->nccl)) {
            say(d,
                "lockstep: image '%s' has NCCL %s, and pool '%s' pins %s; use an image with "
                "NCCL %s",
                show(image->ref).text, show(image->nccl).text, show(pool->name).text,
                show(pool->nccl).text, show(pool->nccl).text);
            return false;
        }
    }
    return true;
}

/* A policy of the future is as far from now as an old one: a clock was set, and its age
 * is unknown. */
static lks_ms distance(const struct deciding *d)
{
    return d->now > d->p->confirmed ? d->now - d->p->confirmed : d->p->confirmed - d->now;
}

/* Whether what lockstep knows of the pool is fresh enough to decide by. */
static bool is_fresh(const struct deciding *d, const struct lks_policy_pool *pool)
{
    return distance(d) <= pool->stale * LKS_SECOND;
}

/* Whether nodes of the pool show slots, which a constraint can name. */
static bool has_slots(const struct lks_policy *p, uint32_t pool)
{
    for (uint32_t i = 0; i < p->stack_count; i++) {
        if (p->stacks[i].pool == pool && p->stacks[i].slot < LKS_POLICY_SLOTS)
            return true;
    }
    return false;
}

static bool check_pool(struct deciding *d, const struct lks_policy_partition *part)
{
    const struct lks_policy_pool *pool = &d->p->pools[part->pool];
    if (!is_fresh(d, pool)) {
        d->stamps = false;
        if (!pool->closed)
            return true;
        say(d,
            "lockstep: the policy of pool '%s' is %" PRIu64 " s %s, and the pool refuses jobs "
            "without a fresh one; submit again later, or ask the administrator to run "
            "'lockstep doctor'",
            show(pool->name).text, (uint64_t)(distance(d) / LKS_SECOND),
            d->now > d->p->confirmed ? "old" : "ahead of slurmctld's clock");
        return false;
    }
    d->stamps = d->stamps && has_slots(d->p, part->pool);
    if (d->stack.len > 0 && !check_stack(d, part->pool))
        return false;
    uint64_t largest = 0;
    for (unsigned k = 0; k < LKS_POLICY_SLOTS; k++)
        largest = part->slots[k] > largest ? part->slots[k] : largest;
    d->most = largest > d->most ? largest : d->most;
    d->split = d->split || largest < part->nodes;
    return check_images(d, pool);
}

static void check_partition(struct deciding *d, struct lks_str name)
{
    const struct lks_policy_partition *part = NULL;
    for (uint32_t i = 0; i < d->p->partition_count && part == NULL; i++) {
        const struct lks_policy_partition *one = &d->p->partitions[i];
        if (name.len > 0 ? lks_str_eq(one->name, name) : one->is_default)
            part = one;
    }
    d->asked++;
    if (part == NULL || part->pool == LKS_POLICY_NO_POOL ||
        d->p->pools[part->pool].enforce != LKS_POLICY_ON)
        d->stamps = false;
    if (part != NULL && part->foreign > 0)
        d->slots = false;
    if (part == NULL || part->nodes == 0)
        return;
    d->ours++;
    if (part->pool == LKS_POLICY_NO_POOL || check_pool(d, part))
        return;
    d->refused++;
    d->enforced = d->enforced && d->p->pools[part->pool].enforce == LKS_POLICY_ON;
}

/* What the job asks nodes for, beside what its user wrote. */
static void stamp(struct deciding *d)
{
    struct lks_str user = d->job->features, term = LKS_STR(SLOTS);
    char digest[sizeof("lks-") + SHORT_HEX] = "";
    if (!d->stamps || names_ours(user))
        return;
    if (d->wanted != NULL) {
        struct lks_str kind, hex;
        (void)lks_str_cut(d->wanted->digest, ':', &kind, &hex);
        snprintf(digest, sizeof(digest), "lks-%.*s", SHORT_HEX, hex.ptr);
        term = lks_str_from(digest);
    } else if (!d->slots || (d->job->nodes < 2 && !d->job->spreads) || d->job->nodes > d->most ||
               (d->split && d->job->needs > d->most)) {
        return; /* Slurm refuses a job that is larger than each slot now; its prolog asks again */
    }
    if (lks_submit_decide_combine(user, term, d->out->features, sizeof(d->out->features))) {
        d->out->what = LKS_SUBMIT_CHANGED;
        return;
    }
    d->out->features[0] = '\0';
    if (d->wanted == NULL && d->job->nodes < 2)
        return; /* it may get one node */
    say(d,
        "lockstep: the constraint '%s' cannot be combined with %s; use a&b or a|b, or add '&%s' to "
        "choose %s yourself",
        show(user).text, show(term).text, d->wanted != NULL ? digest : "lks0",
        d->wanted != NULL ? "the stack" : "a slot");
    d->refused = d->asked;
}

void lks_submit_decide(const struct lks_policy *p, const struct lks_submit_job *job, lks_ms now,
                       struct lks_submit_answer *out)
{
    struct deciding d = {.p = p,
                         .job = job,
                         .now = now,
                         .out = out,
                         .enforced = true,
                         .stamps = true,
                         .slots = true};
    struct lks_str name, rest = job->partition;
    bool more = true;
    *out = (struct lks_submit_answer){0};
    if (p == NULL)
        return;
    d.stack = stack_of(job);
    take_images(&d);
    while (more && d.asked < LKS_SUBMIT_PARTITIONS_MAX) {
        more = lks_str_cut(rest, ',', &name, &rest);
        check_partition(&d, name);
    }
    if (more) { /* one of those behind may accept it */
        d.asked++;
        d.stamps = false;
    }
    out->named = d.ours > 0;
    if (d.ours == 0)
        out->image[0] = '\0';
    if (d.ours > 0 && d.refused == 0)
        stamp(&d);
    if (d.refused > 0 && d.refused == d.asked && d.enforced)
        out->what = LKS_SUBMIT_REFUSED;
}
