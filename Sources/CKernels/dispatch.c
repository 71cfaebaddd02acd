// The choice of a body at run time.
#pragma STDC FP_CONTRACT OFF

#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif

#include "bodies.h"

#if defined(__linux__) && defined(MADV_HUGEPAGE)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // From Linux 6.1 on; others refuse it.
#endif

// The whole large pages that lie within some memory.
static ptrdiff_t large_pages(const void *start, ptrdiff_t bytes, void **first) {
  const ptrdiff_t page = 1 << 21;
  ptrdiff_t from = ((ptrdiff_t)start + page - 1) / page * page;
  *first = (void *)from;
  return ((ptrdiff_t)start + bytes) / page * page - from;
}

void fs_prefer_large_pages(void *start, ptrdiff_t bytes) {
  void *first;
  ptrdiff_t whole = large_pages(start, bytes, &first);
  if (whole > 0) (void)madvise(first, (size_t)whole, MADV_HUGEPAGE);
}

void fs_make_pages_large(const void *start, ptrdiff_t bytes) {
  void *first;
  ptrdiff_t whole = large_pages(start, bytes, &first);
  if (whole > 0) (void)madvise(first, (size_t)whole, MADV_COLLAPSE);
}
#else
void fs_prefer_large_pages(void *start, ptrdiff_t bytes) {
  (void)start;
  (void)bytes;
}

void fs_make_pages_large(const void *start, ptrdiff_t bytes) {
  (void)start;
  (void)bytes;
}
#endif

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
