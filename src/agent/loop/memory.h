/* Memory at rest: an agent that waits needs none of the code that a heartbeat takes. */
#ifndef LKS_AGENT_MEMORY_H
#define LKS_AGENT_MEMORY_H

/* Give back what the system can bring again from the files it was loaded from: code and constants
 * of this program and its libraries. They return page by page as they are used, which costs a
 * heartbeat some tens of microseconds. */
void lks_agent_memory_trim(void);

#endif
