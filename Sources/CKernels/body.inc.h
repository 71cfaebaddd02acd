// The kernels' one source, included once a body. The includer defines the vector type `V` of `VL`
// floats, its integer twin `VI`, BODY(name), ROWS (tile height of gemm), and these functions:
// `v_load`, `v_store` (any alignment), `v_load_first`, `v_store_first` (the first n lanes,
// 1 ≤ n ≤ VL; the others read as 0), `v_set` (broadcast), `v_fma`, `v_bytes_to_floats` (b/255 of
// VL bytes); with VL = 16 also `v_pair` (two floats, eight times each) and `v_join` (eight floats
// from each of two places).

#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

#include "tile.inc.h"
#if VL == 16
#include "few.inc.h"
#endif
#include "dots.inc.h"

#include "copies.inc.h"

enum { BODY(FAR) = 32 };  // Rows between what is used and what is asked for.

static void BODY(gemm)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       ptrdiff_t a_column, const float *b, ptrdiff_t b_row, const float *start,
                       ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  if (m <= 0 || n <= 0) return;
#if VL == 16
  if (a_row == 1 && k > 0 && k <= FEW) {
    BODY(few_terms)(k, n, m, a, a_column, b, b_row, start, start_row, c, c_row);
    return;
  }
#endif
  BODY(cut) cut = BODY(cut_rows)(m);
  if (BODY(wants_copies)(cut, k, a_row, a_column, b_row)) {
    BODY(gemm_by_copies)(cut, n, k, a, a_row, a_column, b, b_row, start, start_row, c, c_row);
    return;
  }
  // Rows of b that lie far apart are asked for some rows ahead: they come from another cache, and
  // processors foresee no such walk.
  const int is_far = a_row != 1 && b_row >= 4 * VL;
  for (ptrdiff_t j = 0; j < n; j += 2 * VL) {
    const float *from = start ? start + j : NULL;
    const float *next = is_far ? b + j + BODY(FAR) * b_row : NULL;
    BODY(panel)(cut, n - j, next, b_row, 1, k, a, a_row, a_column, 0, b + j, b_row, from, start_row,
                c + j, c_row);
  }
}

#include "transpose.inc.h"

// Element by element; the compiler makes vectors of these loops, which cannot change a bit.

INLINE V BODY(v_where)(VI mask, V value) { return (V)(mask & (VI)value); }
INLINE V BODY(v_select)(VI mask, V yes, V no) { return (V)((mask & (VI)yes) | (~mask & (VI)no)); }

static void BODY(relu)(ptrdiff_t count, const float *in, float *out) {
  ptrdiff_t i = 0;
  for (; i + VL <= count; i += VL) {
    V x = v_load(in + i);
    v_store(out + i, BODY(v_where)(x > v_set(0), x));
  }
  for (; i < count; i++) out[i] = in[i] > 0 ? in[i] : 0;
}

static void BODY(relu_backward)(ptrdiff_t count, const float *activation, float *delta) {
  ptrdiff_t i = 0;
  for (; i + VL <= count; i += VL)
    v_store(delta + i, BODY(v_where)(v_load(activation + i) > v_set(0), v_load(delta + i)));
  for (; i < count; i++) delta[i] = activation[i] > 0 ? delta[i] : 0;
}

enum { BODY(BLOCK) = 64 };  // Rows that are added before their sum joins that of the others.

static void BODY(add_rows)(ptrdiff_t rows, ptrdiff_t columns, const float *delta,
                           ptrdiff_t delta_row, const float *start, float *out) {
  for (ptrdiff_t j = 0; j < columns; j += VL) {
    const ptrdiff_t left = columns - j;
    const int is_whole = left >= VL;
    V total = v_set(0);
    for (ptrdiff_t first = 0; first < rows; first += BODY(BLOCK)) {
      const ptrdiff_t end = first + BODY(BLOCK) < rows ? first + BODY(BLOCK) : rows;
      const float *row = delta + first * delta_row + j;
      V sum = v_set(0);
      for (ptrdiff_t i = first; i < end; i++, row += delta_row)
        sum += is_whole ? v_load(row) : v_load_first(row, (int)left);
      total += sum;
    }
    if (is_whole)
      v_store(out + j, start ? v_load(start + j) + total : total);
    else
      v_store_first(out + j, start ? v_load_first(start + j, (int)left) + total : total, (int)left);
  }
}

static void BODY(bytes_to_floats)(ptrdiff_t count, const uint8_t *in, float *out) {
  ptrdiff_t i = 0;
  for (; i + VL <= count; i += VL) v_store(out + i, v_bytes_to_floats(in + i));
  for (; i < count; i++) out[i] = (float)in[i] / 255.0f;
}

