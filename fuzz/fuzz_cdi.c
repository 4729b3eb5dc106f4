/* Any bytes as a CDI specification: what is accepted has a kind that prints, and versions that are
 * all different and stand in it behind the name of a library. */
#include "codec/package/cdi.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    struct lks_cdi cdi = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_cdi_parse(text, &cdi, &err);
    LKS_ASSERT((code == LKS_OK) == (err.code == LKS_OK));
    LKS_ASSERT(code == LKS_OK || (err.msg[0] != '\0' && cdi.count == 0));
    if (code != LKS_OK)
        return 0;
    LKS_ASSERT(cdi.count <= LKS_CDI_VERSIONS_MAX);
    LKS_ASSERT(cdi.kind[0] != '\0' && lks_str_printable(lks_str_from(cdi.kind)));
    for (size_t i = 0; i < cdi.count; i++) {
        LKS_ASSERT(strspn(cdi.versions[i], "0123456789.") == strlen(cdi.versions[i]));
        LKS_ASSERT(strchr(cdi.versions[i], '.') != NULL);
        for (size_t j = 0; j < i; j++)
            LKS_ASSERT(strcmp(cdi.versions[i], cdi.versions[j]) != 0);
    }
    return 0;
}
