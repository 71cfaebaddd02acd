// Prints a digest of what each kernel of each body makes of many random problems.
//
//   digests [PROBLEMS]        (default 1000 a kernel)
//
// A line is: body, kernel, digest. Equal digests are equal bits, across bodies and processors.
#pragma STDC FP_CONTRACT OFF

#include <stdio.h>

#include "source.h"

static void of_gemm(const fs_kernels *f) {
  ptrdiff_t m = below(41), n = count(), k = below(31), begin = below(4), turned = below(2);
  ptrdiff_t a_row = turned ? 1 : k + below(3), a_column = turned ? m + below(3) : 1;
  ptrdiff_t b_row = n + below(3), c_row = n + below(3);
  float *a = floats((m + 2) * (k + 2)), *b = floats(k * b_row), *c = floats(m * c_row);
  float *start = floats((m + 1) * (n + 1));
  f->gemm(m, n, k, a, a_row, a_column, b, b_row, begin == 0 ? NULL : begin == 1 ? c : start,
          begin == 1 ? c_row : begin == 2 ? 0 : n + 1, c, c_row);
  add_floats(c, m * c_row);
}

static void of_dots(const fs_kernels *f) {
  ptrdiff_t m = below(13), n = below(18), k = count();
  ptrdiff_t a_row = k + below(3), b_row = k + below(3), c_row = n + below(3);
  float *a = floats(m * a_row), *b = floats(n * b_row), *start = perhaps(n);
  float *c = room(m * c_row);
  f->dots(m, n, k, a, a_row, b, b_row, start, c, c_row, NULL);
  add_floats(c, m * c_row);
}

static void of_dots_of_bytes(const fs_kernels *f) {
  ptrdiff_t m = below(13), n = below(18), k = count();
  ptrdiff_t a_row = k + below(3), b_row = k + below(3), c_row = n + below(3);
  static uint8_t bytes[13][256];
  const uint8_t *rows[13];
  for (ptrdiff_t i = 0; i < 13; i++) {
    for (ptrdiff_t p = 0; p < k; p++) bytes[i][p] = (uint8_t)below(256);
    rows[i] = bytes[i];
  }
  float *a = room(m * a_row), *b = floats(n * b_row), *start = perhaps(n);
  float *c = room(m * c_row);
  f->dots_of_bytes(m, n, k, rows, a, a_row, b, b_row, start, c, c_row, NULL);
  add_floats(a, m * a_row);
  add_floats(c, m * c_row);
}

static void of_transpose(const fs_kernels *f) {
  ptrdiff_t rows = count(), columns = count();
  float *in = floats(rows * columns), *out = room(rows * columns);
  f->transpose(rows, columns, in, columns, out, rows);
  add_floats(out, rows * columns);
}

static void of_add_rows(const fs_kernels *f) {
  ptrdiff_t rows = below(12), columns = count(), row = columns + below(3);
  float *delta = floats(rows * row), *start = perhaps(columns), *out = room(columns);
  f->add_rows(rows, columns, delta, row, start, out);
  add_floats(out, columns);
}

static void of_softmax(const fs_kernels *f) {
  ptrdiff_t rows = below(6), classes = 1 + count();
  float *logits = floats(rows * classes), *delta = room(rows * classes);
  double loss = 0;
  int32_t *wanted = labels(rows, classes);
  float scale = share();
  add((uint64_t)f->softmax(rows, classes, logits, classes, wanted, scale, delta, classes, &loss));
  add_floats(delta, rows * classes);
  add_doubles(&loss, 1);
}

static void of_squares(const fs_kernels *f) {
  ptrdiff_t rows = below(6), classes = 1 + count();
  float *outputs = floats(rows * classes), *delta = room(rows * classes);
  double loss = 0;
  int32_t *wanted = labels(rows, classes);
  float scale = share();
  add((uint64_t)f->squares(rows, classes, outputs, wanted, scale, delta, &loss));
  add_floats(delta, rows * classes);
  add_doubles(&loss, 1);
}

static void of_softmax_rows(const fs_kernels *f) {
  ptrdiff_t rows = below(6), classes = 1 + count();
  float *in = floats(rows * classes), *out = room(rows * classes);
  f->softmax_rows(rows, classes, in, out);
  add_floats(out, rows * classes);
}

static void of_softmax_rows_backward(const fs_kernels *f) {
  ptrdiff_t rows = below(6), classes = 1 + count();
  float *y = floats(rows * classes), *delta = floats(rows * classes);
  f->softmax_rows_backward(rows, classes, y, delta);
  add_floats(delta, rows * classes);
}

