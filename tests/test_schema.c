#include "model/schema/schema.h"

#include "codec/format/yaml.h"
#include "model/manifest/manifest.h"
#include "model/schema/tables.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

enum { OUT_MAX = 4 * 1024 * 1024 };

/* A form with a field of every type. */
static const struct lks_field inner_fields[] = {
    {"need", LKS_OF(TEXT), LKS_REQUIRED, NULL, "what it needs"},
    {"may", LKS_OF(BOOL), 0, "false", "what it may have"},
    {"remark", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence"},
};
static const struct lks_form inner_form = {
    .name = "inner", .about = "a form inside", LKS_FIELDS(inner_fields)};

static const struct lks_field loose_fields[] = {
    {"word", LKS_ONE_OF("red", "green"), 0, "red", "one of two"},
    {"remark", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence"},
};
static const struct lks_form loose_form = {
    .name = "loose", .about = "a form without needs", LKS_FIELDS(loose_fields)};

static const char *const colours[] = {"none", "red", "green", NULL};
static const struct lks_field all_fields[] = {
    {"text", LKS_OF(TEXT), 0, NULL, "text"},
    {"name", LKS_OF(NAME), 0, NULL, "name"},
    {"component", LKS_OF(COMPONENT), 0, NULL, "component"},
    {"version", LKS_OF(VERSION), 0, NULL, "version"},
    {"range", LKS_OF(RANGE), 0, NULL, "range"},
    {"date", LKS_OF(DATE), 0, NULL, "date"},
    {"sha256", LKS_OF(SHA256), 0, NULL, "digest"},
    {"hex", LKS_HEX(4, 8), 0, NULL, "hex"},
    {"hash", LKS_HEX(64, 64), 0, NULL, "hash"},
    {"hosts", LKS_OF(HOSTS), 0, NULL, "hosts"},
    {"url", LKS_OF(URL), 0, NULL, "url"},
    {"credentials", LKS_OF(SECRET), 0, NULL, "credentials"},
    {"bool", LKS_OF(BOOL), 0, "true", "truth"},
    {"number", LKS_NUMBERS(-2, 9), 0, NULL, "number"},
    {"choice", LKS_ONE_OF("node", "chassis", "domain"), 0, "node", "choice"},
    {"several", LKS_ONE_OR_MORE_OF(colours), LKS_SET, "none", "one or more"},
    {"scalar", LKS_OF(SCALAR), 0, NULL, "scalar"},
    {"list", LKS_LIST_FROM_TO(1, 3, LKS_OF(NAME)), 0, NULL, "list"},
    {"set", LKS_LIST(LKS_OF(SCALAR)), LKS_SET, NULL, "set"},
    {"form", LKS_FORM(inner_form), 0, NULL, "form"},
    {"loose", LKS_FORM(loose_form), 0, NULL, "loose form"},
    {"forms", LKS_LIST(LKS_FORM(loose_form)), LKS_SET, NULL, "forms"},
    {"dict", LKS_DICT(TEXT, 3, LKS_OF(SCALAR)), 0, NULL, "dict"},
    {"things", LKS_DICT(NAME, 2, LKS_OF(SCALAR)), 0, NULL, "dict of names"},
    {"ranges", LKS_DICT(COMPONENT, 2, LKS_OF(RANGE)), 0, NULL, "dict of components"},
    {"present", LKS_OF(TEXT), LKS_PRESENCE, NULL, "that it is there"},
    {"remark", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence"},
};
static const struct lks_form all_form = {
    .name = "all", .about = "a field of every type", LKS_FIELDS(all_fields)};

static enum lks_code check(const char *text, struct lks_docs *docs, struct lks_err *err)
{
    if (lks_docs_init(docs, "f", err) != LKS_OK ||
        lks_yaml_parse(lks_str_from(text), docs, err) != LKS_OK)
        return err->code;
    return lks_schema_check(docs, docs->first, &all_form, err);
}

static const char *const accepted[] = {
    "{}",
    "text: anything at all",
    "text: \"caf\xc3\xa9\"",
    "text: \"\xd0\xba\xd0\xbb\xd0\xb0\xd1\x81\xd1\x82\xd0\xb5\xd1\x80 \xf0\x9f\x9a\x80\"",
    "text: ' blanks around '",
    "text: \"no\\u00a0break\"",
    "name: hgx-h100_8.a-b",
    "name: 9a",
    "component: driver",
    "component: firmware/nic",
    "component: firmware",
    "version: \"580.95.05\"",
    "version: '5.15.0-91-generic'",
    "range: \">=580.95.05 <581\"",
    "date: \"2026-11-15\"",
    "date: '2026-02'",
    "sha256: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "hex: 0aff",
    "hex: '00112233'",
    "hash: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "hosts: gpu[001-512,600],login1",
    "url: https://bmc-{host}.example/redfish",
    "credentials: file:/etc/lockstep/bmc",
    "credentials: exec:/usr/bin/vault-get",
    "bool: true",
    "bool: false",
    "number: -2",
    "number: 9",
    "choice: chassis",
    "several: none",
    "several: [green, red]",
    "scalar: Enabled",
    "scalar: 7",
    "scalar: false",
    "list: [a]",
    "list: [a, b, c]",
    "set: []",
    "form: {need: x}",
    "form: {need: x, may: true, remark: z}",
    "loose: {}",
    "dict: {}",
    "dict: {'Any Name': 1, OTHER_name: x, \"caf\xc3\xa9\": z}",
    "dict: {Password Required: true, TokenCount: 7}", /* no text, so no secret */
    "things: {a: 1, b-2.c_d: 2}",
    "things: {token: x}", /* a name of ours, and whose value its own shape judges */
    "ranges: {driver: '>=580', firmware/nic: '<28'}",
};

static void test_accepted(void)
{
    for (size_t i = 0; i < LKS_COUNT(accepted); i++) {
        lks_test_case("%s", accepted[i]);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        if (!CHECK_CODE(check(accepted[i], &docs, &err), LKS_OK))
            printf("    %s\n", err.msg);
    }
}

#define NAMES  " is not a name: lower-case letters, digits, '.', '-', '_'"
#define PARTS  " is not a component: a name, or firmware/NAME"
#define CTRL   "a line break or control character has no place here"
#define KEYS   "a key here has 1 to 128 printable characters"
#define HIDDEN "resembles a secret, and a manifest holds none"
#define SECRET "credentials are given by reference only: file:/PATH or exec:/PROGRAM"
#define URL    "expected https://HOST/PATH, without a query"
#define NUMBER "expected a whole number from -2 to 9"
#define DIGEST " is not a digest: sha256: and 64 lower-case hexadecimal digits"
#define HEX    " is not 4 to 8 lower-case hexadecimal digits, two for each byte"
#define HASH   " is not 64 lower-case hexadecimal digits, two for each byte"

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"[]", "f:1:1: expected all as a map, found a list of 0"},
    {"x", "f:1:1: expected all as a map, found 'x'"},
    {"text: 7", "f:1:1: text: expected text, found the number 7; put it in quotes"},
    {"text: true", "f:1:1: text: expected text, found true; put it in quotes"},
    {"text: [a]", "f:1:1: text: expected text, found a list of 1"},
    {"text: {}", "f:1:1: text: expected text, found a map"},
    {"text: ''", "f:1:1: text: expected text, found an empty text"},
    {"text:", "f:1:1: text: nothing is written here; leave the key out or give it a value"},
    {"text: ' '", "f:1:1: text: expected text, found an empty text"},
    {"text: \" \\t \"", "f:1:1: text: expected text, found an empty text"},
    {"text: \"a\\nb\"", "f:1:1: text: " CTRL},
    {"text: \"a\\tb\"", "f:1:1: text: " CTRL},
    {"text: \"a\\e[2Jb\"", "f:1:1: text: " CTRL},
    {"text: \"\\x7f\"", "f:1:1: text: " CTRL},
    {"text: \"a\\u009bb\"", "f:1:1: text: " CTRL}, /* CSI in one character */
    {"text: \"a\\u00adb\"", "f:1:1: text: " CTRL}, /* a hyphen that hides */
    {"text: \"a\\u061cb\"", "f:1:1: text: " CTRL},
    {"text: \"a\\u200bb\"", "f:1:1: text: " CTRL}, /* no width */
    {"text: \"a\\u2028b\"", "f:1:1: text: " CTRL},
    {"text: \"a\\u202eb\"", "f:1:1: text: " CTRL}, /* right to left from here */
    {"text: \"a\\u2060b\"", "f:1:1: text: " CTRL},
    {"text: \"a\\u2066b\"", "f:1:1: text: " CTRL},
    {"text: \"a\\ufeffb\"", "f:1:1: text: " CTRL},
    {"name: \"a\\u202eb\"", "f:1:1: name: " CTRL},
    {"name: \"a\\nb\"", "f:1:1: name: " CTRL},
    {"component: \"driver\\u200b\"", "f:1:1: component: " CTRL},
    {"version: \"580\\u200b.95.05\"", "f:1:1: version: " CTRL},
    {"version: \"580.95.05\\e[0m\"", "f:1:1: version: " CTRL},
    {"range: \">=580\\u202e\"", "f:1:1: range: " CTRL},
    {"date: \"2026-11-15\\u200b\"", "f:1:1: date: " CTRL},
    {"hosts: \"gpu1\\u200b\"", "f:1:1: hosts: " CTRL},
    {"url: \"https://a\\u202e\"", "f:1:1: url: " CTRL},
    {"credentials: \"file:/a\\u202e\"", "f:1:1: credentials: " SECRET},
    {"choice: \"node\\u200b\"", "f:1:1: choice: " CTRL},
    {"scalar: \"a\\u202e\"", "f:1:1: scalar: " CTRL},
    {"present: \"why\\e[1m\"", "f:1:1: present: " CTRL},
    {"remark: \"a\\u202eb\"", "f:1:1: remark: " CTRL},
    {"form: {need: \"\\u2067\"}", "f:1:8: form.need: " CTRL},
    {"name: Gold", "f:1:1: name: 'Gold'" NAMES},
    {"name: -a", "f:1:1: name: '-a'" NAMES},
    {"name: 'a b'", "f:1:1: name: 'a b'" NAMES},
    {"name: ' '", "f:1:1: name: expected a name, found an empty text"},
    {"name: a/b", "f:1:1: name: 'a/b'" NAMES},
    {"name: ../etc", "f:1:1: name: '../etc'" NAMES},
    {"name: \"\xd0\xb0\"", "f:1:1: name: '\xd0\xb0'" NAMES}, /* looks like an a */
    {"component: Driver", "f:1:1: component: 'Driver'" PARTS},
    {"component: software/driver", "f:1:1: component: 'software/driver'" PARTS},
    {"component: firmware/", "f:1:1: component: 'firmware/'" PARTS},
    {"component: firmware/a/b", "f:1:1: component: 'firmware/a/b'" PARTS},
    {"component: /nic", "f:1:1: component: '/nic'" PARTS},
    {"component: 7",
     "f:1:1: component: expected a component, found the number 7; put it in quotes"},
    {"name: 7", "f:1:1: name: expected a name, found the number 7; put it in quotes"},
    {"version: 5.15.0-91-generic", "f:1:1: version: a version needs quotes, or 12.10 would be "
                                   "read as 12.1: \"5.15.0-91-generic\""},
    {"version: 580", "f:1:1: version: expected a version, found the number 580; put it in quotes"},
    {"version: '580 581'", "f:1:1: version: '580 581' is not one version; ranges go under windows"},
    {"version: latest",
     "f:1:1: version: a version needs quotes, or 12.10 would be read as 12.1: \"latest\""},
    {"version: 'latest'", "f:1:1: version: 'latest' is not a version: a stack pins exact ones"},
    {"version: '>=580'", "f:1:1: version: '>=580' is not a version: a stack pins exact ones"},
    {"version: '*'", "f:1:1: version: '*' is not a version: a stack pins exact ones"},
    {"version: '^1.2'", "f:1:1: version: '^1.2' is not a version: a stack pins exact ones"},
    {"range: <581", "f:1:1: range: a range needs quotes, or 12.10 would be read as 12.1: \"<581\""},
    {"date: tomorrow", "f:1:1: date: 'tomorrow' is not a date such as \"2026-11-15\""},
    {"date: '2026-02-30'", "f:1:1: date: '2026-02-30' is not a date such as \"2026-11-15\""},
    {"sha256: sha256:00", "f:1:1: sha256: 'sha256:00'" DIGEST},
    {"sha256: x", "f:1:1: sha256: 'x'" DIGEST},
    {"sha256: sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
     "f:1:1: sha256: "
     "'sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855'" DIGEST},
    {"hex: abc", "f:1:1: hex: 'abc'" HEX},
    {"hex: ab", "f:1:1: hex: 'ab'" HEX},
    {"hex: abcde", "f:1:1: hex: 'abcde'" HEX},
    {"hex: abcdeabcde", "f:1:1: hex: 'abcdeabcde'" HEX},
    {"hash: abcd", "f:1:1: hash: 'abcd'" HASH},
    {"hash: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "f:1:1: hash: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'" HASH},
    {"hex: ABCD", "f:1:1: hex: 'ABCD'" HEX},
    {"hex: xy", "f:1:1: hex: 'xy'" HEX},
    {"hosts: gpu[3-1]", "f:1:1: hosts: character 5: the range runs backwards"},
    {"hosts: [gpu1, gpu2]", "f:1:1: hosts: expected a host list, found a list of 2"},
    {"url: http://bmc", "f:1:1: url: " URL},
    {"url: https://", "f:1:1: url: " URL},
    {"url: 'https://a b'", "f:1:1: url: " URL},
    {"url: https://a/?q", "f:1:1: url: " URL},
    {"url: 'https://a/#part'", "f:1:1: url: " URL},
    {"url: file:/etc/passwd", "f:1:1: url: " URL},
    {"url: HTTPS://a", "f:1:1: url: " URL},
    {"url: https://root:x@bmc",
     "f:1:1: url: a URL here carries no user or password; name them under credentials"},
    {"credentials: calvin", "f:1:1: credentials: " SECRET},
    {"credentials: file:relative", "f:1:1: credentials: " SECRET},
    {"credentials: 7", "f:1:1: credentials: " SECRET},
    {"credentials: 'exec:/usr/bin/vault-get bmc'", "f:1:1: credentials: " SECRET},
    {"credentials: ' file:/x'", "f:1:1: credentials: " SECRET},
    {"credentials: ''", "f:1:1: credentials: " SECRET},
    {"credentials: exec:vault-get", "f:1:1: credentials: " SECRET},
    {"credentials: env:BMC_PASSWORD", "f:1:1: credentials: " SECRET},
    {"credentials: {user: root}", "f:1:1: credentials: " SECRET},
    {"bool: 'true'", "f:1:1: bool: expected true or false, found 'true'; write it without quotes"},
    {"bool: 1", "f:1:1: bool: expected true or false, found the number 1"},
    {"number: 'x7'", "f:1:1: number: " NUMBER ", found 'x7'"},
    {"number: '7'", "f:1:1: number: " NUMBER ", found '7'; write 7, without quotes"},
    {"number: '0x7'", "f:1:1: number: " NUMBER ", found '0x7'; write 7, without quotes"},
    {"number: '0x7d78'", "f:1:1: number: " NUMBER ", found '0x7d78'"},
    {"number: \"a\\e[2Jb\"", "f:1:1: number: " NUMBER ", found 'a?[2Jb'"},
    {"number: true", "f:1:1: number: " NUMBER ", found true"},
    {"number: [7]", "f:1:1: number: " NUMBER ", found a list of 1"},
    {"number: -3", "f:1:1: number: -3 is not between -2 and 9"},
    {"number: 10", "f:1:1: number: 10 is not between -2 and 9"},
    {"choice: chasis", "f:1:1: choice: no such value 'chasis'; did you mean 'chassis'?"},
    {"choice: rack", "f:1:1: choice: no such value 'rack'; one of: node, chassis, domain"},
    {"choice: Node", "f:1:1: choice: no such value 'Node'; did you mean 'node'?"},
    {"choice: [node, domain]", "f:1:1: choice: exactly one value is allowed here, not a list of 2"},
    {"several: blue", "f:1:1: several: no such value 'blue'; one of: none, red, green"},
    {"several: []", "f:1:1: several: the list is empty; name at least one, or write 'none'"},
    {"several: [red, red]", "f:1:16: several[2]: 'red' is in the list twice"},
    {"several: [red, none]", "f:1:16: several[2]: 'none' cannot be in a list: remove it, "
                             "or write it instead of the list"},
    {"several: [[red]]", "f:1:11: several[1]: exactly one value is allowed here, not a list of 1"},
    {"choice: true", "f:1:1: choice: expected one of node, chassis, domain, found true"},
    {"scalar: [a]", "f:1:1: scalar: expected a single value, found a list of 1"},
    {"scalar: ''", "f:1:1: scalar: expected a single value, found an empty text"},
    {"list: a", "f:1:1: list: expected a list, found 'a'"},
    {"list: []", "f:1:1: list: at least 1 expected, found 0"},
    {"list: [a, b, c, d]", "f:1:1: list: at most 3 allowed, found 4"},
    {"list: [a, B]", "f:1:11: list[2]: 'B'" NAMES},
    {"list: [a,\n  ~]",
     "f:2:3: list[2]: nothing is written here; leave the key out or give it a value"},
    {"form: x", "f:1:1: form: expected inner as a map, found 'x'"},
    {"form: {}", "f:1:1: form: inner needs 'need': what it needs"},
    {"form: {need: x,\n  ned: z}", "f:2:3: form.ned: unknown key; did you mean 'need'?"},
    {"dict: []", "f:1:1: dict: expected a map, found a list of 0"},
    {"dict: {'': 1}", "f:1:8: dict.: " KEYS},
    {"dict: {\"a\\tb\": 1}", "f:1:8: dict.a?b: " KEYS},
    {"dict: {\"a\\u202eb\": 1}", "f:1:8: dict.a???b: " KEYS},
    {"dict: {\"a\\u200b\": 1}", "f:1:8: dict.a???: " KEYS},
    {"dict: {a: 1, b: 2, c: 3, d: 4}", "f:1:1: dict: at most 3 allowed, found 4"},
    {"dict: {HF_TOKEN: abc}", "f:1:8: dict.HF_TOKEN: " HIDDEN},
    {"dict: {'BMC Password': abc}", "f:1:8: dict.BMC Password: " HIDDEN},
    {"dict: {WANDB_API_KEY: abc}", "f:1:8: dict.WANDB_API_KEY: " HIDDEN},
    {"dict: {pw: ''}", "f:1:8: dict.pw: " HIDDEN},
    {"things: {A: 1}", "f:1:10: things.A:" NAMES},
    {"things: {a/b: 1}", "f:1:10: things.a/b:" NAMES},
    {"things: {'a b': 1}", "f:1:10: things.a b:" NAMES},
    {"things: {'': 1}", "f:1:10: things.:" NAMES},
    {"things: {\"a\\u200b\": 1}", "f:1:10: things.a???:" NAMES},
    {"things: {a: 1, b: 2, c: 3}", "f:1:1: things: at most 2 allowed, found 3"},
    {"ranges: {Driver: '>=1'}", "f:1:10: ranges.Driver:" PARTS},
    {"ranges: {firmware/NIC: '>=1'}", "f:1:10: ranges.firmware/NIC:" PARTS},
    {"ranges: {software/nccl: '>=1'}", "f:1:10: ranges.software/nccl:" PARTS},
    {"dict: {a: {}}", "f:1:8: dict.a: expected a single value, found a map"},
    {"txet: x", "f:1:1: txet: unknown key; did you mean 'text'?"},
    {"nmae: x", "f:1:1: nmae: unknown key; did you mean 'name'?"},
    {"Text: x", "f:1:1: Text: unknown key; did you mean 'text'?"},
    {"form: {zzzzzz: x}", "f:1:8: form.zzzzzz: unknown key; inner takes need, may, remark"},
    {"zzzzzz: x",
     "f:1:1: zzzzzz: unknown key; all takes text, name, component, version, range, date, sha256, "
     "hex, hash, hosts, url, credentials, bool, number, choice, several, scalar, list, set, form, "
     "loose, forms, dict, things, ranges, present, remark"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].text);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        CHECK_CODE(check(refused[i].text, &docs, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), refused[i].message);
    }
}

