// The kernels' one source, included once a body. The includer defines the vector type `V` of `VL`
// floats, its integer twin `VI`, BODY(name), ROWS (tile height of gemm), and these functions:
// `v_load`, `v_store` (any alignment), `v_load_first`, `v_store_first` (the first n lanes,
// 1 ≤ n ≤ VL; the others read as 0), `v_set` (broadcast), `v_fma`, `v_bytes_to_floats` (b/255 of
// VL bytes).

#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

// A tile of `rows` rows and `vectors` vectors of columns, in registers. The last vector may be
// ragged. The inner sum has `runs` runs of k terms: a moves by `a_run` from run to run, b goes on.

INLINE void BODY(tile)(const int rows, const int vectors, const int ragged, int last,
                       ptrdiff_t runs, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       ptrdiff_t a_column, ptrdiff_t a_run, const float *b, ptrdiff_t b_row,
                       const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  V sum[ROWS][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      const float *s = start ? start + i * start_row + v * VL : NULL;
      if (!start)
        sum[i][v] = v_set(0);
      else if (ragged && v == vectors - 1)
        sum[i][v] = v_load_first(s, last);
      else
        sum[i][v] = v_load(s);
    }
  }
  for (ptrdiff_t r = 0; r < runs; r++) {
    const float *from = a + r * a_run;
    for (ptrdiff_t p = 0; p < k; p++) {
      V right[2];
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; v++)
        right[v] =
            ragged && v == vectors - 1 ? v_load_first(b + v * VL, last) : v_load(b + v * VL);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; i++) {
        V left = v_set(from[i * a_row]);
#pragma clang loop unroll(full)
        for (int v = 0; v < vectors; v++) sum[i][v] = v_fma(left, right[v], sum[i][v]);
      }
      from += a_column;
      b += b_row;
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * VL;
      if (ragged && v == vectors - 1)
        v_store_first(to, sum[i][v], last);
      else
        v_store(to, sum[i][v]);
    }
  }
}

#define FS_TILE_ARGUMENTS \
  last, runs, k, a, a_row, a_column, a_run, b, b_row, start, start_row, c, c_row

// One compiled loop for each shape of tile.
#define FS_TILE(R)                                                   \
  case R:                                                            \
    if (last == VL && vectors == 2)                                  \
      BODY(tile)(R, 2, 0, FS_TILE_ARGUMENTS);                        \
    else if (vectors == 2)                                           \
      BODY(tile)(R, 2, 1, FS_TILE_ARGUMENTS);                        \
    else                                                             \
      BODY(tile)(R, 1, 1, FS_TILE_ARGUMENTS);                        \
    break;

static __attribute__((noinline)) void BODY(any_tile)(ptrdiff_t rows, int vectors, int last,
                                                     ptrdiff_t runs, ptrdiff_t k, const float *a,
                                                     ptrdiff_t a_row, ptrdiff_t a_column,
                                                     ptrdiff_t a_run, const float *b,
                                                     ptrdiff_t b_row, const float *start,
                                                     ptrdiff_t start_row, float *c,
                                                     ptrdiff_t c_row) {
  switch (rows) {
    FS_TILE(1)
    FS_TILE(2)
    FS_TILE(3)
    FS_TILE(4)
#if ROWS > 4
    FS_TILE(5)
    FS_TILE(6)
#endif
#if ROWS > 6
    FS_TILE(7)
    FS_TILE(8)
    FS_TILE(9)
    FS_TILE(10)
    FS_TILE(11)
    FS_TILE(12)
    FS_TILE(13)
    FS_TILE(14)
#endif
  }
}

static void BODY(gemm)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       ptrdiff_t a_column, const float *b, ptrdiff_t b_row, const float *start,
                       ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  if (m <= 0 || n <= 0) return;
  // Tiles of nearly equal height: `taller` of them have one row more.
  ptrdiff_t tiles = (m + ROWS - 1) / ROWS, height = m / tiles, taller = m % tiles;
  for (ptrdiff_t j = 0; j < n; j += 2 * VL) {
    ptrdiff_t left = n - j < 2 * VL ? n - j : 2 * VL;
    int vectors = left > VL ? 2 : 1, last = (int)(left - (vectors - 1) * VL);
    for (ptrdiff_t t = 0, i = 0; t < tiles; t++) {
      ptrdiff_t rows = height + (t < taller);
      BODY(any_tile)(rows, vectors, last, 1, k, a + i * a_row, a_row, a_column, 0, b + j, b_row,
                     start ? start + i * start_row + j : NULL, start_row, c + i * c_row + j,
                     c_row);
      i += rows;
    }
  }
}

// Transpose in blocks of 8×8.

typedef float BODY(v8) __attribute__((vector_size(32), aligned(4)));

