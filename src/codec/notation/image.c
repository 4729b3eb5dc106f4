#include "codec/notation/image.h"

#include <string.h>

bool lks_image_passes(struct lks_str ref)
{
    return ref.len > 0 && memchr(ref.ptr, ' ', ref.len) == NULL && ref.len <= LKS_IMAGE_MAX &&
           lks_str_printable(ref) && ref.ptr[0] != '-' && memchr(ref.ptr, '=', ref.len) == NULL;
}
