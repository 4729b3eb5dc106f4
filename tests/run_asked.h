/* The command line beside a lockstepd whose answers a test wrote down. */
#ifndef LKS_TESTS_RUN_ASKED_H
#define LKS_TESTS_RUN_ASKED_H

#include "tests/liar.h"
#include "tests/run_cli.h"

#include <unistd.h>

enum { LKS_RUN_ANSWER_MAX = 1 << 20 };

/* What lockstepd says, once: a status and a body, of JSON unless it starts as Markdown or a
 * manifest does. */
static inline struct lks_str lks_run_answer(int status, const char *body)
{
    static struct lks_buf texts[LKS_LIAR_TURNS];
    static size_t at;
    struct lks_buf *text = &texts[at++ % LKS_LIAR_TURNS];
    lks_buf_fini(text);
    lks_buf_init(text, LKS_RUN_ANSWER_MAX);
    lks_buf_addf(text,
                 "HTTP/1.1 %d x\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 status,
                 body[0] == '#'                     ? "text/markdown"
                 : body[0] == 'l'                   ? "application/yaml"
                 : body[0] == '<' || body[0] == '>' ? "text/html"
                 : status < 400                     ? "application/json"
                                                    : "application/problem+json",
                 strlen(body), body);
    return lks_buf_view(text);
}

/* The program on a terminal, with the answers of `l`, one for each time it asks. */
struct lks_run_asked {
    struct lks_liar liar;
    struct lks_run run;
};

static inline void lks_run_asked_fini(struct lks_run_asked *a)
{
    lks_run_fini(&a->run);
    lks_liar_fini(&a->liar);
}

static inline struct lks_run lks_run_on(const char *socket, const char *const *words,
                                        const struct lks_term *term)
{
    char *argv[LKS_RUN_ARGS_MAX + 4] = {(char *)(uintptr_t) "lockstep"};
    char server[128];
    char *out = NULL, *err = NULL;
    size_t out_len = 0, err_len = 0;
    int argc = 1;
    snprintf(server, sizeof(server), "unix:%s", socket);
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    struct lks_cli cli = {
        .out = open_memstream(&out, &out_len),
        .err = open_memstream(&err, &err_len),
        .term = *term,
        .server = server,
        .now = 1794700800, /* 2026-11-15 */
    };
    struct lks_run run = {.exit = lks_cli_run(&cli, argc, argv)};
    fclose(cli.out);
    fclose(cli.err);
    run.out = (struct lks_str){out, out_len};
    run.err = (struct lks_str){err, err_len};
    return run;
}

/* Answers of the rows of a script, up to NULL; "" is a connection that ends without one. */
static inline void lks_run_ask(struct lks_run_asked *a, const char *dir, const char *const *words,
                               const char *const *script, const struct lks_term *term)
{
    char path[128];
    *a = (struct lks_run_asked){0};
    snprintf(path, sizeof(path), "%s/sock", dir);
    (void)unlink(path);
    a->liar.path = path;
    for (size_t i = 0; i < LKS_LIAR_TURNS && script[i] != NULL; i++) {
        bool no = strncmp(script[i], "{\"type\"", 7) == 0;
        a->liar.turns[a->liar.turn_count++] =
            script[i][0] == '\0'
                ? (struct lks_liar_turn){LKS_LIAR_CUT, LKS_STR("")}
                : (struct lks_liar_turn){LKS_LIAR_CLOSE, lks_run_answer(no                    ? 409
                                                                        : script[i][0] == '>' ? 307
                                                                                              : 200,
                                                                        script[i])};
    }
    if (a->liar.turn_count > 0)
        lks_liar_start(&a->liar);
    a->run = lks_run_on(path, words, term);
    if (a->liar.turn_count > 0)
        lks_liar_join(&a->liar);
}

#endif