#include "sums.inc.h"

static void BODY(round_sum)(ptrdiff_t count, const double *restrict sum, float *restrict out) {
  for (ptrdiff_t i = 0; i < count; i++) out[i] = (float)sum[i];
}

static void BODY(round_step)(ptrdiff_t count, const float *now, double rate,
                             const double *restrict sum, float *out) {
  for (ptrdiff_t i = 0; i < count; i++) out[i] = (float)((double)now[i] + rate * sum[i]);
}

static void BODY(fma)(ptrdiff_t count, const float *a, const float *b, const float *c,
                      float *out) {
  for (ptrdiff_t i = 0; i < count; i += VL) {
    int n = count - i < VL ? (int)(count - i) : VL;
    V sum = v_fma(v_load_first(a + i, n), v_load_first(b + i, n), v_load_first(c + i, n));
    v_store_first(out + i, sum, n);
  }
}

// exp(x), x ≤ 0: x = n·ln 2 + r with |r| ≤ ln 2 / 2, exp(r) by Taylor's polynomial of degree 7
// (which is off by 5·10⁻⁹ at most, an eleventh of a rounding), scaled by 2ⁿ.

INLINE V BODY(v_exp)(V x) {
  const V magic = v_set(0x1.8p23f);  // Adding it rounds to a whole number, left in the low bits.
  V t = v_fma(x, v_set(0x1.715476p+0f), magic), n = t - magic;
  V r = v_fma(n, v_set(-0x1.62e4p-1f), x);    // ln 2, upper part: n times it is exact.
  r = v_fma(n, v_set(-0x1.7f7d1cp-20f), r);   // ln 2, the rest.
  V p = v_set(0x1.a01a02p-13f);               // 1/7!
  p = v_fma(p, r, v_set(0x1.6c16c2p-10f));    // 1/6!
  p = v_fma(p, r, v_set(0x1.111112p-7f));     // 1/5!
  p = v_fma(p, r, v_set(0x1.555556p-5f));     // 1/4!
  p = v_fma(p, r, v_set(0x1.555556p-3f));     // 1/3!
  p = v_fma(p, r, v_set(0.5f));
  p = v_fma(p, r, v_set(1.0f));
  p = v_fma(p, r, v_set(1.0f));
  VI power = ((VI)t << 23) + 0x3f800000;
  V result = p * (V)power;
  VI small = x < v_set(-0x1.5d589ep+6f);  // ln 2⁻¹²⁶; false for NaN, which stays NaN.
  return (V)((VI)result & ~small);
}

static void BODY(exp)(ptrdiff_t count, const float *in, float *out) {
  for (ptrdiff_t i = 0; i < count; i += VL) {
    int n = count - i < VL ? (int)(count - i) : VL;
    v_store_first(out + i, BODY(v_exp)(v_load_first(in + i, n)), n);
  }
}

#include "softmax.inc.h"
#include "layers.inc.h"
#include "normalise.inc.h"
#include "batches.inc.h"
#include "wide.inc.h"
#include "winograd.inc.h"

static const fs_kernels BODY(table) = {
    BODY(gemm),
    BODY(dots),
    BODY(dots_of_bytes),
    BODY(transpose),
    BODY(relu),
    BODY(relu_backward),
    BODY(add_rows),
    BODY(softmax),
    BODY(exp),
    BODY(bytes_to_floats),
    BODY(accumulate),
    BODY(round_sum),
    BODY(round_step),
    BODY(fma),
    BODY(pad),
    BODY(convolve),
    BODY(convolve_weights),
    BODY(convolve_back),
    BODY(normalise),
    BODY(normalise_back),
    BODY(batch_moments),
    BODY(batch_normalise),
    BODY(batch_back),
    BODY(winograd_filters),
    BODY(winograd_convolve),
    BODY(winograd_collect),
    BODY(winograd_weights),
    BODY(max_pool),
    BODY(max_pool_backward),
    BODY(average_pool),
    BODY(average_pool_backward),
    BODY(leaky_relu),
    BODY(leaky_relu_backward),
    BODY(tanh),
    BODY(tanh_backward),
    BODY(sigmoid),
    BODY(sigmoid_backward),
    BODY(gelu),
    BODY(gelu_backward),
    BODY(silu),
    BODY(silu_backward),
    BODY(multiply),
    BODY(softmax_rows),
    BODY(softmax_rows_backward),
    BODY(squares),
    BODY(sum_of_squares),
    BODY(sgd),
    BODY(adam),
    BODY(lstm),
    BODY(lstm_backward),
    BODY(gru),
    BODY(gru_backward),
    BODY(wide_forward),
    BODY(wide_backward),
};
