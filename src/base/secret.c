#include "base/secret.h"

#include "base/compiler.h"

bool lks_secret_key(struct lks_str key)
{
    static const char *const words[] = {"passw",       "passphrase", "pwd",     "secret",
                                        "token",       "apikey",     "api_key", "api-key",
                                        "private_key", "credential", "bmc_pass"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        struct lks_str word = lks_str_from(words[i]);
        for (size_t at = 0; at + word.len <= key.len; at++) {
            if (lks_str_eq_nocase((struct lks_str){key.ptr + at, word.len}, word))
                return true;
        }
    }
    return lks_str_eq_nocase(key, LKS_STR("pw")) || lks_str_eq_nocase(key, LKS_STR("pass"));
}
