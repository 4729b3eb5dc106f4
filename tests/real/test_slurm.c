/* Slurm's own program is the judge of Slurm's host lists. */
#include "codec/notation/hostlist.h"
#include "tests/real/ask.h"
#include "tests/test.h"

enum { TEXT_MAX = 1 << 20 };

static const char *const lists[] = {
    "gpu1",         "gpu[1-3]",         "gpu[001-012]", "gpu[08-11]",
    "gpu[1,3,5-7]", "gpu[001-003,600]", "a,b,c",        "rack[1-2]node[01-03]",
    "gpu[098-102]", "n[0-9],login1",
};

static void join(const struct lks_hostlist *hosts, struct lks_buf *out)
{
    for (size_t i = 0; i < hosts->count; i++) {
        lks_buf_add(out, hosts->names[i]);
        lks_buf_addc(out, '\n');
    }
}

static void expand(struct lks_str text, struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_arena_init(&arena, TEXT_MAX);
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    if (CHECK_CODE(lks_hostlist_parse(text, &arena, &hosts, &err), LKS_OK))
        join(&hosts, out);
}

static void test_expand(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        lks_test_case("%s", lists[i]);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf ours = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf theirs = LKS_BUF(TEXT_MAX);
        const char *argv[] = {"scontrol", "show", "hostnames", lists[i], NULL};
        CHECK_INT(lks_ask(argv, &theirs), 0);
        expand(lks_str_from(lists[i]), &ours);
        CHECK_STR(lks_buf_view(&ours), theirs.ptr != NULL ? theirs.ptr : "");
    }
}

/* What we fold, Slurm unfolds to the same names. */
static void test_fold(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        lks_test_case("%s", lists[i]);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf folded = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf theirs = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf ours = LKS_BUF(TEXT_MAX);
        lks_arena_init(&arena, TEXT_MAX);
        struct lks_hostlist hosts = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_hostlist_parse(lks_str_from(lists[i]), &arena, &hosts, &err), LKS_OK);
        if (!CHECK_CODE(lks_hostlist_fold(hosts.names, hosts.count, &folded, &err), LKS_OK))
            continue;
        const char *argv[] = {"scontrol", "show", "hostnames", folded.ptr, NULL};
        CHECK_INT(lks_ask(argv, &theirs), 0);
        expand(lks_buf_view(&folded), &ours);
        CHECK_STR(lks_buf_view(&ours), theirs.ptr != NULL ? theirs.ptr : "");
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"slurm expands host lists as we do", test_expand},
        {"slurm reads the host lists we write", test_fold},
        {0},
    });
}
