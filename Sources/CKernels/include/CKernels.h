// The arithmetic of training, in three bodies of one source with equal bits.
//
// Rule: each output element accumulates over k in ascending order with fused multiply-add, in its
// own lane (`dots`: in sixteen of them). All matrices are row-major; a stride is a number of
// elements; sizes may be any whole number from 0 on. No kernel allocates, keeps state or calls a
// library. NaNs are NaNs in all bodies, of unspecified payload.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The three bodies: same bits, different speed.
typedef enum fs_body { FS_AVX512 = 0, FS_AVX2 = 1, FS_BASELINE = 2 } fs_body;

/// A convolution over channels-last images that carry their padding already, or their zeros.
///
/// Shapes: images [row][height][width][channels], weights [kernel_height][kernel_width][channels of
/// a group][outputs], results [row][out_height][out_width][outputs]. Group g sees the g-th part of
/// the channels and makes the g-th part of the outputs.
typedef struct fs_convolution {
  ptrdiff_t height, width, channels;
  ptrdiff_t out_height, out_width, outputs;
  ptrdiff_t kernel_height, kernel_width, stride, groups;
} fs_convolution;

/// Where images lie in larger ones of zeros: `top` and `left` from the corner, `step` apart.
typedef struct fs_padding {
  ptrdiff_t height, width, channels;
  ptrdiff_t top, left, step;
  ptrdiff_t padded_height, padded_width;
} fs_padding;

/// Pooling of channels-last images by windows that are `stride` apart, none of them ragged.
typedef struct fs_pooling {
  ptrdiff_t height, width, channels;
  ptrdiff_t out_height, out_width, window_height, window_width, stride;
  /// Whether the largest counts only where it is above 0: a ReLU behind `max_pool`.
  int32_t rectified;
} fs_pooling;

/// Pieces of `places` with so many channels each, of which every group is normalised by itself.
typedef struct fs_normalisation {
  ptrdiff_t pieces, places, channels, groups;
  /// What is added to a variance.
  double epsilon;
} fs_normalisation;

/// Memory that will be read soon: `count` pieces of so many `bytes`.
typedef struct fs_ahead {
  const uint8_t *const *pieces;
  ptrdiff_t count, bytes;
} fs_ahead;

/// The step of one batch: `rate` times the direction is subtracted.
typedef struct fs_step {
  float rate, momentum, decay, beta1, beta2, epsilon;
  /// 1 - beta, rounded once.
  float rest1, rest2;
  /// 1/(1 - beta^t) of Adam's t-th step.
  float correction1, correction2;
  int32_t nesterov;
} fs_step;

