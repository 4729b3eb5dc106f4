/* Who stands behind an act: credentials that one person made are that person's, however they came
 * to be, wherever two people have to agree. */
#include "base/rng.h"
#include "core/governance/govern.h"
#include "core/rows/credential.h"
#include "core/state/lookup.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define DAY    ((lks_ms)86400000)
#define HEX64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define REASON LKS_STR("looked at it")

enum { TEXT_MAX = 256 };

/* A story is words with blanks between:
 *
 *     root+kim      root on the socket makes the token kim for kim
 *     kim+ann=a     whoever shows the token kim makes the token a for ann
 *     kim%ann=c     the same, the certificate with serial c for user:ann
 *     a~            the holder renews it: a token, or a certificate into one with serial "next"
 *     kim^unix:7    grants unix:7 the role of an approver
 *     kim!          proposes change 1, which two others have to approve
 *     a?  a-        approves it by that credential: taken, or refused
 *     ann@  ann*-   the same by a ticket system; by a credential that nobody told
 *     old:ann       there is a token "old" for ann, of which no record says who made it
 *     #1  %1        it has one approval; it could get one
 *     >2            days go by
 */
static struct lks_event asking(struct lks_asked *a, struct lks_str who, char space[TEXT_MAX])
{
    struct lks_event e = {.reason = REASON};
    const struct lks_api_token *token = lks_state_token(&a->state, who);
    const struct lks_state_person *person = lks_state_person(&a->state, who);
    const char *kind = token != NULL ? "token:" : person != NULL ? "certificate:" : "";
    (void)snprintf(space, TEXT_MAX, "%s%" LKS_STR_FMT, kind, LKS_STR_ARG(who));
    e.by = token != NULL    ? lks_state_text(&a->state, token->identity)
           : person != NULL ? lks_state_text(&a->state, person->identity)
                            : who;
    e.credential = lks_str_from(space);
    if (lks_str_is(who, "root")) {
        e.by = e.credential = LKS_STR("unix:990"); /* the user that runs the daemon */
        e.root = true;
    }
    return e;
}

static void make(struct lks_asked *a, struct lks_str maker, struct lks_str what, bool certificate)
{
    char space[TEXT_MAX], name[TEXT_MAX];
    struct lks_str identity, id;
    struct lks_event e = asking(a, maker, space);
    if (!lks_str_cut(what, '=', &identity, &id))
        id = identity = what;
    (void)snprintf(name, sizeof(name), "%s%" LKS_STR_FMT, certificate ? "user:" : "",
                   LKS_STR_ARG(identity));
    if (certificate) {
        e.kind = LKS_EVENT_CERTIFY;
        e.certify.identity = lks_str_from(name);
        e.certify.serial = id;
        e.certify.fingerprint = LKS_STR("sha256:" HEX64);
        e.certify.expires = a->now.wall + DAY;
        e.certify.life = DAY;
    } else {
        e.kind = LKS_EVENT_API_TOKEN;
        e.api_token.id = id;
        e.api_token.identity = lks_str_from(name);
        e.api_token.hash = LKS_STR("sha256:1");
        e.api_token.expires = a->now.wall + DAY;
        e.api_token.life = DAY;
    }
    CHECK_HAS(lks_asked(a, &e), certificate ? "person-certified " : "api-token ");
}

static void renew(struct lks_asked *a, struct lks_str who)
{
    char space[TEXT_MAX];
    struct lks_event e = asking(a, who, space);
    if (lks_state_token(&a->state, who) != NULL) {
        e.kind = LKS_EVENT_API_TOKEN_RENEW;
        e.api_token.id = who;
        a->now.wall += LKS_SECOND;
        CHECK_HAS(lks_asked(a, &e), "token-renewed ");
        return;
    }
    e.kind = LKS_EVENT_CERTIFY;
    e.certify.identity = e.by;
    e.certify.serial = LKS_STR("next");
    e.certify.fingerprint = LKS_STR("sha256:" HEX64);
    e.certify.renews = who;
    e.certify.expires = a->now.wall + DAY;
    CHECK_HAS(lks_asked(a, &e), "person-certified ");
}