static const struct {
    const char *name;
    const char *before, *after;
    int longest; /* accepted; one more is not */
} lengths[] = {
    {"name", "name: ", "", 63},
    {"text", "text: ", "", 4096},
    {"version", "version: 'v", "'", 127},
    {"component", "component: ", "", 63},
    {"component of firmware", "component: firmware/", "", 63},
    {"key", "dict: {", ": 1}", 128},
    {"key that is a name", "things: {", ": 1}", 63},
    {"key that is a component", "ranges: {firmware/", ": '>=1'}", 63},
};

static void test_lengths(void)
{
    for (size_t i = 0; i < LKS_COUNT(lengths); i++) {
        for (int more = 0; more < 2; more++) {
            lks_test_case("%s, %d more", lengths[i].name, more);
            LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
            LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
            struct lks_err err = {0};
            lks_buf_add(&text, lks_str_from(lengths[i].before));
            lks_buf_pad(&text, 'a', lengths[i].longest + more);
            lks_buf_add(&text, lks_str_from(lengths[i].after));
            CHECK_CODE(check(text.ptr, &docs, &err), more > 0 ? LKS_E_INVALID : LKS_OK);
        }
    }
}

/* What is hashed of a document. */
static const struct {
    const char *name;
    const char *text;
    const char *identity;
} identities[] = {
    {"nothing", "{}", "{}"},
    {"notes are left out", "{remark: x, text: a}", "{\"text\":\"a\"}"},
    {"keys are sorted", "{text: a, hex: ffff, bool: false}",
     "{\"bool\":false,\"hex\":\"ffff\",\"text\":\"a\"}"},
    {"what absence says is left out", "{bool: true, choice: node}", "{}"},
    {"what absence does not say stays", "{bool: false, choice: domain}",
     "{\"bool\":false,\"choice\":\"domain\"}"},
    {"presence", "present: any words", "{\"present\":true}"},
    {"a set is sorted", "set: [b, 10, true, a, 9]", "{\"set\":[\"a\",\"b\",10,9,true]}"},
    {"a set holds each thing once", "set: [b, a, b, a, b]", "{\"set\":[\"a\",\"b\"]}"},
    {"a number and its text differ", "set: [7, '7']", "{\"set\":[\"7\",7]}"},
    {"a list keeps its order", "list: [c, a, b]", "{\"list\":[\"c\",\"a\",\"b\"]}"},
    {"a list keeps what is twice", "list: [a, a]", "{\"list\":[\"a\",\"a\"]}"},
    {"a list without elements stays", "set: []", "{\"set\":[]}"},
    {"a map without members says nothing", "{dict: {}, loose: {}}", "{}"},
    {"nor does a list without forms", "forms: []", "{}"},
    {"a form that says nothing is one", "forms: [{word: red}, {word: green}, {}]",
     "{\"forms\":[{\"word\":\"green\"},{}]}"},
    {"nor does one of defaults and notes", "loose: {word: red, remark: x}", "{}"},
    {"inside a form", "form: {need: x, may: false, remark: z}", "{\"form\":{\"need\":\"x\"}}"},
    {"a list of one is its word", "several: [green]", "{\"several\":\"green\"}"},
    {"one that stands alone", "several: none", "{}"},
    {"several", "several: [red, green]", "{\"several\":[\"green\",\"red\"]}"},
    {"a dict has no defaults", "dict: {choice: node}", "{\"dict\":{\"choice\":\"node\"}}"},
};