/// The table of one body's kernels.
typedef struct fs_kernels {
  /// c[m×n] = start + a[m×k]·b[k×n]; element (i,p) of a is a[i*a_row + p*a_column], and one of
  /// these strides is 1. `start` is NULL (zeros), a row (start_row = 0) or a matrix; it may be `c`
  /// itself. c overlaps neither a nor b.
  /// Order: p ascending, fused. The chain begins at the start; where a is transposed (a_row is 1),
  /// as for the gradient by weights, it begins at zero and the start is added to its end: each
  /// weight is rounded once.
  void (*gemm)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
               ptrdiff_t a_column, const float *b, ptrdiff_t b_row, const float *start,
               ptrdiff_t start_row, float *c, ptrdiff_t c_row);

  /// c[m×n] = start + a[m×k]·b[n×k]ᵀ; `start` is a row, or NULL (zeros). On the way it asks for
  /// what lies `ahead`, if that is not NULL.
  /// Order: 16 lanes, the l-th over p = l, l + 16, … ascending, fused, from zero; rows shorter than
  /// a multiple of 16 go on with zeros. Then lanes l and l + 8 are added, l and l + 4, l and l + 2,
  /// the last two, and the start to that.
  void (*dots)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
               const float *b, ptrdiff_t b_row, const float *start, float *c, ptrdiff_t c_row,
               const fs_ahead *ahead);

  /// The same, where a is made on the way: a[i][p] = bytes[i][p]/255, as `bytes_to_floats`.
  void (*dots_of_bytes)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const uint8_t *const *bytes,
                        float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_row,
                        const float *start, float *c, ptrdiff_t c_row, const fs_ahead *ahead);

  /// out[columns×rows] = in[rows×columns] transposed.
  void (*transpose)(ptrdiff_t rows, ptrdiff_t columns, const float *in, ptrdiff_t in_row,
                    float *out, ptrdiff_t out_row);

  /// out[i] = in[i] > 0 ? in[i] : 0 (so NaN and -0 become 0); may run in place.
  void (*relu)(ptrdiff_t count, const float *in, float *out);

  /// delta[i] = activation[i] > 0 ? delta[i] : 0, in place.
  void (*relu_backward)(ptrdiff_t count, const float *activation, float *delta);

  /// out[j] = start[j] + (delta[0][j] + delta[1][j] + …); start may be NULL (zeros) or `out`
  /// itself. Order: 64 rows from zero, then the sums of such blocks.
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

  /// sum[i] += weight[t]·x[t][i] for each term t in order, multiplied and added apart, in double;
  /// with bases, weight[t]·(x[t][i] - base[t][i]).
  void (*accumulate)(ptrdiff_t count, ptrdiff_t terms, const double *weight,
                     const float *const *x, const float *const *base, double *sum);

  /// out[i] = (float)sum[i].
  void (*round_sum)(ptrdiff_t count, const double *sum, float *out);

  /// out[i] = (float)(now[i] + rate·sum[i]), multiplied and added apart, in double.
  void (*round_step)(ptrdiff_t count, const float *now, double rate, const double *sum,
                     float *out);

  /// out[i] = fma(a[i], b[i], c[i]): the body's fused multiply-add by itself, for tests.
  void (*fma)(ptrdiff_t count, const float *a, const float *b, const float *c, float *out);

  // Layers.

  /// Copies images into larger ones, zeros elsewhere.
  void (*pad)(const fs_padding *shape, ptrdiff_t rows, const float *in, float *out);

  /// Order: each output over (ky, kx, channel) ascending, fused, from the bias (NULL: zeros);
  /// where stride and channels are 1, from zero, and the bias is added.
  void (*convolve)(const fs_convolution *shape, ptrdiff_t rows, const float *in,
                   const float *weight, const float *bias, float *out);

  /// out = start + the gradient by the weights; start is NULL (zeros), or may be `out` itself.
  /// Order: each weight over (y, x) ascending, fused, from zero; what a row gives is added to the
  /// start, row after row.
  void (*convolve_weights)(const fs_convolution *shape, ptrdiff_t rows, const float *in,
                           const float *delta, const float *start, float *out);

  /// out = the gradient by the inputs of a convolution of one group; `turned` is the weight as
  /// [outputs][kernel_height][kernel_width][channels]. `scratch` holds `fs_back_room` floats.
  /// Order: each product over outputs ascending, fused, from zero; those are added to zeros, over
  /// the places' (x, y) ascending.
  void (*convolve_back)(const fs_convolution *shape, ptrdiff_t rows, const float *delta,
                        const float *turned, float *scratch, float *out);

  /// normal = (in - mean)/√(variance + epsilon) by groups, out = scale·normal + shift by channels;
  /// `inverses` has a number for each piece's group, 1/√….
  /// Order: a channel's values over places, in double; these in eight lanes, the l-th over the
  /// group's channels l, l + 8, …; lanes l and l + 4 are added, l and l + 2, the last two. The
  /// differences from the mean, rounded, and their squares are floats. Nothing is fused.
  void (*normalise)(const fs_normalisation *shape, const float *in, const float *scale,
                    const float *shift, float *normal, float *inverses, float *out);

  /// in_delta = the gradient by the inputs (NULL: not wanted); sums[2·channels] = those by scales,
  /// then by shifts. Order: a channel's over places, then pieces; a group's as in `normalise`.
  void (*normalise_back)(const fs_normalisation *shape, const float *delta, const float *normal,
                         const float *inverses, const float *scale, double *sums,
                         float *in_delta);

  /// Each channel's mean over `places`, and the sum of the squares of the differences from it.
  /// Order: places ascending, in double; nothing is fused.
  void (*batch_moments)(ptrdiff_t places, ptrdiff_t channels, const float *in, double *means,
                        double *squares);

  /// normal = (in - mean)·inverse by channels, in double, then rounded;
  /// out = scale·normal + shift, each operation rounded.
  void (*batch_normalise)(ptrdiff_t places, ptrdiff_t channels, const float *in,
                          const double *means, const double *inverses, const float *scale,
                          const float *shift, float *normal, float *out);

  /// Each channel's Σ delta and Σ delta·normal: the gradients by shifts and by scales; and
  /// in_delta = (delta - (sum + normal·product)/places)·scale·inverse, unless it is NULL.
  /// Order: places ascending, in double; the gradient by an input is rounded at its end.
  void (*batch_back)(ptrdiff_t places, ptrdiff_t channels, const float *delta,
                     const float *normal, const float *inverses, const float *scale,
                     double *sums, double *products, float *in_delta);

  // Convolutions of stride 1 and one group by filters of 3×3 or 5×5, as products of values: tiles
  // of side×side pixels (`fs_winograd_tiling`) and filters are polynomials, known by their values
  // at side·side points (Winograd). With Bᵀ, G and Aᵀ in the form of Lavin and Gray (2016) for the
  // points 0, 1, -1, 2, -2 and infinity, and with a side of 8 also for 1/2 and -1/2, along the
  // columns first. Values lie in planes, a point each, `fs_winograd_plane` apart; what lies outside
  // of an image counts as zeros.

  /// values[points][channels·outputs] = the filters' values: G·g·Gᵀ.
  void (*winograd_filters)(const fs_convolution *shape, const float *weight, float *values);

  /// out = bias (NULL: zeros) + Aᵀ·[values of the images' tiles (Bᵀ·d·B) times those of the
  /// filters]·A. `scratch` holds planes of tiles×channels and of tiles×outputs, one of each for a
  /// point.
  /// Order: each product over channels ascending, fused, from zero.
  void (*winograd_convolve)(const fs_convolution *shape, ptrdiff_t rows, const float *in,
                            const float *filters, const float *bias, float *scratch, float *out);

  /// sums[points][channels·outputs] += the products of values that the gradient by the weights is
  /// made of; `is_first`: they begin at zero. `scratch` as in `winograd_convolve`.
  /// Order: each sum over tiles ascending, fused, from zero; a row's sum is added to those before.
  void (*winograd_collect)(const fs_convolution *shape, ptrdiff_t rows, const float *in,
                           const float *delta, int32_t is_first, float *scratch, float *sums);

  /// out = start (NULL: zeros) + the gradient by the weights, Aᵀ·sums·A; start may be `out`.
  void (*winograd_weights)(const fs_convolution *shape, const float *sums, const float *start,
                           float *out);

  /// The largest of each window; `from` is its place in the window, row by row. The first wins a
  /// tie; NaNs count as smaller than all but a window's first element. Rectified, what is not
  /// above 0 becomes 0 and its `from` -1.
  void (*max_pool)(const fs_pooling *shape, ptrdiff_t rows, const float *in, float *out,
                   int32_t *from);
  /// in_delta = the gradient by the inputs. Order: windows ascending, added to zeros.
  void (*max_pool_backward)(const fs_pooling *shape, ptrdiff_t rows, const float *delta,
                            const int32_t *from, float *in_delta);

  /// The mean of each window. Order: the window row by row, then a division.
  void (*average_pool)(const fs_pooling *shape, ptrdiff_t rows, const float *in, float *out);
  /// in_delta = the gradient by the inputs. Order: windows ascending, added to zeros.
  void (*average_pool_backward)(const fs_pooling *shape, ptrdiff_t rows, const float *delta,
                                float *in_delta);

  /// out[i] = in[i] > 0 ? in[i] : slope·in[i]; may run in place.
  void (*leaky_relu)(ptrdiff_t count, float slope, const float *in, float *out);
  /// delta[i] = activation[i] > 0 ? delta[i] : slope·delta[i], in place.
  void (*leaky_relu_backward)(ptrdiff_t count, float slope, const float *activation,
                              float *delta);

  /// out[i] = tanh(in[i]), within 2 ulp; may run in place.
  void (*tanh)(ptrdiff_t count, const float *in, float *out);
  /// delta[i] *= 1 - activation[i]², in place.
  void (*tanh_backward)(ptrdiff_t count, const float *activation, float *delta);

  /// out[i] = 1/(1 + exp(-in[i])), within 3 ulp; may run in place.
  void (*sigmoid)(ptrdiff_t count, const float *in, float *out);
  /// delta[i] *= activation[i]·(1 - activation[i]), in place.
  void (*sigmoid_backward)(ptrdiff_t count, const float *activation, float *delta);

  /// out[i] = in[i]·Φ(in[i]), Φ the normal distribution's function; may run in place.
  void (*gelu)(ptrdiff_t count, const float *in, float *out);
  /// delta[i] *= Φ(in[i]) + in[i]·φ(in[i]), in place; φ is the density.
  void (*gelu_backward)(ptrdiff_t count, const float *in, float *delta);

  /// out[i] = in[i]/(1 + exp(-in[i])); may run in place.
  void (*silu)(ptrdiff_t count, const float *in, float *out);
  /// delta[i] *= s·(1 + in[i]·(1 - s)) with s = 1/(1 + exp(-in[i])), in place.
  void (*silu_backward)(ptrdiff_t count, const float *in, float *delta);

  /// out[i] = a[i]·b[i].
  void (*multiply)(ptrdiff_t count, const float *a, const float *b, float *out);

  /// Softmax of each row. Order: as in `softmax`.
  void (*softmax_rows)(ptrdiff_t rows, ptrdiff_t classes, const float *in, float *out);
  /// delta[j] = y[j]·(delta[j] - Σ y·delta), in place; the sum ascends.
  void (*softmax_rows_backward)(ptrdiff_t rows, ptrdiff_t classes, const float *activation,
                                float *delta);

  /// Mean squared error of each row against the label's unit vector: like `softmax`, with the loss
  /// Σ(y - t)²/classes (in double, ascending) and delta = (y - t)·(2/classes·scale).
  ptrdiff_t (*squares)(ptrdiff_t rows, ptrdiff_t classes, const float *outputs,
                       const int32_t *labels, float scale, float *delta, double *loss_sum);

  // Optimisers. Every operation is rounded on its own.

  /// Adds x[i]² to sum[i mod 16], in double.
  void (*sum_of_squares)(ptrdiff_t count, const float *x, double *sum);

  /// g = gradient + decay·w; v = momentum·v + g; w -= rate·v, or rate·(g + momentum·v) by Nesterov.
  /// `weight` is read and `out` written; they may be one.
  void (*sgd)(ptrdiff_t count, const fs_step *step, const float *gradient, float *velocity,
              const float *weight, float *out);

  /// g = gradient + decay·w; m = beta1·m + rest1·g; v = beta2·v + rest2·g²;
  /// w -= rate·(m·correction1)/(√(v·correction2) + epsilon).
  void (*adam)(ptrdiff_t count, const fs_step *step, const float *gradient, float *first,
               float *second, const float *weight, float *out);

  // Recurrent cells, one step of time for `rows` rows.

  /// Sums [row][4·units] of the input, forget, cell and output gates become the gates, in place;
  /// cell = f·cell_before + i·g; hidden = o·tanh(cell); tanh(cell) is kept in `squashed`.
  /// `cell_before` is NULL at the first step. Rows of everything are `*_row` apart.
  void (*lstm)(ptrdiff_t rows, ptrdiff_t units, float *gates, ptrdiff_t gates_row,
               const float *cell_before, float *cell, float *squashed, ptrdiff_t cell_row,
               float *hidden, ptrdiff_t hidden_row);

  /// From the gradient by `hidden` and by `cell` (in place: by the cell before) to that by the
  /// gates' sums.
  void (*lstm_backward)(ptrdiff_t rows, ptrdiff_t units, const float *gates, ptrdiff_t gates_row,
                        const float *cell_before, const float *squashed, ptrdiff_t cell_row,
                        const float *hidden_delta, float *cell_delta, float *sums_delta,
                        ptrdiff_t sums_row);

  /// Sums [row][3·units] of the reset, update and new gates from the input, and those from the
  /// hidden state, become r, z, n in place of the first: n = tanh(input + r·hidden's);
  /// hidden = (1 - z)·n + z·hidden_before. `hidden_before` is NULL at the first step.
  void (*gru)(ptrdiff_t rows, ptrdiff_t units, float *gates, ptrdiff_t gates_row,
              const float *recurrent, ptrdiff_t recurrent_row, const float *hidden_before,
              float *hidden, ptrdiff_t hidden_row);

  /// From the gradient by `hidden` to those by the sums from the input and from the hidden state;
  /// `before_delta` = the direct part of that by the hidden state before.
  void (*gru_backward)(ptrdiff_t rows, ptrdiff_t units, const float *gates, ptrdiff_t gates_row,
                       const float *recurrent, ptrdiff_t recurrent_row,
                       const float *hidden_before, ptrdiff_t hidden_row,
                       const float *hidden_delta, float *sums_delta, float *recurrent_delta,
                       ptrdiff_t sums_row, float *before_delta);

  // Dense layers with weights larger than a cache: the bits of `gemm` in one walk through them.

  /// out[rows×outputs] = bias + in[rows×inputs]·weight[inputs×outputs]; bias may be NULL (zeros).
  /// Order: inputs ascending, fused, from the bias.
  void (*wide_forward)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs, const float *in,
                       const float *weight, const float *bias, float *out);

  /// in_delta[rows×inputs] = delta[rows×outputs]·weightᵀ, then target = start + inᵀ·delta: the
  /// gradient by the weights, or their step. in_delta may be NULL (not wanted), target too; start
  /// is NULL (zeros) or a matrix; target may be start and weight. Order: outputs ascending from
  /// zero; rows ascending from zero, then the start; fused.
  void (*wide_backward)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs, const float *in,
                        const float *delta, const float *weight, const float *start,
                        float *target, float *in_delta);
} fs_kernels;

