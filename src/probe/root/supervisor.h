/*
 * Who stands between us and a program that we start, and sees to it that the program and what it
 * starts end with us, even if we are killed and can do nothing about it any more: the kernel tells
 * only children that their parent died, not children of theirs.
 */
#ifndef LKS_PROBE_SUPERVISOR_H
#define LKS_PROBE_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

/* In a child that `parent` forked and that leads a process group of its own: it becomes the keeper,
 * and does not return. What returns is a child of it in the same group, to become the program, with
 * the number of the keeper. When `parent` dies, the keeper kills the group; when the program ends,
 * the keeper ends as it did. It keeps none of our descriptors but the first three. */
pid_t lks_supervisor_begin(pid_t parent);

/* Close all descriptors but the first three. False where they may be too many to try each. */
bool lks_supervisor_close_others(void);

#endif
