// Weighted sums in double; a part of body.inc.h.

typedef double BODY(doubles) __attribute__((vector_size(8 * VL), aligned(8)));

enum { BODY(SOON) = 512 };  // Floats between what is added and what is asked for.

// Some vectors of sums in registers, through all terms; several also ask for what comes soon.
INLINE void BODY(add_terms)(const int vectors, const int differs, ptrdiff_t at, ptrdiff_t terms,
                            const double *weight, const float *const *x,
                            const float *const *base, double *sum) {
  BODY(doubles) s[4];
#pragma clang loop unroll(full)
  for (int v = 0; v < vectors; v++) s[v] = *(const BODY(doubles) *)(sum + at + v * VL);
  for (ptrdiff_t t = 0; t < terms; t++) {
    const float *from = x[t] + at;
    if (vectors > 1)
#pragma clang loop unroll(full)
      for (int line = 0; line < vectors * VL; line += 16)
        __builtin_prefetch(from + BODY(SOON) + line);
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      BODY(doubles) value = __builtin_convertvector(v_load(from + v * VL), BODY(doubles));
      if (differs)
        value -= __builtin_convertvector(v_load(base[t] + at + v * VL), BODY(doubles));
      s[v] += value * weight[t];
    }
  }
#pragma clang loop unroll(full)
  for (int v = 0; v < vectors; v++) *(BODY(doubles) *)(sum + at + v * VL) = s[v];
}

INLINE void BODY(add_all)(const int differs, ptrdiff_t count, ptrdiff_t terms,
                          const double *weight, const float *const *x, const float *const *base,
                          double *sum) {
  ptrdiff_t i = 0;
  for (; i + 4 * VL <= count; i += 4 * VL)
    BODY(add_terms)(4, differs, i, terms, weight, x, base, sum);
  for (; i + VL <= count; i += VL) BODY(add_terms)(1, differs, i, terms, weight, x, base, sum);
  for (; i < count; i++)
    for (ptrdiff_t t = 0; t < terms; t++) {
      double value = (double)x[t][i];
      if (differs) value -= (double)base[t][i];
      sum[i] += weight[t] * value;
    }
}

static void BODY(accumulate)(ptrdiff_t count, ptrdiff_t terms, const double *weight,
                             const float *const *x, const float *const *base, double *sum) {
  if (base)
    BODY(add_all)(1, count, terms, weight, x, base, sum);
  else
    BODY(add_all)(0, count, terms, weight, x, base, sum);
}
