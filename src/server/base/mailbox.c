#include "server/base/mailbox.h"

struct lks_mail *lks_mailbox_take(struct lks_mail_queue *q)
{
    uv_mutex_lock(&q->lock);
    struct lks_mail *all = q->first;
    q->first = NULL;
    q->last = &q->first;
    uv_mutex_unlock(&q->lock);
    return all;
}

void lks_mailbox_shut(struct lks_mail_queue *q, void (*drop)(struct lks_mail *mail))
{
    uv_mutex_lock(&q->lock);
    q->drop = drop;
    uv_mutex_unlock(&q->lock);
    for (struct lks_mail *mail = lks_mailbox_take(q), *next; mail != NULL; mail = next) {
        next = mail->next;
        drop(mail);
    }
}

static void on_wake(uv_async_t *wake)
{
    struct lks_mailbox *box = wake->data;
    for (struct lks_mail *mail = lks_mailbox_take(&box->queue), *next; mail != NULL; mail = next) {
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
    box->queue.last = &box->queue.first;
    box->wake.data = box;
    int failed = uv_mutex_init(&box->queue.lock);
    if (failed == 0)
        failed = uv_async_init(loop, &box->wake, on_wake);
    if (failed != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a mailbox: %s", uv_strerror(failed));
    return LKS_OK;
}

void lks_mailbox_post(struct lks_mailbox *box, struct lks_mail *mail)
{
    mail->next = NULL;
    uv_mutex_lock(&box->queue.lock);
    bool closed = box->queue.drop != NULL;
    bool was_empty = box->queue.first == NULL;
    if (!closed) {
        *box->queue.last = mail;
        box->queue.last = &mail->next;
    }
    /* The sender that found it empty wakes the loop; the others' mail is taken in the same run.
     * Under the lock, since a loop that is closed cannot be woken. */
    if (!closed && was_empty)
        uv_async_send(&box->wake);
    uv_mutex_unlock(&box->queue.lock);
    if (closed)
        box->queue.drop(mail);
}

void lks_mailbox_close(struct lks_mailbox *box, void (*drop)(struct lks_mail *mail))
{
    lks_mailbox_shut(&box->queue, drop);
    uv_close((uv_handle_t *)&box->wake, NULL);
}