// Element by element: numbers of all sorts, many of them where curves bend.

static float *curved(ptrdiff_t n) {
  float *p = floats(n);
  for (ptrdiff_t i = 0; i < n; i++)
    if (below(4)) p[i] = number(121, 12);
  return p;
}

#define UNARY(name, ...)                     \
  static void of_##name(const fs_kernels *f) { \
    ptrdiff_t n = count();                   \
    float *in = curved(n), *out = room(n);   \
    f->name(n, __VA_ARGS__ in, out);         \
    add_floats(out, n);                      \
  }
#define BACKWARD(name, ...)                  \
  static void of_##name(const fs_kernels *f) { \
    ptrdiff_t n = count();                   \
    float *y = floats(n), *delta = floats(n); \
    f->name(n, __VA_ARGS__ y, delta);        \
    add_floats(delta, n);                    \
  }

UNARY(relu)
UNARY(leaky_relu, 0.1f, )
UNARY(tanh)
UNARY(sigmoid)
UNARY(gelu)
UNARY(silu)
BACKWARD(relu_backward)
BACKWARD(leaky_relu_backward, 0.1f, )
BACKWARD(tanh_backward)
BACKWARD(sigmoid_backward)
BACKWARD(gelu_backward)
BACKWARD(silu_backward)

static void of_exp(const fs_kernels *f) {
  ptrdiff_t n = count();
  float *in = curved(n), *out = room(n);
  for (ptrdiff_t i = 0; i < n; i++) in[i] = in[i] > 0 ? -in[i] : in[i];
  f->exp(n, in, out);
  add_floats(out, n);
}

static void of_multiply(const fs_kernels *f) {
  ptrdiff_t n = count();
  float *a = floats(n), *b = floats(n), *out = room(n);
  f->multiply(n, a, b, out);
  add_floats(out, n);
}

static void of_fma(const fs_kernels *f) {
  ptrdiff_t n = count();
  float *a = floats(n), *b = floats(n), *c = floats(n), *out = room(n);
  f->fma(n, a, b, c, out);
  add_floats(out, n);
}

static void of_bytes_to_floats(const fs_kernels *f) {
  ptrdiff_t n = count();
  uint8_t bytes[128];
  for (ptrdiff_t i = 0; i < n; i++) bytes[i] = (uint8_t)next();
  float *out = room(n);
  f->bytes_to_floats(n, bytes, out);
  add_floats(out, n);
}

// Sums in double.

static void of_accumulate(const fs_kernels *f) {
  ptrdiff_t n = count(), terms = below(6), differs = below(2);
  double weight[5], *sum;
  const float *x[5], *base[5];
  for (ptrdiff_t t = 0; t < terms; t++) {
    weight[t] = doubles(1)[0];
    x[t] = floats(n);
    base[t] = floats(n);
  }
  sum = doubles(n);
  f->accumulate(n, terms, weight, x, differs ? base : NULL, sum);
  add_doubles(sum, n + GUARD);
}

static void of_round_sum(const fs_kernels *f) {
  ptrdiff_t n = count();
  float *out = room(n);
  f->round_sum(n, doubles(n), out);
  add_floats(out, n);
}

static void of_round_step(const fs_kernels *f) {
  ptrdiff_t n = count();
  double rate = doubles(1)[0];
  float *now = floats(n);
  f->round_step(n, now, rate, doubles(n), now);
  add_floats(now, n);
}

static void of_sum_of_squares(const fs_kernels *f) {
  ptrdiff_t n = count();
  double sum[16] = {0};
  f->sum_of_squares(n, floats(n), sum);
  add_doubles(sum, 16);
}

static fs_step a_step(void) {
  fs_step s = {.epsilon = 1e-8f};
  s.rate = share(), s.momentum = share(), s.decay = share(), s.beta1 = share(), s.beta2 = share();
  s.rest1 = share(), s.rest2 = share(), s.correction1 = share(), s.correction2 = share();
  s.nesterov = (int32_t)below(2);
  return s;
}

static void of_sgd(const fs_kernels *f) {
  ptrdiff_t n = count();
  fs_step step = a_step();
  float *g = floats(n), *velocity = floats(n), *weight = floats(n);
  f->sgd(n, &step, g, velocity, weight, weight);
  add_floats(velocity, n);
  add_floats(weight, n);
}

