/* References of container images, as commands of users and of Slurm have them. */
#ifndef LKS_CODEC_IMAGE_H
#define LKS_CODEC_IMAGE_H

#include "base/str.h"

#define LKS_IMAGE_MAX 512 /* bytes; as admission takes them */

/* Whether an image can be passed on to PrologSlurmctld and asked about: printable bytes without
 * blanks and '=', which begins its ranks, and no option. */
bool lks_image_passes(struct lks_str ref);

#endif
