// What every body's file begins with.
#pragma once
#pragma STDC FP_CONTRACT OFF

#include "CKernels.h"

// log(x) for finite x ≥ 1, in plain double arithmetic: x = m·2ᵉ with m in (√½, √2], and
// log m = 2·artanh((m-1)/(m+1)) by its series. Without branches, so that loops become vectors.
// NaN and infinity come back as they are.
static inline __attribute__((always_inline)) double fs_log(double x) {
  union {
    double value;
    int64_t bits;
  } m = {x}, whole = {0x1p52};
  int64_t e = m.bits >> 52;  // x is positive; its exponent is biased by 1023.
  m.bits = (m.bits & 0xfffffffffffff) | 0x3ff0000000000000;
  int64_t above = m.value > 0x1.6a09e667f3bcdp+0;
  m.bits -= above << 52;
  whole.bits |= e + above;  // 2⁵² + the exponent, as a double.
  double exponent = whole.value - (0x1p52 + 1023);
  double t = (m.value - 1) / (m.value + 1), u = t * t, sum = 0;
#pragma clang loop unroll(full)
  for (int n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * u;
  double log = exponent * 0x1.62e42fefa39efp-1 + (t * sum + t) * 2;
  return x <= 0x1p1000 ? log : x;
}
