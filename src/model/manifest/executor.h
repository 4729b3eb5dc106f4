/*
 * The executors that this project names itself, beside those that take orders (order.h), and what
 * the controller and the helper must know about each before it runs. A site may install more: an
 * executor that is not in the table has none of the properties.
 */
#ifndef LKS_MODEL_EXECUTOR_H
#define LKS_MODEL_EXECUTOR_H

#include "base/str.h"

#define LKS_EXECUTOR_INVENTORY "inventory"
#define LKS_EXECUTOR_IDLE      "idle"
#define LKS_EXECUTOR_REBOOT    "reboot"
#define LKS_EXECUTOR_ACCEPT    "accept"
#define LKS_EXECUTOR_FIRMWARE  "firmware"

/* It only reads: it may run on a node in service. */
bool lks_executor_reads(struct lks_str name);

/* It can change what the node runs: a reading from before it ended says nothing about now. */
bool lks_executor_changes(struct lks_str name);

/* It restarts the machine: the helper refuses it where the next boot would leave the node broken.
 */
bool lks_executor_reboots(struct lks_str name);

#endif