static void grant(struct lks_asked *a, struct lks_str maker, struct lks_str identity)
{
    char space[TEXT_MAX];
    struct lks_event e = asking(a, maker, space);
    e.kind = LKS_EVENT_GRANT;
    e.grant.identity = identity;
    e.grant.role = LKS_ROLE_APPROVER;
    e.grant.site = e.grant.pool = LKS_STR("");
    CHECK_HAS(lks_asked(a, &e), "granted ");
}

static void propose(struct lks_asked *a, struct lks_str who)
{
    char space[TEXT_MAX];
    struct lks_event e = asking(a, who, space);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf minters = LKS_BUF(LKS_BACKING_TEXT_MAX);
    if (!e.root)
        lks_backing_minters(&a->state, e.by, e.credential, &minters);
    const struct lks_record plan[] = {
        R(CHANGE, change, .id = 1, .hosts = T("n[1-2]"), .stack = T("s2"), .name = T("gold"),
          .by = e.by, .minters = minters.len > 0 ? lks_buf_view(&minters) : LKS_STR(""),
          .class = T("routine"), .quorum = 2, .review_age = DAY),
        R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_LEAVE),
        R(PLAN_WAVE, plan_wave, .change = 1, .kind = LKS_WAVE_CANARY, .width = 1),
        R(PLAN_PART, plan_part, .change = 1, .hosts = T("n[1-2]")),
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(a, &plan[i]);
}

static struct lks_str vote(struct lks_asked *a, struct lks_str who, const char *credential)
{
    char space[TEXT_MAX];
    struct lks_event e = asking(a, who, space);
    e.kind = LKS_EVENT_VOTE;
    e.vote.change = 1;
    e.vote.yes = true;
    if (credential != NULL) {
        e.by = who;
        e.credential = lks_str_from(credential);
    }
    return lks_asked(a, &e);
}

static void check_count(struct lks_asked *a, char kind, struct lks_str text, bool apart)
{
    static const struct lks_str outside[] = {T("ann"), T("lee")};
    const struct lks_state_change *c = &a->state.changes[0];
    struct lks_tally t =
        kind == '#'
            ? lks_govern_tally(&a->state, c, a->now.wall, NULL, LKS_STR(""))
            : lks_govern_reach(&a->state, c, a->now.wall, outside, apart ? LKS_COUNT(outside) : 0);
    uint64_t want = 0;
    LKS_ASSERT(lks_str_number(text, 9, &want));
    CHECK_INT(t.given, want);
}

static void act(struct lks_asked *a, struct lks_str word)
{
    struct lks_str first, rest, tail = {word.ptr + 1, word.len - 1};
    struct lks_str who = {word.ptr, word.len - 1};
    char last = word.ptr[word.len - 1];
    uint64_t days = 0;
    if (word.ptr[0] == '#')
        check_count(a, '#', tail, false);
    else if (word.ptr[0] == '%')
        check_count(a, '%', tail.ptr[0] == '@' ? (struct lks_str){tail.ptr + 1, 1} : tail,
                    tail.ptr[0] == '@');
    else if (word.ptr[0] == '>' && lks_str_number(tail, 9, &days))
        a->now.wall += days * DAY;
    else if (lks_str_cut(word, '+', &first, &rest))
        make(a, first, rest, false);
    else if (lks_str_cut(word, '%', &first, &rest))
        make(a, first, rest, true);
    else if (lks_str_cut(word, '^', &first, &rest))
        grant(a, first, rest);
    else if (lks_str_starts(word, "old:"))
        lks_asked_apply(a, &(struct lks_record)R(API_TOKEN, api_token, .id = T("old"),
                                                 .identity = {word.ptr + 4, word.len - 4},
                                                 .hash = T("sha256:1")));
    else if (last == '!')
        propose(a, who);
    else if (last == '~')
        renew(a, who);
    else if (last == '@')
        CHECK_HAS(vote(a, who, "ticket:CHG1"), "change-voted ");
    else if (last == '?')
        CHECK_HAS(vote(a, who, NULL), "change-voted ");
    else if (lks_str_ends(word, "*-"))
        CHECK_HAS(vote(a, (struct lks_str){who.ptr, who.len - 1}, ""), "refused: ");
    else if (last == '-')
        CHECK_HAS(vote(a, who, NULL), "refused: ");
    else if (last == '=')
        CHECK_STR(vote(a, who, NULL), "");
    else
        LKS_ASSERT(false);
}

