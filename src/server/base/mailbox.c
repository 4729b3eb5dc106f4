#include "server/base/mailbox.h"

static struct lks_mail *take_all(struct lks_mailbox *box)
{
    uv_mutex_lock(&box->lock);
    struct lks_mail *all = box->first;
    box->first = NULL;
    box->last = &box->first;
    uv_mutex_unlock(&box->lock);
    return all;
}

static void on_wake(uv_async_t *wake)
{
    struct lks_mailbox *box = wake->data;
    for (struct lks_mail *mail = take_all(box), *next; mail != NULL; mail = next) {
        next = mail->next;
        mail->next = NULL;
        box->deliver(box->ctx, mail);
    }
    if (box->after != NULL)
        box->after(box->ctx);
}

enum lks_code lks_mailbox_init(struct lks_mailbox *box, uv_loop_t *loop, lks_mail_fn *deliver,
                               void (*after)(void *ctx), void *ctx, struct lks_err *err)
{
    *box = (struct lks_mailbox){.deliver = deliver, .after = after, .ctx = ctx};
    box->last = &box->first;
    box->wake.data = box;
    int failed = uv_mutex_init(&box->lock);
    if (failed == 0)
        failed = uv_async_init(loop, &box->wake, on_wake);
    if (failed != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a mailbox: %s", uv_strerror(failed));
    return LKS_OK;
}

void lks_mailbox_post(struct lks_mailbox *box, struct lks_mail *mail)
{
    mail->next = NULL;
    uv_mutex_lock(&box->lock);
    bool closed = box->drop != NULL;
    bool was_empty = box->first == NULL;
    if (!closed) {
        *box->last = mail;
        box->last = &mail->next;
    }
    /* The sender that found it empty wakes the loop; the others' mail is taken in the same run.
     * Under the lock, since a loop that is closed cannot be woken. */
    if (!closed && was_empty)
        uv_async_send(&box->wake);
    uv_mutex_unlock(&box->lock);
    if (closed)
        box->drop(mail);
}

void lks_mailbox_close(struct lks_mailbox *box, void (*drop)(struct lks_mail *mail))
{
    uv_mutex_lock(&box->lock);
    box->drop = drop;
    uv_mutex_unlock(&box->lock);
    for (struct lks_mail *mail = take_all(box), *next; mail != NULL; mail = next) {
        next = mail->next;
        drop(mail);
    }
    uv_close((uv_handle_t *)&box->wake, NULL);
}
