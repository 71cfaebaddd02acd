// The body for x86-64 processors with AVX-512F, BW and VL.
#pragma STDC FP_CONTRACT OFF

#if defined(__x86_64__)
#include <immintrin.h>

#include "bodies.h"
#include "common.inc.h"

// With VL, vectors narrower than 512 bits have all 32 registers too.
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx2,fma"))), \
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

// Two floats, eight times each.
static inline V v_pair(const float *p) {
  const __m512i halves = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  __m128 two = _mm_castpd_ps(_mm_load_sd((const double *)p));
  return _mm512_permutexvar_ps(halves, _mm512_broadcast_f32x4(two));
}

// Eight floats from each of two places.
static inline V v_join(const float *first, const float *second) {
  __m512d lower = _mm512_castpd256_pd512(_mm256_castps_pd(_mm256_loadu_ps(first)));
  return _mm512_castpd_ps(
      _mm512_insertf64x4(lower, _mm256_castps_pd(_mm256_loadu_ps(second)), 1));
}

// b/255 = 257·b/65535. Two copies of b side by side are 257·b, and 2⁻¹⁶ + 2⁻³² is 1/65535 less 2⁻³²
// of it. The binary digits of b/255 repeat after eight, so what follows the first 24 of them is
// above half a unit, or nothing: b/255 is correctly rounded upwards. So is the product, which falls
// short of it by at most 2⁻⁸ units.
static inline V v_bytes_to_floats(const uint8_t *p) {
  const __m512i twice = _mm512_set_epi32(
      0x80800f0f, 0x80800e0e, 0x80800d0d, 0x80800c0c, 0x80800b0b, 0x80800a0a, 0x80800909,
      0x80800808, 0x80800707, 0x80800606, 0x80800505, 0x80800404, 0x80800303, 0x80800202,
      0x80800101, 0x80800000);
  __m512i bytes = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
  return _mm512_mul_round_ps(_mm512_cvtepi32_ps(_mm512_shuffle_epi8(bytes, twice)),
                             v_set(0x1.0001p-16f), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

#include "body.inc.h"

#pragma clang attribute pop

const fs_kernels *const fs_avx512 = &fs_avx512_table;
#endif
