/* plant FILE DIR: the machine that FILE describes (tests/tree.h), in a new directory. For
 * demonstrations on machines that nobody has here. */
#include "tests/tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct lks_tree tree = {0};
    if (argc != 3 || strlen(argv[2]) >= sizeof(tree.path)) {
        fprintf(stderr, "usage: plant FILE DIR (a path of at most %zu bytes)\n",
                sizeof(tree.path) - 1);
        return 2;
    }
    snprintf(tree.path, sizeof(tree.path), "%s", argv[2]);
    if (mkdir(tree.path, 0700) != 0) {
        perror(tree.path);
        return 1;
    }
    lks_tree_plant(&tree, argv[1]);
    return 0;
}
