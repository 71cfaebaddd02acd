// The body for x86-64 processors with AVX-512F and VL.
#pragma STDC FP_CONTRACT OFF

#if defined(__x86_64__)
#include <immintrin.h>

#include "bodies.h"
#include "common.inc.h"

// With VL, vectors narrower than 512 bits have all 32 registers too.
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx2,fma"))), \
                             apply_to = function)

#define BODY(name) fs_avx512_##name
#define VL 16
#define ROWS 14

typedef __m512 V;
typedef int32_t VI __attribute__((vector_size(64)));

static inline __mmask16 first(int n) { return (__mmask16)(0xffffu >> (16 - n)); }
static inline V v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, V v) { _mm512_storeu_ps(p, v); }
static inline V v_set(float x) { return _mm512_set1_ps(x); }
static inline V v_load_first(const float *p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
static inline void v_store_first(float *p, V v, int n) { _mm512_mask_storeu_ps(p, first(n), v); }
static inline V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }

// One multiplication and two fused steps give b/255 correctly rounded for all 256 values of b.
static inline V v_bytes_to_floats(const uint8_t *p) {
  V b = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
  V inverse = v_set(1.0f / 255), quotient = b * inverse;
  return v_fma(v_fma(-quotient, v_set(255), b), inverse, quotient);
}

#include "body.inc.h"

#pragma clang attribute pop

const fs_kernels *const fs_avx512 = &fs_avx512_table;
#endif
