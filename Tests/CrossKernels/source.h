// Numbers for the digests: made of bits alone, so that no arithmetic of the machine is in them.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "CKernels.h"

enum { GUARD = 3, ARENA = 1 << 20 };

static uint64_t state, digest;
static int infinities;
static float arena[ARENA];
static size_t used;

// SplitMix64. Whoever draws several numbers does it in statements or declarators of their own: in
// braces and among arguments C leaves their order to the compiler.
static uint64_t next(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static ptrdiff_t below(ptrdiff_t bound) { return (ptrdiff_t)((next() >> 11) % (uint64_t)bound); }

// A number of elements: often 0, 1 or near a multiple of a vector's length, up to 70.
static ptrdiff_t count(void) {
  switch (below(8)) {
    case 0: return below(2);
    case 1: return 16 * (1 + below(4)) - 1 + below(3);
    default: return below(71);
  }
}

static float from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// A float of any sign whose exponent field is from `first` on, one of `exponents`.
static float number(int first, int exponents) {
  uint32_t exponent = (uint32_t)(first + below(exponents)), rest = (uint32_t)next() & 0x807fffffu;
  return from_bits(rest | exponent << 23);
}

// Mostly ordinary, with zeros, denormals and huge values among them, infinities perhaps.
static float any(void) {
  switch (below(infinities ? 16 : 15)) {
    case 0: return from_bits(0);
    case 1: return from_bits(0x80000000u);
    case 2: return number(0, 1);
    case 3: return number(45, 10);
    case 4: return number(180, 10);
    case 15: return from_bits(below(2) ? 0x7f800000u : 0xff800000u);
    default: return number(117, 10);
  }
}

// Between 2⁻¹⁰ and 1.
static float share(void) {
  float x = number(117, 10);
  return x < 0 ? -x : x;
}

// Memory for n floats with the same few behind the end.
static float *room(ptrdiff_t n) {
  float *p = arena + used;
  used += (size_t)n + GUARD;
  if (used > ARENA) abort();
  for (ptrdiff_t i = 0; i < n + GUARD; i++) p[i] = 9;
  return p;
}

static float *floats(ptrdiff_t n) {
  float *p = room(n);
  for (ptrdiff_t i = 0; i < n; i++) p[i] = any();
  return p;
}

static float *perhaps(ptrdiff_t n) {
  float *p = floats(n);
  return below(2) ? p : NULL;
}

static double *doubles(ptrdiff_t n) {
  static double kept[256];
  for (ptrdiff_t i = 0; i < n + GUARD; i++) {  // A float's value with a double's bits.
    double wide = any();
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    if (bits << 1 && (bits >> 52 & 0x7ff) != 0x7ff) bits |= next() & 0x1fffffff;
    memcpy(&kept[i], &bits, sizeof bits);
  }
  return kept;
}

static int32_t *labels(ptrdiff_t rows, ptrdiff_t classes) {
  static int32_t kept[64];
  for (ptrdiff_t i = 0; i < rows; i++) kept[i] = (int32_t)below(classes);
  return kept;
}

// FNV-1a over 64-bit words.
static void add(uint64_t word) { digest = (digest ^ word) * 0x100000001B3u ^ word >> 32; }

// n floats and what stands behind them; all NaNs count as equal.
static void add_floats(const float *p, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n + GUARD; i++) {
    uint32_t bits;
    memcpy(&bits, p + i, sizeof bits);
    add((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits);
  }
}

static void add_doubles(const double *p, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, p + i, sizeof bits);
    add(bits << 1 > 0xffe0000000000000u ? 0x7ff8000000000000u : bits);
  }
}
