/*
 * A long list in a JSON document, one element at a time, so that memory is that of one element and
 * not of the tree of all of them. These functions find where a value ends and nothing more: what
 * they return is parsed with lks_json_parse(), which refuses what is not JSON.
 */
#ifndef LKS_CODEC_JSON_LIST_H
#define LKS_CODEC_JSON_LIST_H

#include "base/str.h"

/* The text of a member's value. False: `object` is no object, is cut off before the value ends, or
 * has no such member. Keys with escapes match none. */
bool lks_json_list_member(struct lks_str object, const char *key, struct lks_str *value);

/* Begin with the text of a list; what is in front of its first element is skipped. False: it is no
 * list. */
bool lks_json_list_open(struct lks_str *list);

enum lks_json_list { LKS_JSON_LIST_ELEMENT, LKS_JSON_LIST_END, LKS_JSON_LIST_BROKEN };

/* The next element. END only where the list was closed: one that is cut off is BROKEN. */
enum lks_json_list lks_json_list_next(struct lks_str *list, struct lks_str *element);

#endif
