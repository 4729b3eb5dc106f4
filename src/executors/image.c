/* The image of the whole machine: the site's hook has it written, and the machine boots into it.
 * The rollback is the image before, by the same hook. */
#include "executors/programs.h"

int main(int argc, char **argv)
{
    return lks_executor_main(argc, argv, LKS_ORDER_IMAGE, lks_program_hook_run);
}
