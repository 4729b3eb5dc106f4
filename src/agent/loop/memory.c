#include "agent/loop/memory.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Segments that are never written hold nothing but what is in their file; relocations are made in
 * those that are. The kernel's own page of code is no file. */
static int give_back(struct dl_phdr_info *info, size_t size, void *page_size)
{
    (void)size;
    if (strncmp(info->dlpi_name, "linux-", 6) == 0)
        return 0;
    uintptr_t page = *(const uintptr_t *)page_size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0)
            continue;
        uintptr_t from = (uintptr_t)(info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t to = (uintptr_t)(info->dlpi_addr + segment->p_vaddr + segment->p_filesz);
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of ours, as the loader tells it */
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void lks_agent_memory_trim(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)dl_iterate_phdr(give_back, &page);
}
