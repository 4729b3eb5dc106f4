/* A tree of files in a temporary directory, for tests of what reads machines. */
#ifndef LKS_TESTS_TREE_H
#define LKS_TESTS_TREE_H

#include "base/str.h"

struct lks_tree {
    char path[64];
};

/* An empty one; a failure to make anything in it is a failed check. */
struct lks_tree lks_tree_new(void);

/* Remove it with all that is in it. */
void lks_tree_free(struct lks_tree *tree);

/* `path` is absolute within the tree; directories above it are made. */
void lks_tree_file(const struct lks_tree *tree, const char *path, const char *content);
void lks_tree_bytes(const struct lks_tree *tree, const char *path, struct lks_str content);
void lks_tree_dir(const struct lks_tree *tree, const char *path);
void lks_tree_link(const struct lks_tree *tree, const char *path, const char *target);
void lks_tree_fifo(const struct lks_tree *tree, const char *path);

/* `count` files, or those up to the first without a path, with the same rules. */
struct lks_tree_entry {
    const char *path;       /* one that ends in '@' is a link, called so without it */
    struct lks_str content; /* of a link: where it leads, terminated */
};
void lks_tree_entries(const struct lks_tree *tree, const struct lks_tree_entry *entries,
                      size_t count);

/* Plant what the file at `from` describes. A line that begins with '@' is a word to us, the others
 * are content of the entry before them:
 *
 *     @# anything                    a remark, such as the source of a value
 *     @file PATH                     a file; its lines follow
 *     @line PATH TEXT                a file of one line
 *     @hex PATH BYTES                a file of bytes, each as two digits
 *     @link PATH TARGET              a symbolic link
 *     @each NAME VALUE...            what follows up to @end once for each value, ${NAME} standing
 *     @end                           for it, ${#} for its number from 0 on
 *
 * Blank lines between entries mean nothing. */
void lks_tree_plant(const struct lks_tree *tree, const char *from);

#endif
