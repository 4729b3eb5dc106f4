#include "tests/tree.h"

#include "base/buf.h"
#include "base/file.h"
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

struct lks_tree lks_tree_new(void)
{
    struct lks_tree tree = {0};
    const char *dir = getenv("TMPDIR");
    snprintf(tree.path, sizeof(tree.path), "%.40s/lks-tree-XXXXXX",
             dir != NULL && strlen(dir) <= 40 ? dir : "/tmp");
    CHECK(mkdtemp(tree.path) != NULL);
    return tree;
}

static void remove_all(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_all(fd, e->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    CHECK(unlinkat(parent, name, dir != NULL ? AT_REMOVEDIR : 0) == 0);
}

void lks_tree_free(struct lks_tree *tree)
{
    if (tree->path[0] != '\0')
        remove_all(AT_FDCWD, tree->path);
    tree->path[0] = '\0';
}

/* The path outside the tree, with the directories above it made. */
static void place(const struct lks_tree *tree, const char *path, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s%s", tree->path, path);
    for (char *at = out + strlen(tree->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(out, 0755);
        *at = '/';
    }
}

void lks_tree_bytes(const struct lks_tree *tree, const char *path, struct lks_str content)
{
    char at[PATH_SIZE];
    place(tree, path, at);
    FILE *f = fopen(at, "w");
    if (!CHECK(f != NULL))
        return;
    CHECK(fwrite(content.ptr, 1, content.len, f) == content.len);
    CHECK(fclose(f) == 0);
}

void lks_tree_file(const struct lks_tree *tree, const char *path, const char *content)
{
    lks_tree_bytes(tree, path, lks_str_from(content));
}

void lks_tree_dir(const struct lks_tree *tree, const char *path)
{
    char at[PATH_SIZE];
    place(tree, path, at);
    CHECK(mkdir(at, 0755) == 0);
}

void lks_tree_link(const struct lks_tree *tree, const char *path, const char *target)
{
    char at[PATH_SIZE];
    place(tree, path, at);
    CHECK(symlink(target, at) == 0);
}

void lks_tree_fifo(const struct lks_tree *tree, const char *path)
{
    char at[PATH_SIZE];
    place(tree, path, at);
    CHECK(mkfifo(at, 0644) == 0);
}

void lks_tree_entries(const struct lks_tree *tree, const struct lks_tree_entry *entries,
                      size_t count)
{
    for (size_t i = 0; i < count && entries[i].path != NULL; i++) {
        char path[PATH_SIZE];
        size_t len = strlen(entries[i].path);
        bool link = entries[i].path[len - 1] == '@';
        snprintf(path, sizeof(path), "%.*s", (int)(link ? len - 1 : len), entries[i].path);
        if (link)
            lks_tree_link(tree, path, entries[i].content.ptr);
        else
            lks_tree_bytes(tree, path, entries[i].content);
    }
}

/* Planting ---------------------------------------------------------------------------------- */

#define PLANT_MAX ((size_t)4 << 20)

struct loop {
    struct lks_str name, value;
    size_t number;
};

/* `line` with the loop's variable filled in. */
static void expand(struct lks_str line, const struct loop *loop, struct lks_buf *out)
{
    lks_buf_truncate(out, 0);
    while (line.len > 0) {
        struct lks_str before, name, rest;
        bool more = lks_str_cut(line, '$', &before, &rest);
        lks_buf_add(out, before);
        line = rest;
        if (!more)
            return;
        if (loop->name.len > 0 && lks_str_starts(rest, "{") &&
            lks_str_cut(rest, '}', &name, &rest)) {
            name = (struct lks_str){name.ptr + 1, name.len - 1};
            line = rest;
            if (lks_str_is(name, "#"))
                lks_buf_addf(out, "%zu", loop->number);
            else if (CHECK(lks_str_eq(name, loop->name)))
                lks_buf_add(out, loop->value);
        } else {
            lks_buf_addc(out, '$');
        }
    }
}

struct planter {
    const struct lks_tree *tree;
    char path[PATH_SIZE]; /* of the file whose lines come; empty: none */
    struct lks_buf content;
};

/* Blank lines at the end of a file are there for those who read the description. */
static void end_file(struct planter *p)
{
    struct lks_str content = lks_buf_view(&p->content);
    while (content.len > 1 && memcmp(content.ptr + content.len - 2, "\n\n", 2) == 0)
        content.len--;
    if (p->path[0] != '\0')
        lks_tree_bytes(p->tree, p->path, content);
    p->path[0] = '\0';
    lks_buf_truncate(&p->content, 0);
}

/* "06 00 00 00 01" as bytes. */
static void plant_hex(const struct planter *p, const char *path, const char *text)
{
    char bytes[PATH_SIZE / 2];
    size_t count = 0;
    for (char *end; *text != '\0' && count < sizeof(bytes); text = end) {
        bytes[count++] = (char)strtoul(text, &end, 16);
        if (!CHECK(end != text))
            return;
    }
    lks_tree_bytes(p->tree, path, (struct lks_str){bytes, count});
}

static void plant_word(struct planter *p, struct lks_str line)
{
    struct lks_str word, path;
    end_file(p);
    (void)lks_str_cut(line, ' ', &word, &line);
    (void)lks_str_cut(line, ' ', &path, &line);
    char at[PATH_SIZE], text[PATH_SIZE];
    snprintf(at, sizeof(at), "%.*s", LKS_STR_ARG(path));
    snprintf(text, sizeof(text), "%.*s", LKS_STR_ARG(line));
    if (lks_str_is(word, "@file")) {
        memcpy(p->path, at, sizeof(at));
    } else if (lks_str_is(word, "@line")) {
        memcpy(p->path, at, sizeof(at));
        lks_buf_addf(&p->content, "%s\n", text);
        end_file(p);
    } else if (lks_str_is(word, "@hex")) {
        plant_hex(p, at, text);
    } else if (lks_str_is(word, "@link")) {
        lks_tree_link(p->tree, at, text);
    } else {
        lks_test_case("%.*s", LKS_STR_ARG(word));
        CHECK(false);
    }
}

/* The lines of `text` once, for one value of the loop; inner loops are planted by themselves. */
static struct lks_str plant_lines(struct planter *p, struct lks_str text, const struct loop *loop)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(PLANT_MAX);
    while (text.len > 0) {
        struct lks_str raw;
        (void)lks_str_cut(text, '\n', &raw, &text);
        if (lks_str_starts(raw, "@#"))
            continue;
        if (lks_str_is(raw, "@end"))
            return text;
        if (lks_str_starts(raw, "@each ")) {
            struct lks_str words = {raw.ptr + 6, raw.len - 6}, rest = text;
            struct loop inner = {0};
            (void)lks_str_word(&words, &inner.name);
            for (; lks_str_word(&words, &inner.value); inner.number++)
                rest = plant_lines(p, text, &inner);
            end_file(p);
            text = rest;
            continue;
        }
        expand(raw, loop, &line);
        if (lks_str_starts(raw, "@")) {
            plant_word(p, lks_buf_view(&line));
        } else if (raw.len > 0 ? CHECK(p->path[0] != '\0') : p->path[0] != '\0') {
            lks_buf_add(&p->content, lks_buf_view(&line));
            lks_buf_addc(&p->content, '\n');
        }
    }
    return text;
}

void lks_tree_plant(const struct lks_tree *tree, const char *from)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PLANT_MAX);
    struct lks_err err = {0};
    if (!CHECK(lks_file_read(from, &text, &err) == LKS_OK))
        return;
    struct planter p = {.tree = tree};
    lks_buf_init(&p.content, PLANT_MAX);
    (void)plant_lines(&p, lks_buf_view(&text), &(struct loop){0});
    end_file(&p);
    CHECK(p.content.failed == LKS_OK);
    lks_buf_fini(&p.content);
}
