/* Pages of the reference; see docgen.c. */
#ifndef LKS_TOOLS_DOCGEN_H
#define LKS_TOOLS_DOCGEN_H

#include "base/buf.h"

/* The line at the top of each page. */
void lks_docgen_banner(struct lks_buf *page, const char *tables);

/* A cell of a Markdown table. */
void lks_docgen_cell(struct lks_buf *page, const char *text);

/* docgen_control.c: the control plane. */
void lks_docgen_journal(struct lks_buf *page);
void lks_docgen_access(struct lks_buf *page);
void lks_docgen_config(struct lks_buf *page);
void lks_docgen_api(struct lks_buf *page);

/* docgen_entities.c */
void lks_docgen_entities(struct lks_buf *page);

/* docgen_states.c */
void lks_docgen_states(struct lks_buf *page);

/* docgen_man.c: write manual pages to DIR/man1, man5 and man8; false, with a message, if it fails.
 */
bool lks_docgen_man(const char *dir);

#endif
