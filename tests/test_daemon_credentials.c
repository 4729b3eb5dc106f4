/* login with a token and with a certificate, and logout, as a person types them: lockstepd is asked
 * before anything is stored, and what is stored is for its owner alone. */
#include "base/file.h"
#include "tests/crew.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n";

#define BAD "lks_api_kim-1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* Lines of a shell, one after the other: $L is the program, $S and $CA the server, $D a folder with
 * the token of kim, and $C the folder of the contexts. A command that hangs fails the test. */
static const struct {
    const char *name, *line;
    int status;
    const char *said;
} steps[] = {
    {"no context", "$L login --with-token $D/kim.token", 2,
     "there is no context for the token; run 'lockstep config set NAME --server ADDRESS' first"},
    {"a certificate without a context", "$L login --certificate $D/a --key $D/a", 2,
     "is kept in a context"},
    {"a context", "$L config set prod --server $S --ca $CA", 0, ""},
    {"no file", "$L login --with-token $D/none", 3, "there is no token"},
    {"a pipe", "mkfifo -m 600 $D/pipe && $L login --with-token $D/pipe", 3, "is not a plain file"},
    {"a pipe by an option", "$L whoami --token-file $D/pipe", 3, "is not a plain file"},
    {"a device", "$L login --with-token /dev/zero", 3, "is not a plain file"},
    {"a folder", "$L login --with-token $D", 3, "is not a plain file"},
    {"a file that others can read",
     "cp $D/kim.token $D/open && chmod 644 $D/open && $L login --with-token $D/open", 5,
     "others may read this token"},
    {"a token that is none", "(umask 077; echo x y >$D/bad); $L login --with-token $D/bad", 3,
     "no token has"},
    {"two lines", "printf 'a\\nb\\n' >$D/bad; $L login --with-token $D/bad", 3,
     "/bad: holds more than one line; a token is a single line"},
    {"two lines by an option", "$L whoami --token-file $D/bad", 3, "holds more than one line"},
    {"two lines of standard input", "$L login --with-token - <$D/bad", 3,
     "standard input: holds more than one line"},
    {"a character that is none", "printf 'a\\033b' >$D/bad; $L login --with-token $D/bad", 3,
     "/bad: holds no token: a character in it cannot be printed"},
    {"an empty file", ": >$D/bad; $L login --with-token $D/bad", 3, "is empty: it holds no token"},
    {"a token that lockstepd does not know", "echo " BAD " >$D/bad; $L login --with-token $D/bad",
     5, "nothing was stored"},
    {"nothing was stored", "ls $C", 0, "contexts.lock\ncontexts.yaml\n"},
    {"a token", "$L login --with-token $D/kim.token", 0, "kim is logged in until 20"},
    {"its file", "stat -c %a $C/prod.token && cmp $C/prod.token $D/kim.token", 0, "600"},
    {"the context has it", "$L config ls", 0, "prod.token"},
    {"who that is", "$L whoami", 0, "by API token kim-1"},
    {"and where", "$L whoami", 0, "prod"},
    {"as JSON", "$L whoami --json", 0, "\"context\":\"prod\",\"server\":\"https://"},
    {"logout", "$L logout", 0, "'lockstep access revoke TOKEN-ID --token' revokes it"},
    {"after that", "$L whoami", 3, "there is no token; 'lockstep login' writes one"},
    {"a context with a token of one's own", "$L config set prod --token-file $D/kim.token", 0, ""},
    {"logout from it", "$L logout", 0, "kim.token stays, and the context does not use it any more"},
    {"the file stays", "test -s $D/kim.token", 0, ""},
    {"the setting does not", "grep token_file $C/contexts.yaml", 1, ""},
    {"logout from a file by an option", "$L logout --token-file $D/kim.token", 1,
     "has an API token, and no context uses it"},
    {"the file stays", "test -s $D/kim.token", 0, ""},
    {"a token from standard input", "$L login --with-token - <$D/kim.token", 0, "kim is logged in"},
    {"an empty standard input", "$L login --with-token - </dev/null", 3, "holds no token"},
    {"a token as JSON", "$L login --with-token $D/kim.token --json", 0, "\"token_file\":\""},
    {"a certificate without a key", "$L login --certificate $D/kim.crt", 2, "go together"},
    {"both ways", "$L login --with-token - --certificate $D/kim.crt --key $D/kim.key", 2,
     "choose one"},
    {"a certificate",
     "$L access certificate kim --output $D/kim.key --server $U && "
     "$L login --certificate $D/kim.key.crt --key $D/kim.key",
     0, "user:kim is logged in until 20"},
    {"its file is for the owner alone", "stat -c %a $C/prod.pem", 0, "600"},
    {"the context has no token any more", "cat $C/contexts.yaml", 0, "certificate_file: /"},
    {"who that is", "$L whoami", 0, "by a client certificate, serial "},
    {"a key that others can read",
     "cp $D/kim.key $D/open.key && chmod 640 $D/open.key && "
     "$L login --certificate $D/kim.key.crt --key $D/open.key",
     5, "others may read this key"},
    {"the key of another",
     "$L access certificate lee --output $D/lee.key --server $U && "
     "$L login --certificate $D/kim.key.crt --key $D/lee.key",
     3, "kim"},
    {"what was there is still there", "$L whoami", 0, "by a client certificate"},
    {"a new server takes no old certificate", "$L config set prod --server https://localhost:1", 0,
     "removed: certificate /"},
    {"back",
     "$L config set prod --server $S --ca $CA && $L login --certificate $D/kim.key.crt "
     "--key $D/kim.key",
     0, "user:kim"},
    {"logout", "$L logout", 0, "'lockstep access revoke SERIAL --certificate' revokes it"},
    {"the file is gone", "test -e $C/prod.pem", 1, ""},
    {"after that", "$L whoami", 5, "show an API token or a certificate"},
    {"a certificate in a file of one's own",
     "$L login --certificate $D/kim.key.crt --key $D/kim.key && cp $C/prod.pem $D/own.pem && "
     "sed -i 's,certificate_file: .*/prod.pem,certificate_file: '$D/own.pem, $C/contexts.yaml && "
     "$L whoami",
     0, "by a client certificate"},
    {"logout from it", "$L logout", 0, "own.pem stays, and the context does not use it any more"},
    {"the file stays", "test -s $D/own.pem", 0, ""},
    {"a socket takes no certificate",
     "$L config set here --server $U && $L login --context here --certificate $D/kim.key.crt --key "
     "$D/kim.key",
     2, "takes no certificate"},
    {"a token by the socket", "$L login --context here --with-token $D/kim.token", 0,
     "kim is logged in until"},
};

