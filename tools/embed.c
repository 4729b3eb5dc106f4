/* Turns files into a C table of names and bytes, so that the program carries them. Run at build
 * time:
 *
 *     embed SYMBOL OUTPUT.c FILE...
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    fprintf(stderr, "embed: %s: %s\n", what, strerror(errno));
    exit(1);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static long put_bytes(FILE *out, const char *path, int number)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        die(path);
    fprintf(out, "static const unsigned char bytes_%d[] = {", number);
    long count = 0;
    for (int c; (c = fgetc(in)) != EOF; count++)
        fprintf(out, "%s%d,", count % 24 == 0 ? "\n" : "", c);
    fprintf(out, "0};\n"); /* a terminator that is not counted */
    if (ferror(in) || fclose(in) != 0)
        die(path);
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: embed SYMBOL OUTPUT.c FILE...\n");
        return 2;
    }
    FILE *out = fopen(argv[2], "wb");
    long *sizes = calloc((size_t)argc, sizeof(*sizes));
    if (out == NULL || sizes == NULL)
        die(argv[2]);
    fprintf(out, "#include \"base/embedded.h\"\n");
    for (int i = 3; i < argc; i++)
        sizes[i] = put_bytes(out, argv[i], i);
    fprintf(out, "const struct lks_embedded %s[] = {\n", argv[1]);
    for (int i = 3; i < argc; i++)
        fprintf(out, "    {\"%s\", {(const char *)bytes_%d, %ld}},\n", base_name(argv[i]), i,
                sizes[i]);
    fprintf(out, "    {0},\n};\n");
    free(sizes);
    if (fclose(out) != 0)
        die(argv[2]);
    return 0;
}
