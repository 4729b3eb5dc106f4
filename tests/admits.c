#include "tests/admits.h"

#include "codec/notation/hostlist.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>

enum { MEMORY = 64 << 20 };

/* Stacks ------------------------------------------------------------------------------------- */

#define NVIDIA(name, more)                                                                         \
    "---\n" LKS_STACK(name, "nvidia", "hgx-h200-8",                                                \
                      "  kernel: {version: '6.8.0-71-generic'}\n"                                  \
                      "  driver: {version: '580.126.20', modules: open}\n"                         \
                      "  fabric-manager: {version: '580.126.20'}\n"                                \
                      "  container-toolkit: {version: '1.19.1'}\n"                                 \
                      "  dcgm: {version: '4.5.3'}\n"                                               \
                      "  doca-ofed: {absent: the drivers of the kernel are used}\n" more)

#define ROCM                                                                                       \
    "---\n" LKS_STACK("rocm", "amd", "mi300x-oam-8",                                               \
                      "  kernel: {version: '6.8.0-85-generic'}\n"                                  \
                      "  amdgpu: {version: '30.30.3'}\n"                                           \
                      "  rocm: {version: '7.2.2', owner: image}\n"                                 \
                      "  rccl: {version: '2.27.7', owner: image}\n")

const char lks_admits_stacks[] = NVIDIA("golden", "  cuda: {version: '12.8.1', owner: image}\n"
                                                  "  cudnn: {version: '9.7.0', owner: image}\n"
                                                  "  nccl: {version: '2.28.9', owner: image}\n")
    NVIDIA("lax", "  cuda: {version: '12.8.1'}\n"
                  "  cudnn: {version: '9.7.0'}\n"
                  "  nccl: {version: '2.28.9'}\nwindows: {nccl: '>=2.28.3 <2.29'}\n")
        NVIDIA("bare", "  cuda: {version: '12.8.1'}\n"
                       "  nccl: {absent: jobs bring what they like}\n") ROCM;

/* Asking ------------------------------------------------------------------------------------- */

/* "REF RANKS" of each image, with ';' between two. */
static size_t read_images(const char *text, struct lks_admit_image *out)
{
    struct lks_str rest = lks_str_from(text), one;
    size_t count = 0;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, ';', &one, &rest);
        (void)lks_str_cut(one, ' ', &out[count].ref, &out[count].ranks);
        count++;
    }
    return count;
}

/* A digest as "sha256:*": what it is is for other tests. */
static void add_masked(struct lks_buf *out, struct lks_str text)
{
    static const char mark[] = "sha256:";
    ptrdiff_t at = lks_str_find(text, LKS_STR("sha256:"));
    size_t head = at < 0 ? text.len : (size_t)at + sizeof(mark) - 1;
    lks_buf_add(out, (struct lks_str){text.ptr, head});
    if (at >= 0)
        lks_buf_addf(out, "*%.*s", (int)(text.len - head - 64), text.ptr + head + 64);
}

static void tell_list(struct lks_buf *out, const char *word, const struct lks_admit_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_admit_no *no = &list->items[i];
        lks_buf_addf(out, "%s %s", word, lks_bar_words[no->bar]);
        if (no->node.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->node));
        if (no->image.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->image));
        if (no->ranks.len > 0)
            lks_buf_addf(out, " %.*s", LKS_STR_ARG(no->ranks));
        if (no->pool.len > 0)
            lks_buf_addf(out, " in %.*s", LKS_STR_ARG(no->pool));
        lks_buf_addc(out, ':');
        lks_buf_addc(out, ' ');
        add_masked(out, no->text);
        lks_buf_addc(out, '\n');
    }
}

static void tell(const struct lks_admit *a, struct lks_buf *out)
{
    lks_buf_addf(out, "%s %.*s", a->yes ? "yes" : "no", LKS_STR_ARG(a->stack));
    if (a->yes)
        lks_buf_addf(out, " +%lld", (long long)(a->valid_until - a->asked));
    if (a->overridden)
        lks_buf_addf(out, " by override: %.*s", LKS_STR_ARG(a->override));
    lks_buf_addc(out, '\n');
    tell_list(out, "refused", &a->refused);
    tell_list(out, "warned", &a->warned);
}

enum lks_code lks_admits_ask(struct lks_jobs *j, const struct lks_admits_question *q,
                             struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    struct lks_admit_image images[LKS_ADMIT_IMAGES_MAX];
    struct lks_hostlist list = {0};
    struct lks_book book = lks_jobs_book(j);
    lks_arena_init(&arena, MEMORY);
    LKS_ASSERT(lks_hostlist_parse(lks_str_from(q->nodes), &arena, &list, err) == LKS_OK);
    const struct lks_admit_ask asked = {
        .job = LKS_STR("j"),
        .names = list.names,
        .count = list.count,
        .stack = lks_str_from(q->stack != NULL ? q->stack : ""),
        .images = images,
        .image_count = read_images(q->images != NULL ? q->images : "", images),
        .nccl = lks_str_from(q->nccl != NULL ? q->nccl : ""),
        .behind = q->behind,
    };
    enum lks_code code = lks_admit(&j->asked.state, &book, j->asked.now, &asked, &answer, err);
    if (code == LKS_OK)
        tell(&answer, out);
    return code;
}

void lks_admits_check(const struct lks_admits_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf told = LKS_BUF(LKS_ADMITS_TOLD_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        lks_jobs_init(&j, lks_admits_stacks);
        lks_jobs_tell(&j, rows[i].fleet);
        if (CHECK_CODE(lks_admits_ask(&j, &rows[i].q, &told, &err), LKS_OK))
            CHECK_STR(lks_buf_view(&told), rows[i].answer);
        else
            printf("%s\n", err.msg);
    }
}
