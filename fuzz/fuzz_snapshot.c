/* Any bytes at all: a snapshot that is taken folds to a state that is packed, unpacked to an equal
 * one, and packed again to the same bytes. */
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/journal.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No mutation hits the right digest by chance: put it in, behind the line with a signature where
 * there is one. */
static void mend(struct lks_str bytes, struct lks_buf *out)
{
    static const char *const magics[] = {"lockstep-snapshot-1 ", "lockstep-snapshot-2 "};
    const char *magic = magics[lks_str_starts(bytes, magics[1])];
    size_t line = strlen(magic) + LKS_DIGEST_SIZE;
    char digest[LKS_DIGEST_SIZE];
    struct lks_str first, behind;
    struct lks_err err = {0};
    lks_buf_init(out, OUT_MAX);
    if (lks_str_starts(bytes, "lockstep-signed-1 ") && lks_str_cut(bytes, '\n', &first, &behind)) {
        lks_buf_add(out, (struct lks_str){first.ptr, first.len + 1});
        bytes = behind;
    }
    if (bytes.len < line || !lks_str_starts(bytes, magic)) {
        lks_buf_add(out, bytes);
        return;
    }
    struct lks_str rest = {bytes.ptr + line, bytes.len - line};
    LKS_ASSERT(lks_digest_text(rest, digest, &err) == LKS_OK);
    lks_buf_addf(out, "%s%s\n", magic, digest);
    lks_buf_add(out, rest);
}

static void check(const struct lks_state *s, const uint8_t hash[LKS_HASH_BYTES])
{
    LKS_CLEANUP(lks_state_fini) struct lks_state back = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0}, twice = {0};
    struct lks_err err = {0};
    uint8_t same[LKS_HASH_BYTES];
    lks_buf_init(&once, OUT_MAX);
    lks_buf_init(&twice, OUT_MAX);
    LKS_ASSERT(lks_snapshot_pack_state(s, hash, &once, &err) == LKS_OK);
    LKS_ASSERT(lks_state_init(&back, 2, &err) == LKS_OK);
    LKS_ASSERT(lks_snapshot_unpack_state(lks_buf_view(&once), &back, same, &err) == LKS_OK);
    LKS_ASSERT(memcmp(hash, same, sizeof(same)) == 0);
    LKS_ASSERT(lks_entity_equal(s, &back, &err));
    LKS_ASSERT(lks_snapshot_pack_state(&back, hash, &twice, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_err err = {0};
    uint8_t hash[LKS_HASH_BYTES];
    mend((struct lks_str){size > 0 ? (const char *)data : "", size}, &bytes);
    LKS_ASSERT(lks_state_init(&state, 1, &err) == LKS_OK);
    if (lks_snapshot_unpack_state(lks_buf_view(&bytes), &state, hash, &err) == LKS_OK)
        check(&state, hash);
    return 0;
}
