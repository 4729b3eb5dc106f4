/* The store in PostgreSQL as far as it goes without a server; tests/real has the rest. */
#include "drivers/store/postgres.h"
#include "tests/test.h"

#include <string.h>

static const struct {
    const char *name, *conninfo;
    enum lks_code code;
    const char *message;
} connections[] = {
    {"words", "host=db1,db2 dbname=lockstep", LKS_OK, ""},
    {"a file of passwords", "host=db1 passfile=/etc/lockstep/pgpass", LKS_OK, ""},
    {"a url", "postgresql://lockstep@db1:5432,db2/lockstep?sslmode=verify-full", LKS_OK, ""},
    {"nothing", "", LKS_E_INVALID, "it says nothing"},
    {"no words", "lockstep", LKS_E_INVALID, "words like host=db1,db2"},
    {"an unknown word", "hots=db1 s3cret", LKS_E_INVALID, "words like host=db1,db2"},
    {"a password", "host=db1 password=s3cret", LKS_E_REFUSED, "passfile="},
    {"a password with blanks", "password = 's3cret' host=db1", LKS_E_REFUSED, "passfile="},
    {"a password in a url", "postgresql://lockstep:s3cret@db1/x", LKS_E_REFUSED, "passfile="},
    {"a key's password", "host=db1 sslpassword=s3cret", LKS_E_REFUSED, "passfile="},
    {"a url that is none", "postgresql://lockstep:s3cret@[db1/x", LKS_E_INVALID, "a postgresql://"},
};

static void test_connections(void)
{
    for (size_t i = 0; i < LKS_COUNT(connections); i++) {
        struct lks_err err = {0};
        struct lks_store store = {0};
        lks_test_case("%s", connections[i].name);
        CHECK_CODE(lks_store_postgres_check(connections[i].conninfo, &err), connections[i].code);
        CHECK_HAS(lks_str_from(err.msg), connections[i].message);
        CHECK(lks_str_find(lks_str_from(err.msg), LKS_STR("s3cret")) < 0);
        if (connections[i].code == LKS_OK)
            continue;
        CHECK_CODE(lks_store_postgres_open(connections[i].conninfo, LKS_STORE_OWN, &store, &err),
                   connections[i].code);
        CHECK(store.ops == NULL);
    }
}

/* No server answers: it may be tried again, and the line says where. The library's own message has
 * several lines and ends with one. */
static void test_no_server(void)
{
    static const enum lks_store_mode modes[] = {LKS_STORE_CREATE, LKS_STORE_OWN, LKS_STORE_READ};
    for (size_t i = 0; i < LKS_COUNT(modes); i++) {
        struct lks_store store = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_store_postgres_open("host=/nonexistent,/neither dbname=fleet", modes[i],
                                           &store, &err),
                   LKS_E_UNAVAILABLE);
        CHECK_HAS(lks_str_from(err.msg), "postgresql fleet@/nonexistent,/neither: ");
        CHECK(strpbrk(err.msg, "\n\t") == NULL && err.msg[strlen(err.msg) - 1] != ' ');
        CHECK(store.ops == NULL);
    }
}

static const struct lks_test tests[] = {
    {"connections", test_connections},
    {"nobody", test_no_server},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
