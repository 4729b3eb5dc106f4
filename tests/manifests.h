/* Stack manifests that tests embed: the head, and the pins that many of them share. Each is a
 * string literal and so are the arguments, so that they also stand in tables and, with "%s", in
 * formats. */
#ifndef LKS_TESTS_MANIFESTS_H
#define LKS_TESTS_MANIFESTS_H

#define LKS_STACK(name, vendor, hardware, components)                                              \
    "lockstep: 1\nkind: Stack\nname: " name "\nversion: '1'\nvendor: " vendor                      \
    "\nhardware: [" hardware "]\ncomponents:\n" components

#define LKS_STACK_KERNEL "6.8.0-71-generic"

/* A whole stack for boards with NVSwitches. `more`: other components, then firmware, settings. */
#define LKS_STACK_HGX_OF(name, hardware, kernel, driver, nccl, toolkit, more)                      \
    LKS_STACK(                                                                                     \
        name, "nvidia", hardware,                                                                  \
        "  kernel: {version: '" kernel "'}\n  driver: {version: '" driver "', modules: open}\n"    \
        "  fabric-manager: {version: '" driver "'}\n  cuda: {version: '13.0.2', owner: image}\n"   \
        "  nccl: {version: '" nccl "', owner: image}\n"                                            \
        "  container-toolkit: {version: '" toolkit "'}\n" more)
#define LKS_STACK_HGX(name, hardware, driver, more)                                                \
    LKS_STACK_HGX_OF(name, hardware, LKS_STACK_KERNEL, driver, "2.28.9", "1.19.1", more)

/* The components that a stack of NVIDIA needs besides its driver. */
#define LKS_STACK_REST                                                                             \
    "  kernel: {version: '6.8.0'}\n  cuda: {version: '13.0'}\n  nccl: {version: '2.27.7'}\n"       \
    "  container-toolkit: {version: '1.18.0'}\n"

/* All components that a stack of NVIDIA needs, left out on purpose. */
#define LKS_STACK_ABSENT                                                                           \
    "  kernel: {absent: x}\n  driver: {absent: x}\n  cuda: {absent: x}\n  nccl: {absent: x}\n"     \
    "  container-toolkit: {absent: x}\n"

#endif
