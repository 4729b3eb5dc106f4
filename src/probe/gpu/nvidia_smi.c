#include "probe/gpu/nvidia_smi.h"

#include "probe/root/command.h"

#include <stdio.h>

#define NAME      "gpu.part"
#define EVIDENCE  "nvidia-smi -q"
#define NONE      LKS_STR("")
#define OUT_MAX   ((size_t)1 << 20) /* of some 14 KiB a GPU */
#define PARTS_MAX ((size_t)64 << 10)

/* "00000000:00:06.0" as the rest of us writes it: "0000:00:06.0". */
static bool read_address(struct lks_str word, char out[16])
{
    if (word.len != 16 || word.ptr[8] != ':' || word.ptr[11] != ':' || word.ptr[14] != '.')
        return false;
    snprintf(out, 16, "%.12s", word.ptr + 4);
    for (char *c = out; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool next_word(struct lks_str *rest, struct lks_str *word)
{
    size_t at = 0, end;
    while (at < rest->len && is_blank(rest->ptr[at]))
        at++;
    for (end = at; end < rest->len && !is_blank(rest->ptr[end]);)
        end++;
    *word = (struct lks_str){rest->ptr + at, end - at};
    *rest = (struct lks_str){rest->ptr + end, rest->len - end};
    return word->len > 0;
}

/* "GPU 00000000:00:06.0 ... GPU Part Number : 2335-895-A1 ...". */
void lks_nvidia_smi_parts(struct lks_str text, struct lks_buf *out)
{
    char address[16] = "";
    struct lks_str last[3] = {NONE, NONE, NONE}, word;
    while (text.len > 0 && next_word(&text, &word)) {
        if (lks_str_is(last[2], "GPU"))
            (void)read_address(word, address);
        bool label = lks_str_is(last[0], "GPU") && lks_str_is(last[1], "Part") &&
                     lks_str_is(last[2], "Number") && lks_str_is(word, ":");
        if (label && address[0] != '\0' && next_word(&text, &word))
            lks_buf_addf(out, "%s%s=%.*s", out->len > 0 ? " " : "", address,
                         lks_str_is(word, "N/A") ? 0 : (int)word.len, word.ptr);
        last[0] = last[1];
        last[1] = last[2];
        last[2] = word;
    }
}

struct question {
    struct lks_root *root;
    const char *path;
};

/* A capture gets the part numbers and not all that the program prints: there are numbers in it that
 * no reading tells to be secret. */
static enum lks_code ask_parts(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    static const char *const args[] = {"-q", NULL};
    const struct question *q = ctx;
    struct lks_root quiet = *q->root;
    quiet.capture = -1;
    struct lks_command c;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    lks_command_start(&c, &quiet, q->path, args, OUT_MAX, LKS_COMMAND_QUIET | LKS_COMMAND_DEVICES,
                      LKS_COMMAND_MS);
    if (lks_command_collect(&c, &quiet, &text, err) != LKS_OK)
        return err->code;
    lks_nvidia_smi_parts(lks_buf_view(&text), out);
    return LKS_OK;
}

void lks_nvidia_smi(struct lks_probe *p)
{
    char path[LKS_ROOT_PATH_MAX];
    struct lks_err err = {0};
    struct stat st;
    size_t dir = 0;
    if (lks_command_find(p->root, "nvidia-smi", &dir, path, &st, &err) != LKS_OK) {
        lks_probe_failed(p, NAME, NONE, "nvidia-smi", &err);
        return;
    }
    struct question q = {p->root, path};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf parts = LKS_BUF(PARTS_MAX);
    if (lks_root_ask(p->root, "smi", "parts", ask_parts, &q, &parts, &err) != LKS_OK) {
        lks_probe_failed(p, NAME, NONE, EVIDENCE, &err);
        return;
    }
    struct lks_str rest = lks_buf_view(&parts), word, address, part;
    while (lks_str_word(&rest, &word)) {
        char of[64];
        (void)lks_str_cut(word, '=', &address, &part);
        snprintf(of, sizeof(of), "gpu %.*s", (int)(address.len < 32 ? address.len : 32),
                 address.ptr);
        if (part.len > 0)
            lks_probe_value(p, NAME, lks_str_from(of), NONE, part, EVIDENCE);
        else
            lks_probe_absent(p, NAME, lks_str_from(of), EVIDENCE);
    }
}
