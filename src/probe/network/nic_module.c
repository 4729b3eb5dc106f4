#include "probe/network/nic.h"

#include "codec/format/kv.h"
#include "probe/network/ethtool.h"

#include <stdio.h>

/* One transceiver while it is read: the answer of the driver, and where readings go. */
struct module {
    struct lks_probe *p;
    struct lks_str of;
    struct lks_str answer;
    char evidence[LKS_ETHTOOL_EVIDENCE_SIZE];
};

/* A word of the answer, in the arena; empty where it has none. */
static struct lks_str word(const struct module *m, const char *key)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_READING_VALUE_MAX);
    if (!lks_kv_get(m->answer, key, &value) || !lks_str_printable(lks_buf_view(&value)))
        return LKS_STR("");
    struct lks_str kept = lks_arena_copy(m->p->arena, lks_buf_view(&value));
    return kept.ptr != NULL ? kept : LKS_STR("");
}

static void say_text(const struct module *m, const char *name, struct lks_str text,
                     const char *check)
{
    if (!lks_str_is(word(m, check), "ok"))
        lks_probe_unmeasured(m->p, name, m->of, m->evidence,
                             "the module's checksum does not fit its bytes");
    else if (text.len == 0)
        lks_probe_absent(m->p, name, m->of, m->evidence);
    else
        lks_probe_value(m->p, name, m->of, LKS_STR(""), text, m->evidence);
}

static void say_firmware(const struct module *m)
{
    struct lks_str version = word(m, "firmware");
    if (lks_str_is(version, "none"))
        lks_probe_absent(m->p, "firmware/optics", m->of, m->evidence);
    else if (version.len == 0 || lks_str_is(version, "invalid"))
        lks_probe_unmeasured(m->p, "firmware/optics", m->of, m->evidence,
                             "the module says that its firmware is invalid");
    else
        lks_probe_value(m->p, "firmware/optics", m->of,
                        lks_str_is(word(m, "names"), "ok") ? word(m, "part") : LKS_STR(""), version,
                        m->evidence);
}

void lks_nic_module(struct lks_probe *p, struct lks_str of, const char *interface, bool expected)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_ROOT_LINE_MAX);
    struct module m = {.p = p, .of = of};
    struct lks_err err = {0};
    lks_ethtool_evidence(LKS_ETHTOOL_MODULE, interface, m.evidence);
    enum lks_code code = lks_ethtool_ask(p->root, LKS_ETHTOOL_MODULE, interface, &answer, &err);
    if (code != LKS_OK) {
        if (expected || code != LKS_E_UNAVAILABLE)
            lks_probe_failed(p, "optics.part", of, m.evidence, &err);
        return;
    }
    m.answer = lks_buf_view(&answer);
    struct lks_str vendor = word(&m, "vendor"), part = word(&m, "part");
    struct lks_str both =
        lks_arena_format(p->arena, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(vendor),
                         vendor.len > 0 ? " " : "", LKS_STR_ARG(part));
    say_text(&m, "optics.part", both.ptr != NULL ? both : part, "names");
    say_text(&m, "optics.serial", word(&m, "serial"), "serials");
    say_firmware(&m);
}
