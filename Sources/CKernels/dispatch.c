// The choice of a body at run time.
#pragma STDC FP_CONTRACT OFF

#include "bodies.h"

const fs_kernels *fs_kernels_for(fs_body body) {
#if defined(__x86_64__)
  if (body == FS_AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? fs_avx512
               : NULL;
  if (body == FS_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? fs_avx2 : NULL;
#endif
  return body == FS_BASELINE ? fs_baseline : NULL;
}