static void set_environment(struct crew *crew, const char *folder)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "timeout 60 %s", LKS_CLI_PROGRAM);
    CHECK_INT(setenv("L", path, 1), 0);
    (void)snprintf(path, sizeof(path), "https://localhost:%u", crew->c.people);
    CHECK_INT(setenv("S", path, 1), 0);
    CHECK_INT(setenv("CA", ctl_path(&crew->c, "data/ca.crt"), 1), 0);
    CHECK_INT(setenv("U", crew->c.socket, 1), 0);
    CHECK_INT(setenv("D", folder, 1), 0);
    CHECK_INT(setenv("XDG_CONFIG_HOME", folder, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/lockstep", folder);
    CHECK_INT(setenv("C", path, 1), 0);
    (void)unsetenv("LOCKSTEP_SERVER");
    (void)unsetenv("LOCKSTEP_TOKEN_FILE");
}

static void test_logins(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf token = LKS_BUF(1 << 12);
    struct crew crew = {0};
    struct lks_err err = {0};
    char folder[256], path[300];
    if (!CHECK(crew_begin(&crew, config)) ||
        !crew_fine(crew.root, "makeToken", "/v1/tokens", "{\"id\":\"kim-1\",\"identity\":\"kim\"}",
                   &t)) {
        crew_end(&crew);
        return;
    }
    (void)snprintf(folder, sizeof(folder), "%s", ctl_path(&crew.c, "kim"));
    (void)snprintf(path, sizeof(path), "%s/kim.token", folder);
    CHECK_INT(mkdir(folder, 0700), 0);
    lks_buf_add(&token, crew_text(&t, "token"));
    lks_buf_addc(&token, '\n');
    CHECK_CODE(lks_file_replace(path, lks_buf_view(&token), &err), LKS_OK);
    set_environment(&crew, folder);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
        const char *const line[] = {"/bin/sh", "-c", steps[i].line, NULL};
        lks_test_case("%zu: %s", i, steps[i].name);
        CHECK_INT(ctl_run(line, &said), steps[i].status);
        CHECK_HAS(lks_buf_view(&said), steps[i].said);
        CHECK(lks_str_find(lks_buf_view(&said), LKS_STR("lks_api_")) < 0);
    }
    crew_end(&crew);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"login with a token and with a certificate", test_logins},
        {0},
    });
}
