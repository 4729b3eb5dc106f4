/* Any bytes as a command line that is typed: a line of ordinary length is split, its words lie
 * within the text one behind the other, and the words, quoted and joined, are split into the same
 * words. */
#include "cli/main/complete.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As a shell would need it: 'it'\''s'. */
static void quote(struct lks_buf *out, const char *word)
{
    lks_buf_addc(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            lks_buf_add(out, LKS_STR("'\\''"));
        else
            lks_buf_addc(out, *word);
    }
    lks_buf_addc(out, '\'');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lks_complete_words words, again;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF((size_t)1 << 20);
    struct lks_err err = {0};
    if (size > 0)
        lks_buf_add(&line, (struct lks_str){(const char *)data, size});
    lks_buf_addc(&line, '\0');
    if (lks_buf_check(&line, &err) != LKS_OK)
        return 0;
    words = again = (struct lks_complete_words){0};
    if (!lks_complete_split(line.ptr, &words)) {
        LKS_ASSERT(size >= LKS_COMPLETE_WORDS_MAX);
        return 0;
    }
    LKS_ASSERT(words.count > 0 && words.words[0] == words.text);
    lks_buf_truncate(&line, 0);
    for (size_t i = 0; i < words.count; i++) {
        const char *end = words.words[i] + strlen(words.words[i]) + 1;
        LKS_ASSERT(end == (i + 1 < words.count ? words.words[i + 1] : words.text + words.len));
        lks_buf_addf(&line, "%s", i > 0 ? " " : "");
        quote(&line, words.words[i]);
    }
    LKS_ASSERT(lks_buf_check(&line, &err) == LKS_OK);
    LKS_ASSERT(lks_complete_split(line.ptr, &again));
    LKS_ASSERT(again.count == words.count && again.len == words.len);
    LKS_ASSERT(memcmp(again.text, words.text, words.len) == 0);
    return 0;
}
