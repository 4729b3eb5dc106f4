#include "core/rules/decide_rules.h"

/* What a minute of failed logins and denied calls came to. Nothing rests on it: it is for readers
 * of the journal, who learn that there is more in the audit log. */
void lks_decide_audited(struct lks_deciding *d)
{
    lks_decision_add(d, LKS_RECORD_AUDITED)->audited = d->event->audited;
}