/// How many columns of places `convolve_back` takes at once; no bit depends on it.
static inline ptrdiff_t fs_back_columns(const fs_convolution *shape) {
  const ptrdiff_t taps = shape->kernel_height * shape->kernel_width * shape->channels;
  const ptrdiff_t columns = (1 << 16) / (taps * shape->out_height + 1) + 1;
  return columns < shape->out_width ? columns : shape->out_width;
}

/// Floats for the products of these places.
static inline ptrdiff_t fs_back_room(const fs_convolution *shape) {
  return fs_back_columns(shape) * shape->out_height * shape->kernel_height *
         shape->kernel_width * shape->channels;
}

/// How far planes of rows×columns floats lie apart: an odd number of cache lines, so that the
/// planes of one place do not share a few sets of a cache.
static inline ptrdiff_t fs_winograd_plane(ptrdiff_t rows, ptrdiff_t columns) {
  return ((rows * columns + 15) / 16 | 1) * 16;
}

/// What an image is cut into for minimal filtering: high×wide tiles of side×side pixels, each of
/// which gives step×step results. Filters are as high as they are wide.
typedef struct fs_tiling {
  ptrdiff_t side, step, high, wide, count;
} fs_tiling;

static inline fs_tiling fs_winograd_tiles(const fs_convolution *shape, ptrdiff_t side) {
  ptrdiff_t step = side + 1 - shape->kernel_width;
  ptrdiff_t high = (shape->out_height + step - 1) / step;
  ptrdiff_t wide = (shape->out_width + step - 1) / step;
  fs_tiling tiling = {side, step, high, wide, high * wide};
  return tiling;
}

