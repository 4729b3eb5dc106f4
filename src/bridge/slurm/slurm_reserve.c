/* Reservations for maintenance: created, changed and deleted in Slurm. */
#include "bridge/slurm/slurm_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct lks_bridge_reservation *lks_slurm_reserve_find(const struct lks_slurm *s,
                                                            const char *name)
{
    for (uint32_t i = 0; i < s->reservation_count; i++) {
        if (lks_str_is(s->reservations[i].name, name))
            return &s->reservations[i];
    }
    return NULL;
}

static time_t seconds(lks_ms at)
{
    return (time_t)(at / LKS_SECOND);
}

/* Texts of a message: the library wants some that it could change, and keeps none of them. */
struct texts {
    char *name, *nodes, *users;
};

static void texts_fini(struct texts *t)
{
    free(t->name);
    free(t->nodes);
    free(t->users);
}

static enum lks_code describe(const char *name, const struct lks_bridge_reserve *r,
                              struct lks_str users, struct texts *texts, resv_desc_msg_t *msg,
                              struct lks_err *err)
{
    texts->name = strdup(name);
    texts->nodes = strndup(r->nodes.ptr, r->nodes.len);
    texts->users = strndup(users.len > 0 ? users.ptr : "", users.len);
    if (texts->name == NULL || texts->nodes == NULL || texts->users == NULL)
        return lks_fail_nomem(err);
    slurm_init_resv_desc_msg(msg);
    msg->name = texts->name;
    msg->node_list = texts->nodes;
    msg->end_time = seconds(r->until);
    return LKS_OK;
}

/* Slurm wants a user who may use it; jobs that run there go on to their end. */
enum lks_code lks_slurm_reserve_create(struct lks_slurm *s, const char *name,
                                       const struct lks_bridge_reserve *r, struct lks_err *err)
{
    LKS_CLEANUP(texts_fini) struct texts texts = {0};
    resv_desc_msg_t msg;
    if (describe(name, r, lks_slurm_user(s, s->own), &texts, &msg, err) != LKS_OK)
        return err->code;
    msg.users = texts.users;
    msg.start_time = seconds(r->from);
    msg.flags = RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS;
    char *made = slurm_create_reservation(&msg);
    if (made == NULL)
        return lks_slurm_fail(errno, "cannot create the reservation", err);
    free(made);
    return LKS_OK;
}

enum lks_code lks_slurm_reserve_update(const char *name, const struct lks_bridge_reserve *r,
                                       bool start, struct lks_err *err)
{
    LKS_CLEANUP(texts_fini) struct texts texts = {0};
    resv_desc_msg_t msg;
    if (describe(name, r, LKS_STR(""), &texts, &msg, err) != LKS_OK)
        return err->code;
    if (start)
        msg.start_time = seconds(r->from);
    if (slurm_update_reservation(&msg) != 0)
        return lks_slurm_fail(errno, "cannot change the reservation", err);
    return LKS_OK;
}

enum lks_code lks_slurm_reserve_delete(const char *name, struct lks_err *err)
{
    LKS_CLEANUP(texts_fini) struct texts texts = {.name = strdup(name)};
    reservation_name_msg_t msg = {.name = texts.name};
    if (texts.name == NULL)
        return lks_fail_nomem(err);
    if (slurm_delete_reservation(&msg) != 0)
        return lks_slurm_fail(errno, "cannot delete the reservation", err);
    return LKS_OK;
}