static const struct {
    const char *name, *words;
} stories[] = {
    {"people whom root let in", "root+kim root+ann root+lee kim! %2 ann? #1 lee? #2"},
    {"made before it was proposed", "root+kim kim+ann=a kim+lee=l kim! %0 a- l- #0"},
    {"made after it was proposed", "root+kim kim! kim+ann=a a- #0"},
    {"a certificate", "root+kim kim%ann=c kim! c- #0"},
    {"renewed, a token keeps its minter", "root+kim kim+ann=a a~ kim! a-"},
    {"renewed, a certificate keeps its minter", "root+kim kim%ann=c c~ kim! c- next-"},
    {"renewed by who is independent", "root+kim root%ann=c c~ root+lee lee~ kim! next? lee? #2"},
    {"by way of another admin", "root+kim kim+adm=x x+ann=a kim! a- x- #0"},
    {"by way of two", "root+kim kim+adm=x x%joe=y y+ann=a kim! a- #0"},
    {"of an admin who is nobody's", "root+kim root+adm adm+ann=a kim! %1 a? #1"},
    {"proposed in another's name", "root+kim kim+dave=d kim+ann=a d! a- kim- #0"},
    {"proposed in another's name, by another's", "root+kim kim+adm=x x+dave=d d! kim- #0"},
    {"two that one person made are one voice",
     "root+kim root+adm adm+ann=a adm+lee=l kim! %1 a? l? #1"},
    {"who made one and votes, too", "root+kim root+ann ann+lee=l kim! %1 ann? l? #1"},
    {"of three, the two that are independent",
     "root+kim root+adm root+joe adm+ann=a joe+lee=l kim! adm? a? l? #2"},
    {"the most that are independent, in whatever order",
     "root+kim root+adm root+joe adm+joe=j j+ann=a adm+lee=l joe+dave=d kim! %2 a? l? d? #2"},
    {"by another name of the minter", "root+kim root+user:kim=k2 k2+ann=a kim! a- #0"},
    {"root may make all of it", "root+kim root+ann root+lee root! ann? lee? #2"},
    {"a uid of the machine, granted by the proposer",
     "root+kim kim^unix:7 root+ann kim! %1 unix:7- #0"},
    {"a uid of the machine, granted by root", "root+kim root^unix:7 kim! %1 unix:7? #1"},
    {"proposed by a uid that the approver granted", "root+kim kim^unix:7 unix:7! kim- #0"},
    {"by way of a ticket system", "root+kim kim+ann=a kim! %@2 a- ann@ lee@ #2"},
    {"a credential that is not told", "root+kim kim+ann=a kim! ann*- #0"},
    {"older than the record of minters", "root+kim old:ann kim! %0 old- #0"},
    {"again, by a credential that is worth more",
     "root+kim root+adm adm+ann=a adm+lee=l root+ann=b kim! a? l? #1 b? #2"},
    {"again, by one that is worth less", "root+kim root+adm root+ann adm+ann=a kim! ann? a= #1"},
    {"over by now", "root+kim root+ann root+lee kim! %2 >1 %0"},
};

