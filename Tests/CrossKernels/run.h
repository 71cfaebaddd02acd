// The list of kernels, and the walk over it.
#pragma once

static const struct {
  const char *name;
  void (*run)(const fs_kernels *);
} kernels[] = {
#define CASE(name) {#name, of_##name}
    CASE(gemm),
    CASE(dots),
    CASE(dots_of_bytes),
    CASE(transpose),
    CASE(relu),
    CASE(relu_backward),
    CASE(add_rows),
    CASE(softmax),
    CASE(exp),
    CASE(bytes_to_floats),
    CASE(accumulate),
    CASE(round_sum),
    CASE(round_step),
    CASE(fma),
    CASE(pad),
    CASE(convolve),
    CASE(convolve_weights),
    CASE(convolve_back),
    CASE(normalise),
    CASE(normalise_back),
    CASE(batch_moments),
    CASE(batch_normalise),
    CASE(batch_back),
    CASE(winograd_filters),
    CASE(winograd_convolve),
    CASE(winograd_collect),
    CASE(winograd_weights),
    CASE(max_pool),
    CASE(max_pool_backward),
    CASE(average_pool),
    CASE(average_pool_backward),
    CASE(leaky_relu),
    CASE(leaky_relu_backward),
    CASE(tanh),
    CASE(tanh_backward),
    CASE(sigmoid),
    CASE(sigmoid_backward),
    CASE(gelu),
    CASE(gelu_backward),
    CASE(silu),
    CASE(silu_backward),
    CASE(multiply),
    CASE(softmax_rows),
    CASE(softmax_rows_backward),
    CASE(squares),
    CASE(sum_of_squares),
    CASE(sgd),
    CASE(adam),
    CASE(lstm),
    CASE(lstm_backward),
    CASE(gru),
    CASE(gru_backward),
    CASE(wide_forward),
    CASE(wide_backward),
};

enum { KERNELS = sizeof kernels / sizeof kernels[0] };
_Static_assert(KERNELS == sizeof(fs_kernels) / sizeof(void *), "every kernel has its line");

int main(int argc, char **argv) {
  static const char *const bodies[] = {"avx512", "avx2", "baseline"};
  long problems = argc > 1 ? atol(argv[1]) : 1000;
  for (int body = FS_AVX512; body <= FS_BASELINE; body++) {
    const fs_kernels *table = fs_kernels_for((fs_body)body);
    if (!table) continue;
    for (uint64_t kernel = 0; kernel < KERNELS; kernel++) {
      digest = 0xCBF29CE484222325u;
      for (long problem = 0; problem < problems; problem++) {
        state = kernel << 32 | (uint64_t)problem;
        used = 0;
        infinities = below(8) == 0;
        kernels[kernel].run(table);
      }
      printf("%s %s %016llx\n", bodies[body], kernels[kernel].name, (unsigned long long)digest);
    }
  }
  return 0;
}
