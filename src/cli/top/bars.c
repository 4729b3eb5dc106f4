#include "cli/top/bars.h"

#include "cli/change/cmd_change.h"
#include "cli/shared/render.h"

const struct lks_top_bar_part lks_top_bar_liveness[LKS_TOP_BAR_PARTS] = {
    {"live", "liveness.live", '#', LKS_GREEN},
    {"late", "liveness.late", '!', LKS_YELLOW},
    {"lost", "liveness.lost", 'x', LKS_RED},
    {"unseen", "liveness.unseen", '.', LKS_DIM},
};

const struct lks_top_bar_part lks_top_bar_progress[LKS_TOP_BAR_PARTS] = {
    {"done", "members.done+members.skipped", '#', LKS_GREEN},
    {"in progress", LKS_CHANGE_UNDER_WAY, '>', LKS_YELLOW},
    {"failed", "members.reverted+members.fenced+members.needs_hands+members.unknown", 'x', LKS_RED},
    {"pending", "members.pending", '.', LKS_DIM},
};

void lks_top_bar_share(const struct lks_top_bar_part parts[LKS_TOP_BAR_PARTS],
                       const struct lks_doc *doc, uint64_t room, uint64_t marks[LKS_TOP_BAR_PARTS])
{
    static const size_t order[] = {2, 1, 3};
    uint64_t counts[LKS_TOP_BAR_PARTS], all = 0;
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++) {
        counts[i] = lks_render_number(doc, parts[i].path);
        all += counts[i];
        marks[i] = 0;
    }
    uint64_t left = counts[0] > 0 && room > 1 ? room - 1 : room;
    for (size_t i = 0; i < LKS_COUNT(order) && all > 0; i++) {
        uint64_t wanted = (counts[order[i]] * room + all - 1) / all;
        marks[order[i]] = wanted < left ? wanted : left;
        left -= marks[order[i]];
    }
    if (counts[0] > 0)
        marks[0] = left + (room > 1);
}
