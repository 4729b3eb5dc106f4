/* Any bytes as a policy: what is read prints to bytes of the same length, and these to the same
 * ones. Any bytes as the texts of a job,
 * one for each line: the answer is printable, and a constraint is one that Slurm can read. */
#include "codec/notation/image.h"
#include "codec/notation/word.h"
#include "submit/decide.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_policy(struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_POLICY_BYTES_MAX * 2);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf third = LKS_BUF(LKS_POLICY_BYTES_MAX * 2);
    LKS_CLEANUP(lks_policy_fini) struct lks_policy p = {0}, sorted = {0};
    struct lks_err err = {0};
    if (lks_policy_read(bytes, &p, &err) != LKS_OK)
        return;
    LKS_ASSERT(lks_policy_write(&p, &again, &err) == LKS_OK);
    LKS_ASSERT(again.len == bytes.len);
    LKS_ASSERT(lks_policy_read(lks_buf_view(&again), &sorted, &err) == LKS_OK);
    LKS_ASSERT(lks_policy_write(&sorted, &third, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), lks_buf_view(&third)));
    for (uint32_t i = 0; i < p.image_count; i++)
        LKS_ASSERT(lks_policy_image(&p, p.images[i].ref) != NULL);
}

static void check_job(struct lks_str bytes)
{
    struct lks_policy_pool pool = {LKS_STR("p"), LKS_POLICY_ON, true,
                                   10,           LKS_STR("2"),  LKS_STR("1,3")};
    struct lks_policy_stack stack = {
        0, 0, 4, LKS_STR("sha256:0123456789abcdef"), LKS_STR("s"), LKS_STR("1")};
    struct lks_policy_partition part = {LKS_STR("m"), true, 0, 4, 0, {4, 0, 0}};
    struct lks_policy_image image = {LKS_STR("1"), LKS_STR("a/b:1")};
    const struct lks_policy p = {.pools = &pool,
                                 .stacks = &stack,
                                 .partitions = &part,
                                 .images = &image,
                                 .pool_count = 1,
                                 .stack_count = 1,
                                 .partition_count = 1,
                                 .image_count = 1};
    struct lks_submit_job job = {.nodes = 2};
    struct lks_submit_answer a;
    struct lks_str *const texts[] = {&job.partition, &job.features, &job.comment, &job.stack,
                                     &job.image};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        (void)lks_str_cut(bytes, '\n', texts[i], &bytes);
    job.script = bytes;
    lks_submit_decide(&p, &job, 0, &a);
    LKS_ASSERT(lks_str_printable(lks_str_from(a.text)));
    LKS_ASSERT((a.what == LKS_SUBMIT_CHANGED) == (a.features[0] != '\0'));
    LKS_ASSERT(a.what != LKS_SUBMIT_REFUSED || a.text[0] != '\0');
    LKS_ASSERT(strstr(a.features, "&&") == NULL && strchr(a.features, '\n') == NULL);
    LKS_ASSERT(a.image[0] == '\0' || lks_word_fits(lks_str_from(a.image)));
    LKS_ASSERT(a.image[0] == '\0' || lks_image_passes(lks_str_from(a.image)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str bytes = {size > 0 ? (const char *)data : "", size};
    check_policy(bytes);
    check_job(bytes);
    return 0;
}
