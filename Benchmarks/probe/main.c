// Measures what this machine gives right now: the peak of fused multiply-adds, and an update loop
// with stores, which tells a processor's fast state from its slow one. Prints a line of JSON.
//
//   fedsim-bench [threads [seconds]]
//   fedsim-bench --products         the share of the peak that products of W1 and W2 reach, body by body

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { CHAINS = 16, FLOATS = 40000, MOST_THREADS = 256 };

double probe_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Independent chains of multiply-adds, held in registers; each returns its operations.

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double peak_avx512(float *out) {
  __m512 sum[CHAINS], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
#pragma clang loop unroll(full)
  for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_set1_ps((float)i);
  for (int n = 0; n < 20000; n++)
#pragma clang loop unroll(full)
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_fmadd_ps(sum[i], a, b);
#pragma clang loop unroll(full)
  for (int i = 0; i < CHAINS; i++) _mm512_storeu_ps(out + 16 * i, sum[i]);
  return 2.0 * 16 * CHAINS * 20000;
}

__attribute__((target("avx2,fma"))) static double peak_avx2(float *out) {
  enum { SOME = 12 };  // As many as the registers hold.
  __m256 sum[SOME], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
#pragma clang loop unroll(full)
  for (int i = 0; i < SOME; i++) sum[i] = _mm256_set1_ps((float)i);
  for (int n = 0; n < 20000; n++)
#pragma clang loop unroll(full)
    for (int i = 0; i < SOME; i++) sum[i] = _mm256_fmadd_ps(sum[i], a, b);
#pragma clang loop unroll(full)
  for (int i = 0; i < SOME; i++) _mm256_storeu_ps(out + 8 * i, sum[i]);
  return 2.0 * 8 * SOME * 20000;
}

__attribute__((target("avx512f"))) static void update_avx512(float *w, const float *x) {
  __m512 a = _mm512_set1_ps(1e-9f);
  for (int i = 0; i < FLOATS; i += 16)
    _mm512_storeu_ps(w + i, _mm512_fmadd_ps(a, _mm512_loadu_ps(x + i), _mm512_loadu_ps(w + i)));
}

__attribute__((target("avx2,fma"))) static void update_avx2(float *w, const float *x) {
  __m256 a = _mm256_set1_ps(1e-9f);
  for (int i = 0; i < FLOATS; i += 8)
    _mm256_storeu_ps(w + i, _mm256_fmadd_ps(a, _mm256_loadu_ps(x + i), _mm256_loadu_ps(w + i)));
}
#endif

typedef float v4 __attribute__((vector_size(16)));

static double peak_baseline(float *out) {
  enum { SOME = 8 };
  v4 sum[SOME];
  for (int i = 0; i < SOME; i++) sum[i] = (v4){(float)i, 1, 2, 3};
  for (int n = 0; n < 20000; n++)
#pragma clang loop unroll(full)
    for (int i = 0; i < SOME; i++) sum[i] = sum[i] * 0.999f + 0.001f;
  for (int i = 0; i < SOME; i++)
    for (int j = 0; j < 4; j++) out[4 * i + j] = sum[i][j];
  return 2.0 * 4 * SOME * 20000;
}

static void update_baseline(float *w, const float *x) {
  for (int i = 0; i < FLOATS; i++) w[i] += 1e-9f * x[i];
}

static double (*peak)(float *);
static void (*update)(float *, const float *);
static const char *body;

static void choose(void) {
  peak = peak_baseline, update = update_baseline, body = "baseline";
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    peak = peak_avx512, update = update_avx512, body = "avx512";
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    peak = peak_avx2, update = update_avx2, body = "avx2";
#endif
}

typedef struct {
  double seconds, gflops, update;
} Probe;

int probe_ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The best of a hundred stretches of a body's multiply-adds.
double probe_peak(fs_body wanted) {
  double (*stretch)(float *) = peak_baseline;
#if defined(__x86_64__)
  if (wanted == FS_AVX512) stretch = peak_avx512;
  if (wanted == FS_AVX2) stretch = peak_avx2;
#endif
  float sink[16 * CHAINS];
  double best = 0;
  for (int i = 0; i < 100; i++) {
    double began = probe_now(), rate = stretch(sink) / (probe_now() - began) / 1e9;
    if (rate > best) best = rate;
  }
  return best;
}

// The best stretch for the peak, the median pass for the state.
static void *measure(void *argument) {
  enum { MOST = 100000 };
  Probe *probe = argument;
  float *w = aligned_alloc(64, FLOATS * sizeof(float)), *x = aligned_alloc(64, FLOATS * sizeof(float));
  double *passes = malloc(MOST * sizeof(double));
  if (!w || !x || !passes) abort();
  for (int i = 0; i < FLOATS; i++) w[i] = x[i] = (float)i;
  float sink[16 * CHAINS];
  volatile float seen = 0;
  double end = probe_now() + probe->seconds / 2;
  while (probe_now() < end) {
    double began = probe_now(), operations = peak(sink), rate = operations / (probe_now() - began) / 1e9;
    seen = seen + sink[0];
    if (rate > probe->gflops) probe->gflops = rate;
  }
  int count = 0;
  end = probe_now() + probe->seconds / 2;
  while (probe_now() < end && count < MOST) {
    double began = probe_now();
    update(w, x);
    passes[count++] = probe_now() - began;
  }
  qsort(passes, (size_t)count, sizeof(double), probe_ascending);
  probe->update = count ? passes[count / 2] : 0;
  free(w), free(x), free(passes);
  return NULL;
}

int main(int arguments, char **values) {
  if (arguments == 2 && strcmp(values[1], "--products") == 0) {
    probe_products();
    return 0;
  }
  int threads = arguments > 1 ? atoi(values[1]) : 1;
  double seconds = arguments > 2 ? atof(values[2]) : 0.5;
  if (threads < 1 || threads > MOST_THREADS || !(seconds > 0 && seconds < 60)) {
    fprintf(stderr, "usage: fedsim-bench [threads [seconds] | --products]\n");
    return 2;
  }
  choose();
  static Probe probes[MOST_THREADS];
  static pthread_t handles[MOST_THREADS];
  for (int i = 0; i < threads; i++) {
    probes[i].seconds = seconds;
    if (pthread_create(&handles[i], NULL, measure, &probes[i]) != 0) abort();
  }
  double gflops = 0, slowest = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(handles[i], NULL);
    gflops += probes[i].gflops;
    if (probes[i].update > slowest) slowest = probes[i].update;
  }
  printf("{\"body\": \"%s\", \"threads\": %d, \"gflops\": %.2f, \"updateMicroseconds\": %.3f}\n", body,
         threads, gflops, 1e6 * slowest);
  return 0;
}
