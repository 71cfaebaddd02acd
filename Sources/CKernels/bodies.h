// The tables that fs_kernels_for chooses from.
#pragma once
#include "CKernels.h"

extern const fs_kernels *const fs_baseline;
#if defined(__x86_64__)
extern const fs_kernels *const fs_avx2;
extern const fs_kernels *const fs_avx512;
#endif