static void of_adam(const fs_kernels *f) {
  ptrdiff_t n = count();
  fs_step step = a_step();
  float *g = floats(n), *first = floats(n), *second = floats(n), *weight = floats(n);
  for (ptrdiff_t i = 0; i < n; i++) second[i] = second[i] < 0 ? -second[i] : second[i];
  f->adam(n, &step, g, first, second, weight, weight);
  add_floats(first, n);
  add_floats(second, n);
  add_floats(weight, n);
}

// Images.

static void of_pad(const fs_kernels *f) {
  fs_padding s;
  s.height = 1 + below(5), s.width = 1 + below(5), s.channels = 1 + below(20);
  s.top = below(3), s.left = below(3), s.step = 1 + below(3);
  s.padded_height = s.top + (s.height - 1) * s.step + 1 + below(3);
  s.padded_width = s.left + (s.width - 1) * s.step + 1 + below(3);
  ptrdiff_t rows = below(4), n = rows * s.padded_height * s.padded_width * s.channels;
  float *in = floats(rows * s.height * s.width * s.channels), *out = room(n);
  f->pad(&s, rows, in, out);
  add_floats(out, n);
}

static fs_convolution a_convolution(void) {
  ptrdiff_t groups = 1 + below(3), stride = 1 + below(3), out_height = 1 + below(4);
  ptrdiff_t out_width = 1 + below(17), high = 1 + below(4), wide = 1 + below(4);
  ptrdiff_t height = (out_height - 1) * stride + high + below(stride);
  ptrdiff_t width = (out_width - 1) * stride + wide + below(stride);
  ptrdiff_t channels = groups * (1 + below(4));
  ptrdiff_t outputs = groups * (1 + below(groups == 1 ? 36 : 7));
  fs_convolution s = {height, width, channels, out_height, out_width,
                      outputs, high, wide, stride, groups};
  return s;
}

static void of_convolve(const fs_kernels *f) {
  fs_convolution s = a_convolution();
  ptrdiff_t rows = below(3), n = rows * s.out_height * s.out_width * s.outputs;
  ptrdiff_t taps = s.kernel_height * s.kernel_width * s.channels / s.groups;
  float *in = floats(rows * s.height * s.width * s.channels), *out = room(n);
  float *weight = floats(taps * s.outputs), *bias = perhaps(s.outputs);
  f->convolve(&s, rows, in, weight, bias, out);
  add_floats(out, n);
}

static void of_convolve_weights(const fs_kernels *f) {
  fs_convolution s = a_convolution();
  ptrdiff_t rows = 1 + below(2);
  ptrdiff_t n = s.kernel_height * s.kernel_width * s.channels / s.groups * s.outputs;
  float *in = floats(rows * s.height * s.width * s.channels);
  float *delta = floats(rows * s.out_height * s.out_width * s.outputs), *out = floats(n);
  f->convolve_weights(&s, rows, in, delta, below(2) ? out : NULL, out);
  add_floats(out, n);
}

static void of_convolve_back(const fs_kernels *f) {
  fs_convolution s = a_convolution();
  s.channels /= s.groups, s.outputs /= s.groups, s.groups = 1;
  ptrdiff_t rows = below(3), n = rows * s.height * s.width * s.channels;
  float *delta = floats(rows * s.out_height * s.out_width * s.outputs), *out = room(n);
  float *turned = floats(s.outputs * s.kernel_height * s.kernel_width * s.channels);
  f->convolve_back(&s, rows, delta, turned, room(fs_back_room(&s)), out);
  add_floats(out, n);
}

static void normalise_both(const fs_kernels *f, int backward) {
  ptrdiff_t groups = 1 + below(4), width = 1 + below(20), pieces = below(4);
  fs_normalisation s = {pieces, 1 + below(6), groups * width, groups, 0.25};
  ptrdiff_t n = s.pieces * s.places * s.channels;
  float *in = floats(n), *normal = floats(n), *inverses = floats(s.pieces * groups);
  float *scale = floats(s.channels), *shift = floats(s.channels), *out = room(n);
  if (backward) {
    double *sums = doubles(2 * s.channels);
    f->normalise_back(&s, in, normal, inverses, scale, sums, below(2) ? out : NULL);
    add_doubles(sums, 2 * s.channels);
  } else {
    f->normalise(&s, in, scale, shift, normal, inverses, out);
    add_floats(normal, n);
    add_floats(inverses, s.pieces * groups);
  }
  add_floats(out, n);
}

