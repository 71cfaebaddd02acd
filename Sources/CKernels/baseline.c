// The baseline body: any processor with vectors of four floats (SSE2, NEON) or none at all.
#pragma STDC FP_CONTRACT OFF

#include "common.inc.h"
#include "bodies.h"

#define BODY(name) fs_baseline_##name
#define VL 4
#define ROWS 4

typedef float V __attribute__((vector_size(16)));
typedef int32_t VI __attribute__((vector_size(16)));
typedef float VU __attribute__((vector_size(16), aligned(4)));
typedef double D __attribute__((vector_size(32)));
typedef uint64_t DI __attribute__((vector_size(32)));

static inline V v_load(const float *p) { return *(const VU *)p; }
static inline void v_store(float *p, V v) { *(VU *)p = v; }
static inline V v_set(float x) { return (V){x, x, x, x}; }

static inline V v_load_first(const float *p, int n) {
  if (n == 4) return v_load(p);
  return (V){p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
}

static inline void v_store_first(float *p, V v, int n) {
  for (int i = 0; i < n; i++) p[i] = v[i];
}

static inline V v_bytes_to_floats(const uint8_t *p) {
  return (V){p[0], p[1], p[2], p[3]} / v_set(255);
}

// Fused multiply-add in software. The product of two floats is exact in double. Its sum with c is
// rounded to odd: rounded to nearest, then, where it was inexact (two-sum gives the error),
// replaced by the odd one of its two neighbours that enclose the true value. Rounding that to float
// is then the same as rounding the true value once, since double has more than two bits to spare
// (Boldo and Melquiond 2008).
static inline __attribute__((always_inline)) V v_fma(V a, V b, V c) {
#if defined(__aarch64__)
  return __builtin_elementwise_fma(a, b, c);
#else
  D product = __builtin_convertvector(a, D) * __builtin_convertvector(b, D);
  D addend = __builtin_convertvector(c, D);
  D sum = product + addend;
  D part = sum - product;
  D error = (product - (sum - part)) + (addend - part);
  DI inexact = (DI)((error < 0) | (error > 0));  // False for the NaN of an infinite sum.
  DI inwards = (((DI)sum ^ (DI)error) >> 63) & inexact;
  return __builtin_convertvector((D)(((DI)sum - inwards) | (inexact & 1)), V);
#endif
}

#include "body.inc.h"

const fs_kernels *const fs_baseline = &fs_baseline_table;
