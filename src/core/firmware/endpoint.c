#include "core/firmware/endpoint.h"

/* A switch tray is spoken to in its own way, unless the file says otherwise. */
static struct lks_str driver_of(const struct lks_group *group, const struct lks_doc *bmc)
{
    struct lks_str said = lks_doc_text(bmc, "driver");
    if (said.len > 0)
        return said;
    return lks_str_is(group->asset_class, "switch-tray") ? LKS_STR("nvos") : LKS_STR("redfish");
}

bool lks_endpoint_of(const struct lks_group *group, struct lks_endpoint *out)
{
    const struct lks_doc *bmc = group->bmc ? lks_doc_member(group->doc, "bmc") : NULL;
    if (bmc == NULL)
        return false;
    struct lks_str trust = lks_doc_text(bmc, "trust");
    *out = (struct lks_endpoint){
        .url = lks_doc_text(bmc, "url"),
        .trust = trust.len > 0 ? trust : LKS_STR("fingerprint"),
        .credentials = lks_doc_text(bmc, "credentials"),
        .driver = driver_of(group, bmc),
        .site = group->site,
    };
    return true;
}

/* Goes on until `fn` says no; false: it did. */
static bool each_of(const struct lks_group *groups, size_t count, lks_endpoint_fn *fn, void *ctx)
{
    struct lks_endpoint endpoint = {0};
    for (size_t i = 0; i < count; i++) {
        if (!lks_endpoint_of(&groups[i], &endpoint))
            continue;
        for (size_t h = 0; h < groups[i].hosts.count; h++) {
            if (!fn(ctx, groups[i].hosts.names[h], &endpoint))
                return false;
        }
    }
    return true;
}

void lks_endpoint_each(const struct lks_book *book, lks_endpoint_fn *fn, void *ctx)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    if (fleet != NULL && each_of(fleet->nodes, fleet->node_groups, fn, ctx))
        (void)each_of(fleet->assets, fleet->asset_groups, fn, ctx);
}

bool lks_endpoint_find(const struct lks_book *book, struct lks_str name, struct lks_endpoint *out)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    const struct lks_group *group = fleet != NULL ? lks_fleet_group(fleet, name) : NULL;
    return group != NULL && lks_endpoint_of(group, out);
}

void lks_endpoint_url(struct lks_str pattern, struct lks_str host, struct lks_buf *out)
{
    struct lks_str mark = LKS_STR("{host}"), head;
    ptrdiff_t at = 0;
    lks_buf_truncate(out, 0);
    while ((at = lks_str_find(pattern, mark)) >= 0) {
        head = (struct lks_str){pattern.ptr, (size_t)at};
        lks_buf_add(out, head);
        lks_buf_add(out, host);
        pattern.ptr += (size_t)at + mark.len;
        pattern.len -= (size_t)at + mark.len;
    }
    lks_buf_add(out, pattern);
}