static void of_normalise(const fs_kernels *f) { normalise_both(f, 0); }
static void of_normalise_back(const fs_kernels *f) { normalise_both(f, 1); }

// A convolution by values, its operands, and what its kernels make one behind the other.
static void winograd(const fs_kernels *f, int which) {
  ptrdiff_t size = below(2) ? 3 : 5, most_pixels = below(2) ? 13 : 6;
  ptrdiff_t high = 1 + below(most_pixels), wide = 1 + below(most_pixels);
  ptrdiff_t channels = 1 + below(9), most = below(2) ? 9 : 36, outputs = 1 + below(most);
  fs_convolution s = {high + size - 1, wide + size - 1, channels, high, wide,
                      outputs, size, size, 1, 1};
  ptrdiff_t rows = 1 + below(2), weights = size * size * s.channels * s.outputs;
  fs_tiling tiling = fs_winograd_tiling(&s);
  ptrdiff_t points = tiling.side * tiling.side;
  ptrdiff_t pairs = s.channels * s.outputs, values = points * fs_winograd_plane(1, pairs);
  float *in = floats(rows * s.height * s.width * s.channels), *weight = floats(weights);
  float *bias = perhaps(s.outputs), *delta = floats(rows * high * wide * s.outputs);
  float *filters = floats(values), *sums = floats(values);
  float *scratch = room(points * (fs_winograd_plane(tiling.count, s.channels) +
                                  fs_winograd_plane(tiling.count, s.outputs)));
  if (which == 0) {
    f->winograd_filters(&s, weight, filters);
    add_floats(filters, values);
  } else if (which == 1) {
    f->winograd_convolve(&s, rows, in, filters, bias, scratch, delta);
    add_floats(delta, rows * high * wide * s.outputs);
  } else if (which == 2) {
    f->winograd_collect(&s, rows, in, delta, (int32_t)below(2), scratch, sums);
    add_floats(sums, values);
  } else {
    f->winograd_weights(&s, sums, below(2) ? weight : NULL, weight);
    add_floats(weight, weights);
  }
}

static void of_winograd_filters(const fs_kernels *f) { winograd(f, 0); }
static void of_winograd_convolve(const fs_kernels *f) { winograd(f, 1); }
static void of_winograd_collect(const fs_kernels *f) { winograd(f, 2); }
static void of_winograd_weights(const fs_kernels *f) { winograd(f, 3); }

static fs_pooling a_pooling(void) {
  ptrdiff_t size = 1 + below(3), stride = 1 + below(3), high = 1 + below(4), wide = 1 + below(4);
  ptrdiff_t height = (high - 1) * stride + size + below(stride);
  ptrdiff_t width = (wide - 1) * stride + size + below(stride), channels = 1 + count();
  fs_pooling s = {height, width, channels, high, wide, size, size, stride, (int32_t)below(2)};
  return s;
}

static void max_pool_both(const fs_kernels *f, int backward) {
  static int32_t from[1 << 15];
  fs_pooling s = a_pooling();
  ptrdiff_t rows = below(4), n = rows * s.out_height * s.out_width * s.channels;
  ptrdiff_t inputs = rows * s.height * s.width * s.channels;
  float *in = floats(inputs), *out = room(n), *delta = floats(n);
  f->max_pool(&s, rows, in, out, from);
  if (backward) {
    f->max_pool_backward(&s, rows, delta, from, in);
    add_floats(in, inputs);
  } else {
    add_floats(out, n);
    for (ptrdiff_t i = 0; i < n; i++) add((uint64_t)from[i]);
  }
}

static void of_max_pool(const fs_kernels *f) { max_pool_both(f, 0); }
static void of_max_pool_backward(const fs_kernels *f) { max_pool_both(f, 1); }

static void of_average_pool(const fs_kernels *f) {
  fs_pooling s = a_pooling();
  ptrdiff_t rows = below(4), n = rows * s.out_height * s.out_width * s.channels;
  float *in = floats(rows * s.height * s.width * s.channels), *out = room(n);
  f->average_pool(&s, rows, in, out);
  add_floats(out, n);
}

static void of_average_pool_backward(const fs_kernels *f) {
  fs_pooling s = a_pooling();
  ptrdiff_t rows = below(4), n = rows * s.height * s.width * s.channels;
  float *delta = floats(rows * s.out_height * s.out_width * s.channels), *out = room(n);
  f->average_pool_backward(&s, rows, delta, out);
  add_floats(out, n);
}

#include "layers.h"
#include "run.h"
