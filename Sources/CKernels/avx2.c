// The body for x86-64 processors with AVX2 and FMA.
#pragma STDC FP_CONTRACT OFF

#if defined(__x86_64__)
#include <immintrin.h>

#include "bodies.h"
#include "common.inc.h"

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)

#define BODY(name) fs_avx2_##name
#define VL 8
#define ROWS 6

typedef __m256 V;
typedef int32_t VI __attribute__((vector_size(32)));

static inline __m256i first(int n) {
  static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i *)(ones + 8 - n));
}

static inline V v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, V v) { _mm256_storeu_ps(p, v); }
static inline V v_set(float x) { return _mm256_set1_ps(x); }
static inline V v_load_first(const float *p, int n) { return _mm256_maskload_ps(p, first(n)); }
static inline void v_store_first(float *p, V v, int n) { _mm256_maskstore_ps(p, first(n), v); }
static inline V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }

// 1/255 in two parts gives b/255 correctly rounded for all 256 values of b.
static inline V v_bytes_to_floats(const uint8_t *p) {
  V b = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
  return v_fma(b, v_set(1.0f / 255), b * v_set((float)(1.0 / 255 - (double)(1.0f / 255))));
}

#include "body.inc.h"

#pragma clang attribute pop

const fs_kernels *const fs_avx2 = &fs_avx2_table;
#endif
