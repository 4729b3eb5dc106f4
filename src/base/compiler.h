/* What every file may use without asking: attributes with shorter names, and the few macros that
 * make ownership and impossible states visible. */
#ifndef LKS_BASE_COMPILER_H
#define LKS_BASE_COMPILER_H

#include <stddef.h>
#include <string.h>

#define LKS_MUST_CHECK       __attribute__((warn_unused_result))
#define LKS_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define LKS_CLEANUP(fini)    __attribute__((cleanup(fini)))

#define LKS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A list of strings that ends with NULL, where a table or a call wants one. */
#define LKS_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Hand the value of `lvalue` over and leave zeroes behind. Zero is the empty state of every type
 * here, so the cleanup that later runs on the variable finds nothing to release. */
#define LKS_MOVE(lvalue)                                                                           \
    __extension__({                                                                                \
        __typeof__(lvalue) lks_taken_ = (lvalue);                                                  \
        memset(&(lvalue), 0, sizeof(lvalue));                                                      \
        lks_taken_;                                                                                \
    })

/* For mistakes of ours, never for bad input. Release builds keep it: a program that changes
 * firmware had better stop than go on from an impossible state. */
#define LKS_ASSERT(cond) ((cond) ? (void)0 : lks_assert_failed(#cond, __FILE__, __LINE__))

_Noreturn void lks_assert_failed(const char *cond, const char *file, int line);

#endif
