#include "agent/reading/idle.h"

#include "agent/reading/recheck.h"

#include <stdio.h>
#include <string.h>

enum { MEMORY_MAX = 1 << 20 };

#define KFD_PROCESSES "/sys/class/kfd/kfd/proc" /* a folder for each process of AMD's driver */

/* Of the machine itself: the kernel gives its first PID namespace this number. */
#define PID_NAMESPACE   "/proc/self/ns/pid"
#define FIRST_NAMESPACE "pid:[4026531836]"

/* Without the module there is nothing to run a process on, whatever is in the slots. */
static bool has_driver(struct lks_root *root)
{
    return lks_root_exists(root, "/sys/module/nvidia") ||
           lks_root_exists(root, "/proc/driver/nvidia");
}

/* "2", or "compute=2 graphics=1". */
static bool count_of(struct lks_str value, uint64_t *out)
{
    struct lks_str word, key, number;
    uint64_t sum = 0;
    while (lks_str_word(&value, &word)) {
        uint64_t n = 0;
        if (!lks_str_cut(word, '=', &key, &number))
            number = word;
        if (!lks_str_number(number, UINT32_MAX, &n))
            return false;
        sum += n;
    }
    *out += sum;
    return true;
}

static enum lks_code count_nvidia(struct lks_root *root, const struct lks_tuple *t,
                                  uint64_t *processes, size_t *gpus, struct lks_err *err)
{
    size_t count = 0;
    const struct lks_reading *r = lks_tuple_range(t, LKS_STR("probe.nvidia"), &count);
    if (count > 0 && has_driver(root))
        return lks_fail(err, LKS_E_REFUSED, "the GPUs could not be read: %.*s",
                        LKS_STR_ARG(r->value));
    r = lks_tuple_range(t, LKS_STR("gpu.processes"), gpus);
    for (size_t i = 0; i < *gpus; i++) {
        bool told = r[i].state == LKS_MEASURED && count_of(r[i].value, processes);
        if (!told && r[i].state != LKS_ABSENT && has_driver(root))
            return lks_fail(err, LKS_E_REFUSED, "%.*s does not tell its processes: %.*s",
                            LKS_STR_ARG(r[i].of), LKS_STR_ARG(r[i].value));
    }
    return LKS_OK;
}

static enum lks_code count_amd(struct lks_root *root, uint64_t *processes, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    enum lks_code code = lks_root_list(root, KFD_PROCESSES, &arena, &names, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_REFUSED, "%s: cannot be read", KFD_PROCESSES);
    *processes += names.count;
    return LKS_OK;
}

/* NVML lists the processes of the caller's PID namespace alone: in that of a container a busy GPU
 * looks idle. A captured machine has no such link. */
static enum lks_code check_namespace(struct lks_root *root, struct lks_err *err)
{
    char link[LKS_ROOT_PATH_MAX];
    enum lks_code code =
        has_driver(root) ? lks_root_link(root, PID_NAMESPACE, link, err) : LKS_E_NOT_FOUND;
    if (code == LKS_E_NOT_FOUND || (code == LKS_OK && strcmp(link, FIRST_NAMESPACE) == 0))
        return LKS_OK;
    if (code != LKS_OK)
        return lks_fail(err, LKS_E_REFUSED, "%s: cannot be read", PID_NAMESPACE);
    return lks_fail(err, LKS_E_REFUSED,
                    "GPU processes of other PID namespaces than %.64s cannot be seen; run the "
                    "agent in that of the node (hostPID: true)",
                    link);
}

static enum lks_code judge(struct lks_recheck *g, struct lks_buf *out, struct lks_err *err)
{
    uint64_t processes = 0;
    size_t gpus = 0;
    if (count_nvidia(&g->root, &g->tuple, &processes, &gpus, err) != LKS_OK ||
        count_amd(&g->root, &processes, err) != LKS_OK)
        return err->code;
    if (processes > 0)
        return lks_fail(err, LKS_E_REFUSED, "%llu GPU process%s", (unsigned long long)processes,
                        processes > 1 ? "es" : "");
    if (check_namespace(&g->root, err) != LKS_OK)
        return err->code;
    lks_buf_add(out, LKS_STR("no GPU process\n"));
    return lks_buf_check(out, err);
}

enum lks_code lks_idle_look(const char *root, struct lks_buf *out, struct lks_err *err)
{
    return lks_recheck("nvidia", root, judge, out, err);
}
