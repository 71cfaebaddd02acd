// The products of W1 and W2 (a batch of ten), one after the other, on data in near caches: what a
// kernel reaches by itself, without the events, sums and far memory of a round.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

enum { INPUTS = 784, HIDDEN = 200, OUTPUTS = 10, BATCH = 10, WEIGHTS = INPUTS * HIDDEN, TRIALS = 41 };

// Weights and a second copy of them, a batch as bytes and as floats, gradients, results.
typedef struct {
  float *weights, *copy, *in, *delta, *out;
  const uint8_t *samples[BATCH];
} Data;

typedef void Product(const fs_kernels *, const Data *);

static void softmax_forward(const fs_kernels *k, const Data *d) {
  k->dots_of_bytes(BATCH, OUTPUTS, INPUTS, d->samples, d->in, INPUTS, d->weights, INPUTS, NULL, d->out,
                   OUTPUTS, NULL);
}

static void softmax_step(const fs_kernels *k, const Data *d) {
  k->gemm(OUTPUTS, INPUTS, BATCH, d->delta, 1, OUTPUTS, d->in, INPUTS, d->weights, INPUTS, d->weights,
          INPUTS);
}

static void forward(const fs_kernels *k, const Data *d) {
  k->gemm(BATCH, HIDDEN, INPUTS, d->in, INPUTS, 1, d->weights, HIDDEN, NULL, 0, d->out, HIDDEN);
}

static void forward_hidden(const fs_kernels *k, const Data *d) {
  k->gemm(BATCH, HIDDEN, HIDDEN, d->in, HIDDEN, 1, d->weights, HIDDEN, NULL, 0, d->out, HIDDEN);
}

static void step(const fs_kernels *k, const Data *d) {
  k->gemm(INPUTS, HIDDEN, BATCH, d->in, 1, INPUTS, d->delta, HIDDEN, d->weights, HIDDEN, d->weights,
          HIDDEN);
}

static void first_step(const fs_kernels *k, const Data *d) {
  k->gemm(INPUTS, HIDDEN, BATCH, d->in, 1, INPUTS, d->delta, HIDDEN, d->copy, HIDDEN, d->weights, HIDDEN);
}

static void step_hidden(const fs_kernels *k, const Data *d) {
  k->gemm(HIDDEN, HIDDEN, BATCH, d->in, 1, HIDDEN, d->delta, HIDDEN, d->weights, HIDDEN, d->weights,
          HIDDEN);
}

static const struct {
  const char *name;
  Product *product;
  double multiplications;
} products[] = {
    {"W1: forward, from bytes", softmax_forward, BATCH * OUTPUTS * INPUTS},
    {"W1: weight gradient and step", softmax_step, BATCH * OUTPUTS * INPUTS},
    {"W2: forward, first layer", forward, BATCH * WEIGHTS},
    {"W2: forward, second layer", forward_hidden, BATCH * HIDDEN * HIDDEN},
    {"W2: weight gradient and step, first layer", step, BATCH * WEIGHTS},
    {"W2: the same from a model to a copy", first_step, BATCH * WEIGHTS},
    {"W2: weight gradient and step, second layer", step_hidden, BATCH * HIDDEN * HIDDEN},
};

// The median of many trials of about a millisecond, in GFLOP/s.
static double rate(const fs_kernels *kernels, int number, const Data *data) {
  double trials[TRIALS], operations = 2 * products[number].multiplications;
  int repetitions = (int)(1e8 / operations) + 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    double began = probe_now();
    for (int i = 0; i < repetitions; i++) products[number].product(kernels, data);
    trials[trial] = operations * repetitions / (probe_now() - began) / 1e9;
  }
  qsort(trials, TRIALS, sizeof(double), probe_ascending);
  return trials[TRIALS / 2];
}

void probe_products(void) {
  const size_t bytes = 1 << 22;  // Whole large pages.
  char *memory = aligned_alloc(1 << 21, bytes);
  if (!memory) abort();
  fs_prefer_large_pages(memory, (ptrdiff_t)bytes);
  memset(memory, 0, bytes);
  float *floats = (float *)memory;
  Data data = {floats, floats + (1 << 18), floats + (2 << 18), floats + (2 << 18) + (1 << 15),
               floats + (3 << 18), {0}};
  uint8_t *samples = (uint8_t *)(floats + (3 << 18) + (1 << 15));
  for (int i = 0; i < BATCH * INPUTS; i++) data.in[i] = (float)(i % 7) / 7, samples[i] = (uint8_t)i;
  for (int i = 0; i < BATCH * HIDDEN; i++) data.delta[i] = 1e-9f * (float)(i % 5 - 2);
  for (int i = 0; i < BATCH; i++) data.samples[i] = samples + i * INPUTS;
  const fs_body bodies[] = {FS_AVX512, FS_AVX2, FS_BASELINE};
  const char *names[] = {"avx512", "avx2", "baseline"};
  for (int body = 0; body < 3; body++) {
    const fs_kernels *kernels = fs_kernels_for(bodies[body]);
    if (!kernels) continue;
    double peak = probe_peak(bodies[body]);
    printf("%s: a peak of %.1f GFLOP/s on one core\n", names[body], peak);
    for (int i = 0; i < (int)(sizeof products / sizeof *products); i++)
      printf("  %-44s %5.1f %%\n", products[i].name, 100 * rate(kernels, i, &data) / peak);
  }
  free(memory);
}
