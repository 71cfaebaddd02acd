// The arithmetic of training, in three bodies of one source with equal bits.
//
// Rule: each output element accumulates over k in ascending order with fused multiply-add, in its
// own lane. All matrices are row-major; a stride is a number of elements; sizes may be any whole
// number from 0 on. No kernel allocates, keeps state or calls a library. NaNs are NaNs in all
// bodies, of unspecified payload.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The three bodies: same bits, different speed.
typedef enum fs_body { FS_AVX512 = 0, FS_AVX2 = 1, FS_BASELINE = 2 } fs_body;

/// The table of one body's kernels.
typedef struct fs_kernels {
  /// c[m×n] = start + a[m×k]·b[k×n]; element (i,p) of a is a[i*a_row + p*a_column]. `start` is NULL
  /// (zeros), a row (start_row = 0) or a matrix; it may be `c` itself. c overlaps neither a nor b.
  /// Order: p ascending, fused, the chain begins at the start.
  void (*gemm)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
               ptrdiff_t a_column, const float *b, ptrdiff_t b_row, const float *start,
               ptrdiff_t start_row, float *c, ptrdiff_t c_row);

  /// out[columns×rows] = in[rows×columns] transposed.
  void (*transpose)(ptrdiff_t rows, ptrdiff_t columns, const float *in, ptrdiff_t in_row,
                    float *out, ptrdiff_t out_row);

  /// out[i] = in[i] > 0 ? in[i] : 0 (so NaN and -0 become 0); may run in place.
  void (*relu)(ptrdiff_t count, const float *in, float *out);

  /// delta[i] = activation[i] > 0 ? delta[i] : 0, in place.
  void (*relu_backward)(ptrdiff_t count, const float *activation, float *delta);

  /// out[j] = start[j] + delta[0][j] + delta[1][j] + …; start may be NULL (zeros) or `out` itself.
  void (*add_rows)(ptrdiff_t rows, ptrdiff_t columns, const float *delta, ptrdiff_t delta_row,
                   const float *start, float *out);

  /// Softmax and cross-entropy of each row of logits against labels[row]. Returns how many rows
  /// have their largest logit at the label (the lowest index wins a tie); adds each row's loss to
  /// *loss_sum in row order. delta[row][j] = (softmax_j - [j is the label])·scale; delta may be
  /// `logits` itself (equal strides). Order: the exponentials of a row are added as floats, j
  /// ascending.
  ptrdiff_t (*softmax)(ptrdiff_t rows, ptrdiff_t classes, const float *logits,
                       ptrdiff_t logits_row, const int32_t *labels, float scale, float *delta,
                       ptrdiff_t delta_row, double *loss_sum);

  /// out[i] = exp(in[i]) for in[i] ≤ 0, below 1 ulp off; 0 where the result would be below 2⁻¹²⁶.
  void (*exp)(ptrdiff_t count, const float *in, float *out);

  /// out[i] = in[i]/255, correctly rounded.
  void (*bytes_to_floats)(ptrdiff_t count, const uint8_t *in, float *out);

  /// sum[i] += weight·x[i], multiplied and added apart, in double.
  void (*accumulate)(ptrdiff_t count, double weight, const float *x, double *sum);

  /// sum[i] += weight·(x[i] - base[i]), each operation rounded to double.
  void (*accumulate_difference)(ptrdiff_t count, double weight, const float *x, const float *base,
                                double *sum);

  /// out[i] = (float)sum[i].
  void (*round_sum)(ptrdiff_t count, const double *sum, float *out);

  /// out[i] = (float)(now[i] + rate·sum[i]), multiplied and added apart, in double.
  void (*round_step)(ptrdiff_t count, const float *now, double rate, const double *sum,
                     float *out);

  /// out[i] = fma(a[i], b[i], c[i]): the body's fused multiply-add by itself, for tests.
  void (*fma)(ptrdiff_t count, const float *a, const float *b, const float *c, float *out);
} fs_kernels;

/// The kernels of a body, or NULL where this processor cannot run them.
const fs_kernels *fs_kernels_for(fs_body body);