/// Tiles of 6×6; for filters of 5×5 those of 8×8, where they are four or more and take less than
/// two thirds of the products.
static inline fs_tiling fs_winograd_tiling(const fs_convolution *shape) {
  const fs_tiling small = fs_winograd_tiles(shape, 6), large = fs_winograd_tiles(shape, 8);
  const int is_large =
      shape->kernel_width == 5 && large.count >= 4 && 3 * 64 * large.count < 2 * 36 * small.count;
  return is_large ? large : small;
}

/// Tells the processor that this thread is waiting.
static inline void fs_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Asks for memory that will be read soon. It changes nothing but the time that takes.
static inline void fs_prefetch(const void *from, ptrdiff_t bytes) {
  const char *end = (const char *)from + bytes;
  const char *line = (const char *)((uintptr_t)from & ~(uintptr_t)63);
  for (; line < end; line += 64) __builtin_prefetch(line);
}

/// Asks the system for large pages under memory that will be reached all over. It changes nothing
/// but the time that takes.
void fs_prefer_large_pages(void *start, ptrdiff_t bytes);

/// The same for memory that is in use: what it holds is moved to large pages, where the system can.
void fs_make_pages_large(const void *start, ptrdiff_t bytes);

/// The kernels of a body, or NULL where this processor cannot run them.
const fs_kernels *fs_kernels_for(fs_body body);
