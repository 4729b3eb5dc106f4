/* The body of a request as it is sent: what is in memory, with a range of a stored file in it that
 * is only sent to its end if it is the file that was meant. For the files http_curl*.c. */
#ifndef LKS_DRIVERS_HTTP_CURL_BODY_H
#define LKS_DRIVERS_HTTP_CURL_BODY_H

#include "port/http.h"

#include <openssl/evp.h>

struct lks_curl_body {
    const struct lks_http_request *request; /* borrowed */
    uint64_t at;                            /* bytes that were given */
    int fd;                                 /* owned; -1: none */
    EVP_MD_CTX *hash;                       /* owned; NULL: it was checked beforehand */
};

/* `fd` is taken over; -1 where the request has no file. Reads a file of which only a part is sent
 * as a whole, to check it. */
enum lks_code lks_curl_body_init(struct lks_curl_body *b, const struct lks_http_request *request,
                                 int fd, struct lks_err *err) LKS_MUST_CHECK;
void lks_curl_body_fini(struct lks_curl_body *b);

/* The next bytes, up to `size`; 0 at the end. INVALID, and the last bytes of the file are not
 * given, where the file is another one. */
enum lks_code lks_curl_body_read(struct lks_curl_body *b, char *out, size_t size, size_t *got,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
