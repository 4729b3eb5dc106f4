#include "codec/machine/kmsg.h"

/* "6,1234,5678901234,-": of the four, the third. More may follow. */
static bool read_time(struct lks_str head, uint64_t *out)
{
    struct lks_str word;
    for (int i = 0; i < 2; i++) {
        if (!lks_str_cut(head, ',', &word, &head))
            return false;
    }
    return lks_str_cut(head, ',', &word, &head) && lks_str_number(word, UINT64_MAX, out);
}

bool lks_kmsg_xid(struct lks_str record, struct lks_kmsg_xid *out)
{
    static const char begins[] = "NVRM: Xid (";
    struct lks_kmsg_xid made = {0};
    struct lks_str head, text, device, number, rest;
    if (!lks_str_cut(record, ';', &head, &text) || !lks_str_starts(text, begins) ||
        !lks_str_cut(text, ')', &device, &rest) || !lks_str_starts(rest, ": "))
        return false;
    rest = (struct lks_str){rest.ptr + 2, rest.len - 2};
    if (!lks_str_cut(rest, ',', &number, &rest) ||
        !lks_str_number(number, LKS_KMSG_XID_MAX, &made.xid) || !read_time(head, &made.usec))
        return false;
    *out = made;
    return true;
}