static void begin(struct lks_asked *a)
{
    static const char *const people[] = {"kim",  "ann",      "lee",      "joe",     "adm",
                                         "dave", "user:ann", "user:joe", "user:lee"};
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_place(a, "n[1-3]", "train");
    for (size_t i = 0; i < LKS_COUNT(people); i++)
        lks_asked_apply(a,
                        &(struct lks_record)R(GRANTED, granted, .identity = lks_str_from(people[i]),
                                              .role = LKS_ROLE_APPROVER));
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_str rest = lks_str_from(stories[i].words), word;
        lks_test_case("%s", stories[i].name);
        begin(&a);
        while (lks_str_word(&rest, &word))
            act(&a, word);
    }
}

/* Who shows a certificate renews that one, for the same person. */
static void test_renewals(void)
{
    static const struct {
        const char *name, *renews, *by, *identity;
    } refused[] = {
        {"one that there is not", "x", "user:ann", "user:ann"},
        {"another person's", "c", "user:lee", "user:lee"},
        {"for another person", "c", "user:ann", "user:lee"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    act(&a, LKS_STR("root%ann=c"));
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_event e = {.kind = LKS_EVENT_CERTIFY, .by = lks_str_from(refused[i].by)};
        e.certify.identity = lks_str_from(refused[i].identity);
        e.certify.serial = LKS_STR("next");
        e.certify.fingerprint = LKS_STR("sha256:" HEX64);
        e.certify.renews = lks_str_from(refused[i].renews);
        e.certify.expires = a.now.wall + DAY;
        CHECK_HAS(lks_asked(&a, &e), "is not one that");
    }
}

/* Approvers of one site --------------------------------------------------------------------- */

/* n1 is at site east and n2 at site west; ann and lee approve for a site, or for all. */
static void begin_sites(struct lks_asked *a, const char *ann, const char *lee)
{
    static const struct lks_str words[] = {T("root+kim"), T("root+ann"), T("root+lee"), T("kim!")};
    const struct lks_record people[] = {
        R(GRANTED, granted, .identity = T("kim"), .role = LKS_ROLE_APPROVER),
        R(GRANTED, granted, .identity = T("ann"), .role = LKS_ROLE_APPROVER,
          .site = lks_str_from(ann)),
        R(GRANTED, granted, .identity = T("lee"), .role = LKS_ROLE_APPROVER,
          .site = lks_str_from(lee)),
    };
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_place_at(a, "n1", "train", "east");
    lks_fleet_place_at(a, "n2", "train", "west");
    for (size_t i = 0; i < LKS_COUNT(people); i++)
        lks_asked_apply(a, &people[i]);
    for (size_t i = 0; i < LKS_COUNT(words); i++)
        act(a, words[i]);
}

/* The fewest voices over the sites of a change's nodes, and which site that is. */
static void test_sites(void)
{
    static const struct {
        const char *name, *ann, *lee;
        uint32_t given;
        const char *where;
    } rows[] = {
        {"both for all", "", "", 2, ""},
        {"one for the first site", "east", "", 1, "west"},
        {"one for the last site", "west", "", 1, "east"},
        {"both for the first site", "east", "east", 0, "west"},
        {"both for the last site", "west", "west", 0, "east"},
        {"each for one", "east", "west", 1, "east"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        begin_sites(&a, rows[i].ann, rows[i].lee);
        struct lks_tally t = lks_govern_reach(&a.state, &a.state.changes[0], a.now.wall, NULL, 0);
        CHECK_INT(t.given, rows[i].given);
        CHECK_STR(t.where.site, rows[i].where);
    }
}

/* Messages ---------------------------------------------------------------------------------- */

static void test_told(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    act(&a, LKS_STR("root+kim"));
    act(&a, LKS_STR("kim+ann=a"));
    act(&a, LKS_STR("root+lee"));
    act(&a, LKS_STR("kim!"));
    CHECK_STR(vote(&a, LKS_STR("a"), NULL),
              "refused: ann cannot approve change 1 by token:a: kim is the person behind both; "
              "use a credential that kim did not mint ('lockstep access ls' shows minters)");
    CHECK_HAS(vote(&a, LKS_STR("lee"), NULL),
              "change-voted change=1 yes=1 by=lee reason=looked at it credential=token:lee");
}

/* Other acts of two people ------------------------------------------------------------------ */

/* What kim began, by each of the acts that take somebody else. */
static const struct {
    const char *name, *done; /* what is recorded where it is taken */
} acts[] = {
    {"review change 1", "reviewed change=1 by=ann reason=looked at it credential=token:"},
    {"waive a gate of change 1", "waived change=1 gate=soak "},
    {"approve deviation 1", "deviation-agreed id=1 by=ann reason=looked at it credential=token:"},
    {"approve or review the reset of n1", "reset node=n1 step=reviewed by=ann "},
    {"release stack 's3'", "stepped digest=sha256:" HEX64 " step=released "},
};

/* A review of a change whose glass was not broken is not counted. */
static void test_no_glass(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    act(&a, LKS_STR("root+kim"));
    act(&a, LKS_STR("kim!"));
    lks_asked_apply(&a, &(struct lks_record)R(REVIEWED, reviewed, .change = 1, .by = T("ann")));
    CHECK_INT(a.state.glasses, 0);
    CHECK_INT(a.state.changes[0].glass.reviewed, 0);
}

static void prepare(struct lks_asked *a)
{
    const struct lks_record records[] = {
        R(GLASS_BROKEN, glass_broken, .change = 1, .until = a->now.wall + DAY, .by = T("kim"),
          .reason = T("worm")),
        R(DEVIATION, deviation, .id = 1, .hosts = T("n1"), .subject = T("*"), .owner = T("kit"),
          .reason = T("so"), .expires = a->now.wall + DAY, .by = T("kim")),
        R(RESET, reset, .node = T("n1"), .step = LKS_RESET_ASKED, .until = a->now.wall + DAY,
          .by = T("kim"), .reason = T("hangs")),
        R(RESET, reset, .node = T("n1"), .step = LKS_RESET_APPROVED, .by = T("lee"),
          .reason = T("seen")),
        R(PUBLISHED, published, .digest = T("sha256:" HEX64), .name = T("s3"), .by = T("kim")),
        R(STEPPED, stepped, .digest = T("sha256:" HEX64), .step = LKS_STEP_CANARY,
          .evidence = T("e"), .by = T("kim")),
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

static struct lks_str second(struct lks_asked *a, size_t i, struct lks_str who)
{
    char space[TEXT_MAX];
    struct lks_event e = asking(a, who, space);
    static const enum lks_event_kind kinds[] = {LKS_EVENT_REVIEW, LKS_EVENT_WAIVE,
                                                LKS_EVENT_DEVIATION_AGREE, LKS_EVENT_RESET,
                                                LKS_EVENT_STEP};
    e.kind = kinds[i];
    if (e.kind == LKS_EVENT_REVIEW) {
        e.review = 1;
    } else if (e.kind == LKS_EVENT_WAIVE) {
        e.waive.change = 1;
        e.waive.gate = LKS_STR("soak");
        e.waive.pool = LKS_STR("");
        e.waive.until = a->now.wall + LKS_SECOND;
    } else if (e.kind == LKS_EVENT_DEVIATION_AGREE) {
        e.deviation = 1;
    } else if (e.kind == LKS_EVENT_RESET) {
        e.name = LKS_STR("n1");
        e.reset = LKS_RESET_REVIEWED;
    } else {
        e.step.digest = LKS_STR("sha256:" HEX64);
        e.step.evidence = LKS_STR("ran");
        e.step.to = LKS_STEP_RELEASED;
    }
    return lks_asked(a, &e);
}

static void test_acts(void)
{
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        char want[TEXT_MAX];
        lks_test_case("%s", acts[i].name);
        begin(&a);
        act(&a, LKS_STR("root+kim"));
        act(&a, LKS_STR("kim+ann=a"));
        act(&a, LKS_STR("root+ann"));
        act(&a, LKS_STR("kim!"));
        prepare(&a);
        (void)snprintf(want, sizeof(want), "refused: ann cannot %s by token:a: kim ", acts[i].name);
        CHECK_HAS(second(&a, i, LKS_STR("a")), want);
        CHECK_HAS(second(&a, i, LKS_STR("ann")), acts[i].done);
    }
}

/* The role of an approver is not given by whoever waits for one, in whatever name. */
static void test_grants(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char space[TEXT_MAX];
    begin(&a);
    act(&a, LKS_STR("root+kim"));
    act(&a, LKS_STR("root+adm"));
    act(&a, LKS_STR("kim+adm=x"));
    act(&a, LKS_STR("kim!"));
    struct lks_event e = asking(&a, LKS_STR("x"), space);
    e.kind = LKS_EVENT_GRANT;
    e.grant.identity = LKS_STR("new");
    e.grant.role = LKS_ROLE_APPROVER;
    e.grant.site = e.grant.pool = LKS_STR("");
    CHECK_HAS(lks_asked(&a, &e), "refused: kim proposed change 1, which could be approved by this");
    e.credential = LKS_STR("token:adm");
    CHECK_HAS(lks_asked(&a, &e), "granted identity=new ");
}

/* Limits ------------------------------------------------------------------------------------ */

static void test_chain(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char word[TEXT_MAX], space[TEXT_MAX];
    begin(&a);
    act(&a, LKS_STR("root+p0"));
    for (int i = 0; i < LKS_BACKING_MAX; i++) {
        (void)snprintf(word, sizeof(word), "p%d+p%d", i, i + 1);
        act(&a, lks_str_from(word));
    }
    (void)snprintf(word, sizeof(word), "p%d", LKS_BACKING_MAX);
    struct lks_event e = asking(&a, lks_str_from(word), space);
    e.kind = LKS_EVENT_API_TOKEN;
    e.api_token.id = e.api_token.identity = LKS_STR("more");
    e.api_token.hash = LKS_STR("sha256:1");
    CHECK_HAS(lks_asked(&a, &e), "limit: 32 people are behind the credential of p32");
}

/* Independence ------------------------------------------------------------------------------ */

static uint32_t most_of(const uint64_t *rivals, uint32_t count)
{
    uint32_t best = 0;
    for (uint64_t set = 0; set < UINT64_C(1) << count; set++) {
        bool apart = true;
        for (uint32_t i = 0; i < count && apart; i++)
            apart = (set >> i & 1) == 0 || (set & rivals[i]) == 0;
        uint32_t size = (uint32_t)__builtin_popcountll(set);
        best = apart && size > best ? size : best;
    }
    return best;
}

static void test_most(void)
{
    struct lks_rng rng = {7};
    for (unsigned round = 0; round < 400; round++) {
        uint64_t rivals[12] = {0};
        uint32_t count = (uint32_t)lks_rng_below(&rng, 13);
        unsigned dense = (unsigned)lks_rng_below(&rng, 100);
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < i; k++) {
                if (!lks_rng_percent(&rng, dense))
                    continue;
                rivals[i] |= UINT64_C(1) << k;
                rivals[k] |= UINT64_C(1) << i;
            }
        }
        lks_test_case("round %u", round);
        CHECK_INT(lks_backing_most(rivals, (UINT64_C(1) << count) - 1), most_of(rivals, count));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"backing: stories of votes", test_stories},
        {"backing: renewals that are refused", test_renewals},
        {"backing: approvers of one site", test_sites},
        {"backing: in words", test_told},
        {"backing: every act of two people", test_acts},
        {"backing: a review without a broken glass", test_no_glass},
        {"backing: roles while a change is open", test_grants},
        {"backing: a chain that is too long", test_chain},
        {"backing: the most that are independent", test_most},
        {0},
    });
}
