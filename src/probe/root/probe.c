#include "probe/root/probe.h"

#include <stdarg.h>
#include <stdio.h>

static void emit(struct lks_probe *p, const struct lks_reading *r)
{
    p->emit(p->ctx, r);
}

void lks_probe_value(struct lks_probe *p, const char *name, struct lks_str of, struct lks_str part,
                     struct lks_str value, const char *evidence)
{
    emit(p, &(struct lks_reading){.name = lks_str_from(name),
                                  .of = of,
                                  .part = part,
                                  .state = LKS_MEASURED,
                                  .value = value,
                                  .evidence = lks_str_from(evidence)});
}

void lks_probe_absent(struct lks_probe *p, const char *name, struct lks_str of,
                      const char *evidence)
{
    emit(p, &(struct lks_reading){.name = lks_str_from(name),
                                  .of = of,
                                  .state = LKS_ABSENT,
                                  .evidence = lks_str_from(evidence)});
}

void lks_probe_unmeasured(struct lks_probe *p, const char *name, struct lks_str of,
                          const char *evidence, const char *fmt, ...)
{
    char why[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    emit(p, &(struct lks_reading){.name = lks_str_from(name),
                                  .of = of,
                                  .state = LKS_UNMEASURED,
                                  .value = lks_str_from(why),
                                  .evidence = lks_str_from(evidence)});
}

void lks_probe_failed(struct lks_probe *p, const char *name, struct lks_str of,
                      const char *evidence, const struct lks_err *err)
{
    if (err->code == LKS_E_NOT_FOUND)
        lks_probe_absent(p, name, of, evidence);
    else
        lks_probe_unmeasured(p, name, of, evidence, "%s", err->msg);
}

void lks_probe_line(struct lks_probe *p, const char *name, struct lks_str of, const char *path)
{
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    if (lks_root_line(p->root, path, line, &err) == LKS_OK)
        lks_probe_value(p, name, of, LKS_STR(""), lks_str_from(line), path);
    else
        lks_probe_failed(p, name, of, path, &err);
}

void lks_probe_counted(struct lks_probe *p, const char *name, size_t count,
                       const struct lks_err *unclear, const char *evidence)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%zu", count);
    if (unclear->code != LKS_OK)
        lks_probe_unmeasured(p, name, LKS_STR(""), evidence, "%s", unclear->msg);
    else
        lks_probe_value(p, name, LKS_STR(""), LKS_STR(""), lks_str_from(digits), evidence);
}