static void test_identity(void)
{
    for (size_t i = 0; i < LKS_COUNT(identities); i++) {
        lks_test_case("%s", identities[i].name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
        struct lks_err err = {0};
        if (!CHECK_CODE(check(identities[i].text, &docs, &err), LKS_OK))
            continue;
        CHECK_CODE(lks_schema_identity(docs.first, &all_form, &out, &err), LKS_OK);
        CHECK_STR(lks_buf_view(&out), identities[i].identity);
    }
}

static const struct {
    const char *name;
    const char *field;
    const char *left, *right; /* each a document that has the field or not */
    bool same;
} sames[] = {
    {"both absent", "text", "{}", "{}", true},
    {"equal", "text", "text: a", "text: 'a'", true},
    {"different", "text", "text: a", "text: b", false},
    {"one absent", "text", "text: a", "{}", false},
    {"default written", "choice", "choice: node", "{}", true},
    {"no default", "choice", "choice: domain", "{}", false},
    {"a list of one and its word", "several", "several: [red]", "several: red", true},
    {"several in another order", "several", "several: [red, green]", "several: [green, red]", true},
    {"several and none", "several", "several: [red, green]", "{}", false},
    {"order of a set", "set", "set: [1, 2]", "set: [2, 1]", true},
    {"order of a list", "list", "list: [a, b]", "list: [b, a]", false},
    {"note", "remark", "remark: a", "{}", true},
    {"words of a presence", "present", "present: a", "present: b", true},
    {"presence", "present", "present: a", "{}", false},
    {"nothing in a map", "dict", "dict: {}", "{}", true},
};

static void test_same(void)
{
    for (size_t i = 0; i < LKS_COUNT(sames); i++) {
        lks_test_case("%s", sames[i].name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs left = {0};
        LKS_CLEANUP(lks_docs_fini) struct lks_docs right = {0};
        struct lks_err err = {0};
        CHECK_CODE(check(sames[i].left, &left, &err), LKS_OK);
        CHECK_CODE(check(sames[i].right, &right, &err), LKS_OK);
        struct lks_field field = {0};
        if (!CHECK(lks_schema_field(&all_form, lks_str_from(sames[i].field), &field)))
            continue;
        bool same = !sames[i].same;
        CHECK_CODE(lks_schema_same(&field, lks_doc_member(left.first, field.key),
                                   lks_doc_member(right.first, field.key), &same, &err),
                   LKS_OK);
        CHECK_INT(same, sames[i].same);
    }
}

/* A member, or what its absence means. */
static const struct {
    const char *text;
    const char *key;
    const char *value;
} members[] = {
    {"choice: domain", "choice", "domain"},
    {"{}", "choice", "node"},
    {"text: a", "text", "a"},
    {"{}", "text", ""},
    {"{}", "bool", "true"},
};

static void test_members(void)
{
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        lks_test_case("%s of %s", members[i].key, members[i].text);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        CHECK_CODE(check(members[i].text, &docs, &err), LKS_OK);
        CHECK_STR(lks_schema_text(docs.first, &all_form, members[i].key), members[i].value);
    }
    lks_test_case("no map at all");
    CHECK_STR(lks_schema_text(NULL, &all_form, "choice"), "node");
    CHECK(lks_schema_truth(NULL, &all_form, "bool"));
    CHECK(!lks_schema_truth(NULL, &inner_form, "may"));

    lks_test_case("truth");
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    CHECK_CODE(check("{bool: false, form: {need: x, may: true}}", &docs, &err), LKS_OK);
    CHECK(!lks_schema_truth(docs.first, &all_form, "bool"));
    CHECK(lks_schema_truth(lks_doc_member(docs.first, "form"), &inner_form, "may"));
}

/* Decoding ---------------------------------------------------------------------------------- */

struct item {
    struct lks_str ref;
    int color;
};
static const struct lks_field item_fields[] = {
    {.key = "ref", .shape = LKS_OF(TEXT), .shape.to = {LKS_SLOT(item, ref)}, .about = "which"},
    {.key = "color",
     .shape = LKS_ONE_OF("red", "green"),
     .shape.to = {LKS_SLOT(item, color)},
     .about = "which"},
};
static const struct lks_form item_form = {
    .name = "item", .about = "an item", LKS_FIELDS(item_fields), .size = sizeof(struct item)};

struct request {
    struct lks_str text, digests;
    bool force;
    int open, word;
    uint64_t count, wave, time;
    struct lks_items items;
};
#define INTO(k, m, no, ...)                                                                        \
    {                                                                                              \
        .key = (k), .shape = __VA_ARGS__, .shape.to = {LKS_SLOT(request, m), .absent = (no)},      \
        .about = "a member"                                                                        \
    }
static const struct lks_field request_fields[] = {
    INTO("text", text, 0, LKS_OF(TEXT)),
    INTO("digests", digests, 0, LKS_LIST(LKS_OF(NAME))),
    INTO("force", force, 0, LKS_OF(BOOL)),
    INTO("open", open, 0, LKS_OF(BOOL)),
    INTO("word", word, 0, LKS_ONE_OF("node", "chassis", "domain")),
    INTO("count", count, 100, LKS_NUMBERS(1, 1000)),
    INTO("wave", wave, UINT64_MAX, LKS_NUMBERS(0, 1000)),
    INTO("time", time, 0, LKS_OF(TIME)),
    INTO("items", items, 0, LKS_LIST(LKS_FORM(item_form))),
    {"ignored", LKS_OF(TEXT), 0, NULL, "it is checked, and that is all"},
};
static const struct lks_form request_form = {.name = "request",
                                             .about = "a slot of every kind",
                                             LKS_FIELDS(request_fields),
                                             .size = sizeof(struct request)};

static void show_request(const struct request *r, char *out, size_t size)
{
    int len =
        snprintf(out, size,
                 "text=%" LKS_STR_FMT " digests=%" LKS_STR_FMT
                 " force=%d open=%d word=%d count=%llu wave=%lld time=%llu",
                 LKS_STR_ARG(r->text), LKS_STR_ARG(r->digests), r->force, r->open, r->word,
                 (unsigned long long)r->count, (long long)r->wave, (unsigned long long)r->time);
    const struct item *items = r->items.items;
    for (size_t i = 0; i < r->items.count; i++)
        len += snprintf(out + len, size - (size_t)len, " %" LKS_STR_FMT ":%d",
                        LKS_STR_ARG(items[i].ref), items[i].color);
}

#define NO_WORDS "force=0 open=-1 word=-1 "

static const struct {
    const char *name, *text, *shown;
} decoded[] = {
    {"all of it absent", "{}", "text= digests= " NO_WORDS "count=100 wave=-1 time=0"},
    {"texts", "{text: a b, digests: [p, q, r], ignored: s}",
     "text=a b digests=p q r " NO_WORDS "count=100 wave=-1 time=0"},
    {"a list of none", "digests: []", "text= digests= " NO_WORDS "count=100 wave=-1 time=0"},
    {"truths", "{force: true, open: false}",
     "text= digests= force=1 open=0 word=-1 count=100 wave=-1 time=0"},
    {"the other truths", "{force: false, open: true}",
     "text= digests= force=0 open=1 word=-1 count=100 wave=-1 time=0"},
    {"a word", "word: domain", "text= digests= force=0 open=-1 word=2 count=100 wave=-1 time=0"},
    {"numbers", "{count: 1000, wave: 0}", "text= digests= " NO_WORDS "count=1000 wave=0 time=0"},
    {"a moment", "time: '1970-01-01T00:00:01.250Z'",
     "text= digests= " NO_WORDS "count=100 wave=-1 time=1250"},
    {"forms", "items: [{ref: a, color: green}, {ref: b}]",
     "text= digests= " NO_WORDS "count=100 wave=-1 time=0 a:1 b:-1"},
};

static enum lks_code decode(const char *text, struct lks_docs *docs, const void **out,
                            struct lks_err *err)
{
    if (lks_docs_init(docs, "f", err) != LKS_OK ||
        lks_yaml_parse(lks_str_from(text), docs, err) != LKS_OK)
        return err->code;
    return lks_schema_decode(docs, docs->first, &request_form, out, err);
}

static void test_decode(void)
{
    for (size_t i = 0; i < LKS_COUNT(decoded); i++) {
        lks_test_case("%s", decoded[i].name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        char shown[512];
        const void *request = NULL;
        if (!CHECK_CODE(decode(decoded[i].text, &docs, &request, &err), LKS_OK))
            continue;
        show_request(request, shown, sizeof(shown));
        CHECK_STR(lks_str_from(shown), decoded[i].shown);
    }
    lks_test_case("what does not fit is not decoded");
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const void *request = &err;
    CHECK_CODE(decode("time: soon", &docs, &request, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "f:1:1: time: 'soon' is not a moment such as 2026-11-15T03:37:00Z");
    CHECK(request == NULL);
}

/* JSON Schema ------------------------------------------------------------------------------- */

static void check_names_all(const struct lks_doc *schema, const struct lks_form *form);

static void check_limits(const struct lks_doc *schema, const char *min, const char *max,
                         const struct lks_shape *shape)
{
    const struct lks_doc *least = lks_doc_member(schema, min), *most = lks_doc_member(schema, max);
    CHECK_INT(least != NULL ? least->number : 0, shape->min);
    CHECK_INT(most != NULL ? most->number : 0, shape->max);
}

static void check_shape(const struct lks_doc *schema, const struct lks_shape *shape);

static void check_dict(const struct lks_doc *schema, const struct lks_shape *shape)
{
    const char *pattern = shape->keys == LKS_TYPE_NAME ? "^[a-z0-9][a-z0-9._-]{0,62}$"
                          : shape->keys == LKS_TYPE_COMPONENT
                              ? "^(firmware/)?[a-z0-9][a-z0-9._-]{0,62}$"
                              : "^.{1,128}$";
    CHECK_STR(lks_doc_text(lks_doc_member(schema, "propertyNames"), "pattern"), pattern);
    check_limits(schema, "minProperties", "maxProperties", shape);
    CHECK(shape->max > 0); /* nothing that a manifest names goes on for ever */
    check_shape(lks_doc_member(schema, "additionalProperties"), shape->of);
}

/* A word, or a list of words without that which stands alone. */
static void check_several(const struct lks_doc *either, const struct lks_shape *shape)
{
    if (!CHECK(either != NULL && either->count == 2))
        return;
    const struct lks_doc *listed = lks_doc_member(lks_doc_member(either->last, "items"), "enum");
    CHECK_INT(lks_doc_member(either->first, "enum")->count, listed->count + (size_t)shape->min);
}

/* Every field inside `shape` is told by its schema. */
static void check_shape(const struct lks_doc *schema, const struct lks_shape *shape)
{
    if (shape->type == LKS_TYPE_FORM)
        check_names_all(schema, shape->form);
    else if (shape->type == LKS_TYPE_LIST)
        check_shape(lks_doc_member(schema, "items"), shape->of);
    else if (shape->type == LKS_TYPE_DICT)
        check_dict(schema, shape);
    else if (shape->type == LKS_TYPE_HEX)
        check_limits(schema, "minLength", "maxLength", shape);
    else if (shape->type == LKS_TYPE_CHOICE)
        CHECK(lks_doc_member(schema, "enum") != NULL);
    else if (shape->type == LKS_TYPE_SEVERAL)
        check_several(lks_doc_member(schema, "oneOf"), shape);
    else
        CHECK(lks_doc_member(schema, "type") != NULL);
}

static bool list_has(const struct lks_doc *list, const char *text)
{
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        if (lks_str_is(item->text, text))
            return true;
    }
    return false;
}

static void check_names_all(const struct lks_doc *schema, const struct lks_form *form)
{
    const struct lks_doc *properties = lks_doc_member(schema, "properties");
    const struct lks_doc *required = lks_doc_member(schema, "required");
    if (!CHECK(properties != NULL) || !CHECK(required != NULL))
        return;
    CHECK_INT(properties->count, form->count);
    for (size_t i = 0; i < form->count; i++) {
        const struct lks_field *field = &form->fields[i];
        lks_test_case("%s, %s", form->name, field->key);
        const struct lks_doc *property = lks_doc_member(properties, field->key);
        if (!CHECK(property != NULL))
            continue;
        CHECK_STR(lks_doc_text(property, "description"), field->about);
        CHECK((lks_doc_member(property, "default") != NULL) == (field->fallback != NULL));
        CHECK(list_has(required, field->key) == ((field->flags & LKS_FIELD_REQUIRED) != 0));
        check_shape(property, &field->shape);
    }
}

static void test_json(void)
{
    const struct lks_form *form = &all_form;
    for (size_t i = 0; form != NULL; form = lks_manifest_kind(i++)) {
        lks_test_case("%s", form->name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUT_MAX);
        struct lks_err err = {0};
        lks_schema_json(form, &out);
        CHECK_CODE(lks_buf_check(&out, &err), LKS_OK);
        CHECK_CODE(lks_docs_init(&docs, "schema", &err), LKS_OK);
        if (!CHECK_CODE(lks_json_parse(lks_buf_view(&out), &docs, &err), LKS_OK))
            continue;
        CHECK_STR(lks_doc_text(docs.first, "$schema"),
                  "https://json-schema.org/draft/2020-12/schema");
        CHECK_STR(lks_doc_text(docs.first, "title"), form->name);
        check_names_all(docs.first, form);
    }
}

/* Secrets ----------------------------------------------------------------------------------- */

#define PASSWORD "hunter2-Tr0ub4dor"
#define STACK(rest)                                                                                \
    "lockstep: 1\nkind: Stack\nname: s\nversion: '1'\nvendor: nvidia\nhardware: [l40s-pcie-8]\n"   \
    "components: {}\n" rest

/* A password where a reference or a place is expected. */
static const struct {
    const char *name;
    const char *bmc;
} leaks[] = {
    {"as it is", "url: 'https://b'\n      credentials: " PASSWORD},
    {"in quotes", "url: 'https://b'\n      credentials: '" PASSWORD "'"},
    {"with a user", "url: 'https://b'\n      credentials: 'root:" PASSWORD "'"},
    {"as a map", "url: 'https://b'\n      credentials: {password: " PASSWORD "}"},
    {"as a list", "url: 'https://b'\n      credentials: [root, " PASSWORD "]"},
    {"over two lines", "url: 'https://b'\n      credentials: \"file:/x\\n" PASSWORD "\""},
    {"without the slash", "url: 'https://b'\n      credentials: 'file:" PASSWORD "'"},
    {"in the url", "url: 'https://root:" PASSWORD "@b'\n      credentials: file:/x"},
    {"in a url without a scheme", "url: 'root:" PASSWORD "@b'\n      credentials: file:/x"},
    {"in a query", "url: 'http://b/?p=" PASSWORD "'\n      credentials: file:/x"},
    {"in a query of a good url", "url: 'https://b/?p=" PASSWORD "'\n      credentials: file:/x"},
    {"in a fragment", "url: 'https://b/#" PASSWORD "'\n      credentials: file:/x"},
    {"in braces", "url: 'https://b/{" PASSWORD "}'\n      credentials: file:/x"},
    {"behind a program", "url: 'https://b'\n      credentials: 'exec:/get " PASSWORD "'"},
    {"behind a character nobody sees",
     "url: 'https://b'\n      credentials: \"file:/x\\u200b" PASSWORD "\""},
    {"as trust", "url: 'https://b'\n      credentials: file:/x\n      trust: " PASSWORD},
    {"under a key of its own",
     "url: 'https://b'\n      credentials: file:/x\n      password: " PASSWORD},
    {"with a tag", "url: 'https://b'\n      credentials: !vault " PASSWORD},
    {"with an anchor", "url: 'https://b'\n      credentials: &x " PASSWORD},
};

static void test_secrets(void)
{
    for (size_t i = 0; i < LKS_COUNT(leaks); i++) {
        lks_test_case("%s", leaks[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        char text[1024];
        snprintf(text, sizeof(text),
                 "lockstep: 1\nkind: Fleet\nname: f\npools: {p: {posture: dev}}\n"
                 "nodes:\n  - hosts: g1\n    pool: p\n    class: hgx-h100-8\n    bmc:\n      %s\n",
                 leaks[i].bmc);
        CHECK_CODE(
            lks_manifest_parse("f.yaml", lks_str_from(text), lks_test_facts(), NULL, &m, &err),
            LKS_E_INVALID);
        struct lks_str message = lks_str_from(err.msg);
        CHECK(message.len > 0);
        CHECK(lks_str_find(message, LKS_STR("hunter2")) < 0);
        CHECK(lks_str_find(message, LKS_STR("Tr0ub4dor")) < 0);
    }
}

/* Secrets among what a stack lets everybody name, and in JSON that is none. */
static const char *const secret_texts[] = {
    STACK("tuning: {env: {HF_TOKEN: " PASSWORD "}}\n"),
    STACK("tuning: {env: {BMC_PASS: '" PASSWORD "'}}\n"),
    STACK("tuning: {env: {http_proxy_password: " PASSWORD "}}\n"),
    STACK("tuning: {env: {AWS_SECRET_ACCESS_KEY: " PASSWORD "}}\n"),
    STACK("settings: {bios: {'Admin Password': " PASSWORD "}}\n"),
    STACK("settings: {other: {wandb-api-key: " PASSWORD "}}\n"),
    STACK("settings: {nic: {options: {PRIVATE_KEY: " PASSWORD "}}}\n"),
    STACK("evidence: [{what: x, url: 'https://wiki/?token=" PASSWORD "'}]\n"),
    STACK("evidence: [{what: x, url: 'https://me:" PASSWORD "@wiki'}]\n"),
    "{\"lockstep\":1,\"tuning\":{\"env\":{\"HF_TOKEN\":\"" PASSWORD "\"",
    "{\"password\": " PASSWORD "}",
    "{\"password\": '" PASSWORD "'}",
    "{\"password\": \"" PASSWORD "\" \"" PASSWORD "\"}",
    "{\"password\": \"" PASSWORD "\\x\"}",
    "{\"password\": \"" PASSWORD "\n\"}",
    "{\"password\": \"" PASSWORD "\xff\"}",
    "{\"password\": \"" PASSWORD,
    "{\"" PASSWORD "\": 1, \"" PASSWORD "\": 2}",
    "{\"lockstep\":1} \"" PASSWORD "\"",
};

static void test_secret_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(secret_texts); i++) {
        lks_test_case("%s", secret_texts[i]);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_manifest_parse("s", lks_str_from(secret_texts[i]), lks_test_facts(), NULL,
                                      &m, &err),
                   LKS_E_INVALID);
        struct lks_str message = lks_str_from(err.msg);
        CHECK(message.len > 0);
        CHECK(lks_str_find(message, LKS_STR("hunter2")) < 0);
        CHECK(lks_str_find(message, LKS_STR("Tr0ub4dor")) < 0);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"schema: accepted", test_accepted},
        {"schema: refused", test_refused},
        {"schema: lengths", test_lengths},
        {"schema: identity", test_identity},
        {"schema: same", test_same},
        {"schema: members and what their absence means", test_members},
        {"schema: requests decode into structs", test_decode},
        {"schema: JSON Schema names everything", test_json},
        {"schema: secrets are not repeated", test_secrets},
        {"schema: nor are those in texts of all kinds", test_secret_texts},
        {0},
    });
}