INLINE void BODY(transpose8)(const float *in, ptrdiff_t in_row, float *out, ptrdiff_t out_row) {
  BODY(v8) r[8], s[8];
  for (int i = 0; i < 8; i++) r[i] = *(const BODY(v8) *)(in + i * in_row);
  for (int i = 0; i < 4; i++) {  // Rows i and i+4 interleaved, three times over: a perfect shuffle.
    s[2 * i] = __builtin_shufflevector(r[i], r[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; i++) {
    r[2 * i] = __builtin_shufflevector(s[i], s[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    r[2 * i + 1] = __builtin_shufflevector(s[i], s[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; i++) {
    s[2 * i] = __builtin_shufflevector(r[i], r[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i++) *(BODY(v8) *)(out + i * out_row) = s[i];
}

static void BODY(transpose)(ptrdiff_t rows, ptrdiff_t columns, const float *in, ptrdiff_t in_row,
                            float *out, ptrdiff_t out_row) {
  ptrdiff_t i = 0;
  for (; i + 8 <= rows; i += 8) {
    ptrdiff_t j = 0;
    for (; j + 8 <= columns; j += 8)
      BODY(transpose8)(in + i * in_row + j, in_row, out + j * out_row + i, out_row);
    for (; j < columns; j++)
      for (ptrdiff_t r = i; r < i + 8; r++) out[j * out_row + r] = in[r * in_row + j];
  }
  for (; i < rows; i++)
    for (ptrdiff_t j = 0; j < columns; j++) out[j * out_row + i] = in[i * in_row + j];
}

// Element by element; the compiler makes vectors of these loops, which cannot change a bit.

static void BODY(relu)(ptrdiff_t count, const float *in, float *out) {
  for (ptrdiff_t i = 0; i < count; i++) out[i] = in[i] > 0 ? in[i] : 0;
}

static void BODY(relu_backward)(ptrdiff_t count, const float *activation, float *delta) {
  for (ptrdiff_t i = 0; i < count; i++) delta[i] = activation[i] > 0 ? delta[i] : 0;
}

static void BODY(add_rows)(ptrdiff_t rows, ptrdiff_t columns, const float *delta,
                           ptrdiff_t delta_row, const float *start, float *out) {
  for (ptrdiff_t j = 0; j < columns; j += VL) {
    ptrdiff_t left = columns - j;
    if (left >= VL) {
      V sum = start ? v_load(start + j) : v_set(0);
      for (ptrdiff_t i = 0; i < rows; i++) sum += v_load(delta + i * delta_row + j);
      v_store(out + j, sum);
    } else {
      V sum = start ? v_load_first(start + j, (int)left) : v_set(0);
      for (ptrdiff_t i = 0; i < rows; i++)
        sum += v_load_first(delta + i * delta_row + j, (int)left);
      v_store_first(out + j, sum, (int)left);
    }
  }
}

static void BODY(bytes_to_floats)(ptrdiff_t count, const uint8_t *in, float *out) {
  ptrdiff_t i = 0;
  for (; i + VL <= count; i += VL) v_store(out + i, v_bytes_to_floats(in + i));
  for (; i < count; i++) out[i] = (float)in[i] / 255.0f;
}

static void BODY(accumulate)(ptrdiff_t count, double weight, const float *restrict x,
                             double *restrict sum) {
  for (ptrdiff_t i = 0; i < count; i++) sum[i] += weight * (double)x[i];
}

static void BODY(accumulate_difference)(ptrdiff_t count, double weight, const float *restrict x,
                                        const float *restrict base, double *restrict sum) {
  for (ptrdiff_t i = 0; i < count; i++) sum[i] += weight * ((double)x[i] - (double)base[i]);
}

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

static ptrdiff_t BODY(softmax)(ptrdiff_t rows, ptrdiff_t classes, const float *logits,
                               ptrdiff_t logits_row, const int32_t *labels, float scale,
                               float *delta, ptrdiff_t delta_row, double *loss_sum) {
  ptrdiff_t correct = 0;
  for (ptrdiff_t i = 0; i < rows; i++, logits += logits_row, delta += delta_row) {
    ptrdiff_t label = labels[i], best = 0;
    for (ptrdiff_t j = 1; j < classes; j++)
      if (logits[j] > logits[best]) best = j;
    correct += best == label;
    float largest = logits[best], at_label = logits[label] - largest;
    for (ptrdiff_t j = 0; j < classes; j += VL) {
      int n = classes - j < VL ? (int)(classes - j) : VL;
      v_store_first(delta + j, BODY(v_exp)(v_load_first(logits + j, n) - v_set(largest)), n);
    }
    float sum = 0;
    for (ptrdiff_t j = 0; j < classes; j++) sum += delta[j];
    *loss_sum += fs_log(sum) - (double)at_label;
    float label_share = delta[label] / sum;
    for (ptrdiff_t j = 0; j < classes; j += VL) {
      int n = classes - j < VL ? (int)(classes - j) : VL;
      v_store_first(delta + j, v_load_first(delta + j, n) / v_set(sum) * v_set(scale), n);
    }
    delta[label] = (label_share - 1) * scale;
  }
  return correct;
}

#include "layers.inc.h"
#include "wide.inc.h"

static const fs_kernels BODY(table) = {
    BODY(gemm),
    BODY(transpose),
    BODY(relu),
    BODY(relu_backward),
    BODY(add_rows),
    BODY(softmax),
    BODY(exp),
    BODY(bytes_to_floats),
    BODY(accumulate),
    BODY(accumulate_difference),
    BODY(round_sum),
    BODY(round_step),
    BODY(fma),
    BODY(pad),
    BODY(convolve),
    BODY(convolve_weights),
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
    BODY(wide),
    BODY(wide_backward),
};
