// The choice of a body at run time.
#pragma STDC FP_CONTRACT OFF

#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif

#include "bodies.h"

void fs_prefer_large_pages(void *start, ptrdiff_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const ptrdiff_t page = 1 << 21;
  char *first = (char *)(((ptrdiff_t)start + page - 1) / page * page);
  char *end = (char *)(((ptrdiff_t)start + bytes) / page * page);
  if (end > first) (void)madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
#else
  (void)start;
  (void)bytes;
#endif
}

const fs_kernels *fs_kernels_for(fs_body body) {
#if defined(__x86_64__)
  if (body == FS_AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") &&
                   __builtin_cpu_supports("fma")
               ? fs_avx512
               : NULL;
  if (body == FS_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? fs_avx2 : NULL;
#endif
  return body == FS_BASELINE ? fs_baseline : NULL;
}
