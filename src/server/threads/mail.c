#include "server/threads/threads.h"

#include <stdlib.h>

struct lks_mail *lks_mail_new(enum lks_mail_kind kind)
{
    static const size_t sizes[] = {
        [LKS_MAIL_CALL] = sizeof(struct lks_call),
        [LKS_MAIL_BEATS] = sizeof(struct lks_beats),
        [LKS_MAIL_BATCH] = sizeof(struct lks_batch),
        [LKS_MAIL_STALLED] = sizeof(struct lks_stalled),
        [LKS_MAIL_SNAPSHOT] = sizeof(struct lks_snapshot),
        [LKS_MAIL_FOLLOW] = sizeof(struct lks_follow),
        [LKS_MAIL_NEWS] = sizeof(struct lks_news),
        [LKS_MAIL_POST] = sizeof(struct lks_post),
        [LKS_MAIL_FLASH] = sizeof(struct lks_flash_mail),
        [LKS_MAIL_AUDITED] = sizeof(struct lks_audited_mail),
        [LKS_MAIL_RELOAD] = sizeof(struct lks_mail),
        [LKS_MAIL_STOP] = sizeof(struct lks_mail),
        [LKS_MAIL_STOPPED] = sizeof(struct lks_mail),
    };
    struct lks_mail *mail = calloc(1, sizes[kind]);
    if (mail == NULL)
        abort(); /* a daemon that cannot tell its threads anything is over */
    mail->kind = (int)kind;
    return mail;
}

void lks_mail_drop(struct lks_mail *mail)
{
    if (mail->kind == LKS_MAIL_CALL) {
        lks_call_free((struct lks_call *)mail);
        return;
    }
    if (mail->kind == LKS_MAIL_BATCH)
        lks_engine_batch_fini(&((struct lks_batch *)mail)->batch);
    if (mail->kind == LKS_MAIL_NEWS)
        lks_engine_news_fini(&((struct lks_news *)mail)->lease.news);
    if (mail->kind == LKS_MAIL_FLASH)
        lks_arena_fini(&((struct lks_flash_mail *)mail)->arena);
    free(mail);
}
