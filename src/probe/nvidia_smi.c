#include "probe/nvidia_smi.h"

#include "probe/command.h"

#include <stdio.h>

#define NAME    "gpu.part"
#define NONE    LKS_STR("")
#define OUT_MAX ((size_t)1 << 20) /* of some 14 KiB a GPU */

/* "00000000:00:06.0" as the rest of us writes it: "gpu 0000:00:06.0". */
static bool read_address(struct lks_str word, char out[32])
{
    if (word.len != 16 || word.ptr[8] != ':' || word.ptr[11] != ':' || word.ptr[14] != '.')
        return false;
    snprintf(out, 32, "gpu %.12s", word.ptr + 4);
    for (char *c = out + 4; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
    return true;
}

/* Words of "GPU 00000000:00:06.0 ... GPU Part Number : 2335-895-A1 ...", the line ends gone. */
static void tell_parts(struct lks_probe *p, struct lks_str text, const char *evidence)
{
    char of[32] = "";
    struct lks_str last[3] = {NONE, NONE, NONE}, word, value;
    while (lks_str_word(&text, &word)) {
        if (lks_str_is(last[2], "GPU"))
            (void)read_address(word, of);
        bool label = lks_str_is(last[0], "GPU") && lks_str_is(last[1], "Part") &&
                     lks_str_is(last[2], "Number") && lks_str_is(word, ":");
        if (label && of[0] != '\0' && lks_str_word(&text, &value)) {
            if (lks_str_is(value, "N/A"))
                lks_probe_absent(p, NAME, lks_str_from(of), evidence);
            else
                lks_probe_value(p, NAME, lks_str_from(of), NONE, value, evidence);
        }
        last[0] = last[1];
        last[1] = last[2];
        last[2] = word;
    }
}

void lks_nvidia_smi(struct lks_probe *p)
{
    static const char *const args[] = {"-q", NULL};
    char path[LKS_ROOT_PATH_MAX], evidence[LKS_ROOT_PATH_MAX + 32];
    struct lks_err err = {0};
    struct stat st;
    size_t dir = 0;
    if (lks_command_find(p->root, "nvidia-smi", &dir, path, &st, &err) != LKS_OK) {
        lks_probe_failed(p, NAME, NONE, "nvidia-smi", &err);
        return;
    }
    struct lks_command *c = lks_arena_alloc(p->arena, sizeof(*c));
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, OUT_MAX);
    if (c == NULL) {
        lks_probe_unmeasured(p, NAME, NONE, path, "out of memory");
        return;
    }
    lks_command_start(c, p->root, path, args, OUT_MAX, LKS_COMMAND_QUIET | LKS_COMMAND_DEVICES,
                      LKS_COMMAND_MS);
    lks_command_text(c, evidence, sizeof(evidence));
    if (lks_command_collect(c, p->root, &text, &err) == LKS_OK)
        tell_parts(p, lks_buf_view(&text), evidence);
    else
        lks_probe_failed(p, NAME, NONE, evidence, &err);
}
