/* A state as lines, from the tables of its columns: what golden files and tests of records list.
 *
 *     journal seq=152 clock=1700000152000 heartbeat=30000
 *     node n1 pool=train held=1 held_by=kim held_reason="broken fan" parts[1]=sha256:...
 *     change[0].recipe[0].step[1] kind=leave rank=2
 *
 * A row is a line: the name of its table, then its own name or its place, then the columns that are
 * not zero or empty. A text is quoted as in JSON where it has blanks or quotes. The lines
 * contain secrets: list only states with made-up ones. */
#ifndef LKS_TESTS_LIST_STATE_H
#define LKS_TESTS_LIST_STATE_H

struct lks_buf;
struct lks_state;

/* `tables` has the names of those that are listed, with blanks between; NULL: all. */
void lks_list_state(const struct lks_state *s, const char *tables, struct lks_buf *out);

#endif
