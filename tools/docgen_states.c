/* The page of state machines; see docgen.c. */
#include "engine/lease.h"
#include "model/record/moves.h"
#include "port/conversation.h"
#include "tools/docgen.h"

static const struct lks_machine *const machines[] = {
    &lks_moves_change,  &lks_moves_wave,  &lks_moves_member,       &lks_moves_flash,
    &lks_moves_command, &lks_lease_moves, &lks_conversation_moves,
};

static void put_states(struct lks_buf *page, const struct lks_machine *m)
{
    lks_buf_addf(page, "\nStart: `%s`. Ends, which nothing leaves:", m->words[LKS_MACHINE_START]);
    const char *before = " ";
    for (unsigned i = 0; i < m->count; i++) {
        if ((m->ends & (UINT32_C(1) << i)) == 0)
            continue;
        lks_buf_addf(page, "%s`%s`", before, m->words[i]);
        before = ", ";
    }
    lks_buf_addf(page, "%s.\n\n| from | to | when |\n|---|---|---|\n", m->ends == 0 ? " none" : "");
}

static void put_machine(struct lks_buf *page, const struct lks_machine *m)
{
    lks_buf_addf(page, "\n## %s\n\nStates of %s.\n", m->name, m->about);
    put_states(page, m);
    for (unsigned i = 0; i < m->count * m->count; i++) {
        if (m->when[i] == NULL)
            continue;
        lks_buf_addf(page, "| `%s` | `%s` | ", m->words[i / m->count], m->words[i % m->count]);
        lks_docgen_cell(page, m->when[i]);
        lks_buf_addf(page, " |\n");
    }
}

void lks_docgen_states(struct lks_buf *page)
{
    lks_docgen_banner(page, "the tables of src/model/record/moves.c, src/engine/lease.c and "
                            "src/port/conversation.c");
    lks_buf_addf(page,
                 "# State machines\n\n"
                 "Every legal transition has a row. A program that is about to make another one "
                 "has a bug and stops before anything is recorded or sent. Records of an existing "
                 "journal are applied as they are "
                 "([decision](../decisions/0087-state-machines.md)).\n");
    for (size_t i = 0; i < LKS_COUNT(machines); i++)
        put_machine(page, machines[i]);
}
