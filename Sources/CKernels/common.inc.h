// What every body's file begins with.
#pragma once
#pragma STDC FP_CONTRACT OFF

#include "CKernels.h"

// log(x) for finite x ≥ 1, in plain double arithmetic: x = m·2ᵉ with m in [√½, √2), and
// log m = 2·artanh((m-1)/(m+1)) by its series. NaN and infinity come back as they are.
static inline double fs_log(double x) {
  if (!(x <= 0x1p1000)) return x;
  int e = 0;
  while (x > 0x1.6a09e667f3bcdp+0) {
    x *= 0.5;
    e++;
  }
  double t = (x - 1) / (x + 1), u = t * t, sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * u;
  return e * 0x1.62e42fefa39efp-1 + (t * sum + t) * 2;
}
