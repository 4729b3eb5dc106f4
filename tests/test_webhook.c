/* Signed messages: what is taken, and the one line that says why something is not. */
#include "trust/webhook.h"

#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define SECRET "0123456789abcdef-secret"
#define BODY   "{\"event\":\"m-1\"}"
#define NOW    ((lks_ms)1794700800000)

/* t=1794700800; printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$secret" */
#define HEX  "695679cd40ba11e1f09987130fc891993cac08eeab20507b1a89fa985bdbe9a7"
#define GOOD "t=1794700800,v1=" HEX

static void test_sign(void)
{
    char header[LKS_WEBHOOK_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_webhook_sign(LKS_STR(SECRET), NOW + 999, LKS_STR(BODY), header, &err), LKS_OK);
    CHECK_STR(lks_str_from(header), GOOD);
}

static const struct {
    const char *name, *secret, *header, *body;
    int64_t late; /* ms behind when it was signed */
    const char *told;
} rows[] = {
    {"as it was sent", SECRET, GOOD, BODY, 0, ""},
    {"blanks around the header", SECRET, "  " GOOD " ", BODY, 0, ""},
    {"five minutes late", SECRET, GOOD, BODY, 300000, ""},
    {"five minutes early", SECRET, GOOD, BODY, -300000, ""},
    {"later than that", SECRET, GOOD, BODY, 300001, "it was signed too long ago"},
    {"earlier than that", SECRET, GOOD, BODY, -300001, "it was signed in the future"},
    {"another body", SECRET, GOOD, BODY " ", 0, "not one of the shared secret"},
    {"no body", SECRET, GOOD, "", 0, "not one of the shared secret"},
    {"another secret", SECRET "x", GOOD, BODY, 0, "not one of the shared secret"},
    {"another time", SECRET, "t=1794700801,v1=" HEX, BODY, 0, "not one of the shared secret"},
    {"the same time, written in another way", SECRET, "t=01794700800,v1=" HEX, BODY, 0,
     "not one of the shared secret"},
    {"no signature", SECRET, "", BODY, 0, "it is not signed"},
    {"half of one", SECRET, "t=1794700800", BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"the halves turned round", SECRET, "v1=" HEX ",t=1794700800", BODY, 0,
     "expected t=SECONDS,v1=HEX"},
    {"a shorter hash", SECRET, "t=1794700800,v1=00", BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"a longer hash", SECRET, GOOD "0", BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"a second hash", SECRET, GOOD ",v1=" HEX, BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"upper case", SECRET, "T=1794700800,v1=" HEX, BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"a time that is none", SECRET, "t=soon,v1=" HEX, BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"a time before all", SECRET, "t=-1,v1=" HEX, BODY, 0, "expected t=SECONDS,v1=HEX"},
    {"a time beyond all", SECRET, "t=99999999999999999999,v1=" HEX, BODY, 0,
     "expected t=SECONDS,v1=HEX"},
    {"a time that would not fit", SECRET, "t=253402300800,v1=" HEX, BODY, 0,
     "expected t=SECONDS,v1=HEX"},
};

static void test_check(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_err err = {0};
        lks_ms at = 7;
        bool good = rows[i].told[0] == '\0';
        lks_test_case("%s", rows[i].name);
        enum lks_code code = lks_webhook_check(
            lks_str_from(rows[i].secret), lks_str_from(rows[i].header), lks_str_from(rows[i].body),
            (lks_ms)((int64_t)NOW + rows[i].late), &at, &err);
        CHECK_CODE(code, good ? LKS_OK : LKS_E_DENIED);
        CHECK_INT(at, good ? NOW : 7);
        CHECK_HAS(lks_str_from(err.msg), rows[i].told);
        CHECK(strstr(err.msg, "0123456789abcdef") == NULL);
    }
}

/* Any one bit that is another makes it another message. */
static void test_bits(void)
{
    char body[] = BODY, header[] = GOOD;
    struct lks_err err = {0};
    lks_ms at = 0;
    for (size_t i = 0; i < 8 * strlen(BODY); i++) {
        body[i / 8] = (char)(body[i / 8] ^ 1 << i % 8);
        CHECK_CODE(lks_webhook_check(LKS_STR(SECRET), LKS_STR(GOOD),
                                     (struct lks_str){body, strlen(BODY)}, NOW, &at, &err),
                   LKS_E_DENIED);
        body[i / 8] = (char)(body[i / 8] ^ 1 << i % 8);
    }
    for (size_t i = strlen("t=1794700800,v1="); i < strlen(GOOD); i++) {
        header[i] = header[i] == 'f' ? '0' : 'f';
        CHECK_CODE(
            lks_webhook_check(LKS_STR(SECRET), lks_str_from(header), LKS_STR(BODY), NOW, &at, &err),
            header[i] == GOOD[i] ? LKS_OK : LKS_E_DENIED);
        header[i] = GOOD[i];
    }
}

static void test_secret(void)
{
    static const struct {
        const char *name, *text, *secret;
    } secrets[] = {
        {"a line", "0123456789abcdef\n", "0123456789abcdef"},
        {"without its end", "0123456789abcdef", "0123456789abcdef"},
        {"blanks around it", " 0123456789abcdef \r\n\n", "0123456789abcdef"},
        {"too short", "0123456789abcde\n", NULL},
        {"nothing", "", NULL},
        {"two lines", "0123456789abcdef\n0123456789abcdef\n", NULL},
        {"bytes that are no text", "0123456789abcdef\x01", NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(secrets); i++) {
        struct lks_str out = LKS_STR("as before");
        struct lks_err err = {0};
        lks_test_case("%s", secrets[i].name);
        CHECK_CODE(lks_webhook_secret(lks_str_from(secrets[i].text), &out, &err),
                   secrets[i].secret != NULL ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(out, secrets[i].secret != NULL ? secrets[i].secret : "as before");
        CHECK(strstr(err.msg, "01234") == NULL);
    }
}

static const struct lks_test tests[] = {
    {"signing", test_sign},
    {"what is taken, and what is not", test_check},
    {"every bit counts", test_bits},
    {"secrets", test_secret},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
