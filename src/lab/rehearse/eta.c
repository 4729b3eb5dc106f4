#include "lab/rehearse/eta.h"

/* How long a run with a bad image usually is, beside one without; as if so many had been seen. */
static const double bad_usual = 0.35, bad_seen = 4;

static double mean(const struct lks_eta *r, bool bad)
{
    const struct lks_eta_kind *plain = &r->kinds[0], *k = &r->kinds[bad];
    const struct lks_eta_kind *other = &r->kinds[!bad];
    double plain_mean = plain->done > 0 ? (double)plain->took / (double)plain->done : 0;
    if (bad && plain->done > 0)
        return ((double)k->took + bad_seen * bad_usual * plain_mean) / ((double)k->done + bad_seen);
    if (k->done > 0)
        return (double)k->took / (double)k->done;
    double unlike = (double)other->took / (double)other->done;
    return bad ? unlike * bad_usual : unlike / bad_usual;
}

lks_ms lks_eta(const struct lks_eta *r, const struct lks_eta_run *running, size_t count)
{
    double work = 0, longest = 0;
    if (r->kinds[0].done + r->kinds[1].done == 0 || r->jobs == 0)
        return 0;
    const double means[2] = {mean(r, false), mean(r, true)};
    for (size_t i = 0; i < count; i++) {
        /* One that takes longer than usual may be over at any moment, or not for long. */
        double usual = means[running[i].bad], left = usual - (double)running[i].age;
        left = left > usual / 4 ? left : usual / 4;
        work += left;
        longest = left > longest ? left : longest;
    }
    uint64_t waiting = r->kinds[0].waiting + r->kinds[1].waiting;
    for (unsigned k = 0; k < 2; k++)
        work += (double)r->kinds[k].waiting * means[k];
    /* Not all processors have a last one to run: half of a run, on the average. */
    double jobs = (double)r->jobs, idle = means[r->kinds[0].waiting == 0] * (jobs - 1) / (2 * jobs);
    double left = waiting > 0 ? work / jobs + idle : longest;
    return (lks_ms)(left + 0.5);
}
