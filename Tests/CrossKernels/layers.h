// Digests of recurrent and wide layers, and of normalisation over batches.
#pragma once

#include "source.h"

// Recurrent cells.

static void of_lstm(const fs_kernels *f) {
  ptrdiff_t rows = below(5), units = count(), wide = 4 * units + below(3), row = units + below(3);
  float *gates = curved(rows * wide), *before = perhaps(rows * row), *cell = room(rows * row);
  float *squashed = room(rows * row), *hidden = room(rows * row);
  f->lstm(rows, units, gates, wide, before, cell, squashed, row, hidden, row);
  add_floats(gates, rows * wide);
  add_floats(cell, rows * row);
  add_floats(squashed, rows * row);
  add_floats(hidden, rows * row);
}

static void of_lstm_backward(const fs_kernels *f) {
  ptrdiff_t rows = below(5), units = count(), wide = 4 * units + below(3), row = units + below(3);
  float *gates = floats(rows * wide), *before = perhaps(rows * row), *squashed = floats(rows * row);
  float *hidden = floats(rows * units), *cell = floats(rows * units), *sums = room(rows * wide);
  f->lstm_backward(rows, units, gates, wide, before, squashed, row, hidden, cell, sums, wide);
  add_floats(cell, rows * units);
  add_floats(sums, rows * wide);
}

static void of_gru(const fs_kernels *f) {
  ptrdiff_t rows = below(5), units = count(), wide = 3 * units + below(3), row = units + below(3);
  float *gates = curved(rows * wide), *recurrent = curved(rows * wide);
  float *before = perhaps(rows * row), *hidden = room(rows * row);
  f->gru(rows, units, gates, wide, recurrent, wide, before, hidden, row);
  add_floats(gates, rows * wide);
  add_floats(hidden, rows * row);
}

static void of_gru_backward(const fs_kernels *f) {
  ptrdiff_t rows = below(5), units = count(), wide = 3 * units + below(3), row = units + below(3);
  float *gates = floats(rows * wide), *recurrent = floats(rows * wide);
  float *before = perhaps(rows * row), *delta = floats(rows * units), *sums = room(rows * wide);
  float *also = room(rows * wide), *out = room(rows * units);
  f->gru_backward(rows, units, gates, wide, recurrent, wide, before, row, delta, sums, also, wide,
                  out);
  add_floats(sums, rows * wide);
  add_floats(also, rows * wide);
  add_floats(out, rows * units);
}

// Dense layers larger than a cache.

static void of_wide_forward(const fs_kernels *f) {
  ptrdiff_t rows = below(18), inputs = count(), outputs = count();
  float *in = floats(rows * inputs), *weight = floats(inputs * outputs);
  float *bias = perhaps(outputs), *out = room(rows * outputs);
  f->wide_forward(rows, inputs, outputs, in, weight, bias, out);
  add_floats(out, rows * outputs);
}

static void of_wide_backward(const fs_kernels *f) {
  ptrdiff_t rows = below(18), inputs = count(), outputs = count();
  float *in = floats(rows * inputs), *delta = floats(rows * outputs);
  float *weight = floats(inputs * outputs), *in_delta = room(rows * inputs);
  f->wide_backward(rows, inputs, outputs, in, delta, weight, below(2) ? weight : NULL, weight,
                   in_delta);
  add_floats(weight, inputs * outputs);
  add_floats(in_delta, rows * inputs);
}

// Normalisation over a batch.

static void batch(const fs_kernels *f, int which) {
  ptrdiff_t places = 1 + below(40), channels = 1 + below(80), n = places * channels;
  float *in = floats(n), *scale = floats(channels), *shift = floats(channels);
  float *normal = floats(n), *inverses = floats(channels), *out = room(n);
  double *first = doubles(2 * channels), *second = first + channels;
  if (which == 0) f->batch_moments(places, channels, in, first, second);
  if (which == 1)
    f->batch_normalise(places, channels, in, first, second, scale, shift, normal, out);
  if (which == 2)
    f->batch_back(places, channels, in, normal, inverses, scale, first, second,
                  below(2) ? out : NULL);
  add_doubles(first, 2 * channels);
  add_floats(normal, n);
  add_floats(out, n);
}

static void of_batch_moments(const fs_kernels *f) { batch(f, 0); }
static void of_batch_normalise(const fs_kernels *f) { batch(f, 1); }
static void of_batch_back(const fs_kernels *f) { batch(f, 2); }
