/* What only the site knows how to do: its hook is given the order and the files, and says whether
 * it is done. What came of it is read when the machine is. */
#include "executors/programs.h"

int main(int argc, char **argv)
{
    return lks_executor_main(argc, argv, LKS_ORDER_HOOK, lks_program_hook_run);
}
