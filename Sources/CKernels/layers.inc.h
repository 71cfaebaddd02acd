// Kernels of layers other than dense ones, losses and optimisers; a part of body.inc.h.

#include "convolution.inc.h"
#include "pooling.inc.h"

// Activations.

static void BODY(leaky_relu)(ptrdiff_t count, float slope, const float *in, float *out) {
  for (ptrdiff_t i = 0; i < count; i++) out[i] = in[i] > 0 ? in[i] : slope * in[i];
}

static void BODY(leaky_relu_backward)(ptrdiff_t count, float slope, const float *activation,
                                      float *delta) {
  for (ptrdiff_t i = 0; i < count; i++)
    delta[i] = activation[i] > 0 ? delta[i] : slope * delta[i];
}

// tanh: near 0 an odd polynomial (Moshier, Cephes: tanhf), else 1 - 2e/(1 + e), e = exp(-2|x|).
INLINE V BODY(v_tanh)(V x) {
  VI sign = (VI)x & (VI)v_set(-0.0f);
  V size = (V)((VI)x ^ sign), z = x * x;
  V p = v_fma(v_set(-5.70498872745e-3f), z, v_set(2.06390887954e-2f));
  p = v_fma(p, z, v_set(-5.37397155531e-2f));
  p = v_fma(p, z, v_set(1.33314422036e-1f));
  p = v_fma(p, z, v_set(-3.33332819422e-1f));
  V near = v_fma(p * z, x, x);
  V e = BODY(v_exp)(size * v_set(-2));
  V far = v_set(1) - (e + e) / (v_set(1) + e);
  far = (V)((VI)far | sign);
  VI is_near = size < v_set(0.625f);
  return BODY(v_select)(is_near, near, far);
}

// sigmoid: e = exp(-|x|), then 1/(1 + e) or e/(1 + e).
INLINE V BODY(v_sigmoid)(V x) {
  V size = (V)((VI)x & ~(VI)v_set(-0.0f)), e = BODY(v_exp)(-size);
  VI is_negative = x < v_set(0);
  return BODY(v_select)(is_negative, e, v_set(1)) / (v_set(1) + e);
}

#define FS_BY_ELEMENT(name, expression)                                  \
  static void BODY(name)(ptrdiff_t count, const float *in, float *out) { \
    ptrdiff_t i = 0;                                                     \
    for (; i + VL <= count; i += VL)                                     \
      v_store(out + i, expression(v_load(in + i)));                      \
    if (i < count) {                                                     \
      int n = (int)(count - i);                                          \
      v_store_first(out + i, expression(v_load_first(in + i, n)), n);    \
    }                                                                    \
  }

FS_BY_ELEMENT(tanh, BODY(v_tanh))
FS_BY_ELEMENT(sigmoid, BODY(v_sigmoid))

// The normal distribution's function: erfc(z) = t·exp(-z² + P(t)) with t = 1/(1 + z/2), z = |x|/√2,
// off by 1.2·10⁻⁷ of its value (Press et al., Numerical Recipes, 6.2).
INLINE V BODY(v_normal)(V x) {
  V z = (V)((VI)x & ~(VI)v_set(-0.0f)) * v_set(0.70710678118654752f);
  V t = v_set(1) / v_fma(v_set(0.5f), z, v_set(1));
  V p = v_fma(v_set(0.17087277f), t, v_set(-0.82215223f));
  p = v_fma(p, t, v_set(1.48851587f));
  p = v_fma(p, t, v_set(-1.13520398f));
  p = v_fma(p, t, v_set(0.27886807f));
  p = v_fma(p, t, v_set(-0.18628806f));
  p = v_fma(p, t, v_set(0.09678418f));
  p = v_fma(p, t, v_set(0.37409196f));
  p = v_fma(p, t, v_set(1.00002368f));
  p = v_fma(p, t, v_set(-1.26551223f));
  V tail = v_set(0.5f) * (t * BODY(v_exp)(v_fma(-z, z, p)));
  return BODY(v_select)(x < v_set(0), tail, v_set(1) - tail);
}

INLINE V BODY(v_gelu)(V x) { return x * BODY(v_normal)(x); }
INLINE V BODY(v_silu)(V x) { return x * BODY(v_sigmoid)(x); }

FS_BY_ELEMENT(gelu, BODY(v_gelu))
FS_BY_ELEMENT(silu, BODY(v_silu))

INLINE V BODY(v_gelu_slope)(V x) {
  V density = v_set(0.39894228040143268f) * BODY(v_exp)(v_set(-0.5f) * (x * x));
  return v_fma(x, density, BODY(v_normal)(x));
}

INLINE V BODY(v_silu_slope)(V x) {
  V s = BODY(v_sigmoid)(x);
  return s * v_fma(x, v_set(1) - s, v_set(1));
}

#define FS_BY_SLOPE(name, slope)                                                \
  static void BODY(name)(ptrdiff_t count, const float *in, float *delta) {      \
    for (ptrdiff_t i = 0; i < count; i += VL) {                                 \
      int n = count - i < VL ? (int)(count - i) : VL;                           \
      V product = v_load_first(delta + i, n) * slope(v_load_first(in + i, n));  \
      v_store_first(delta + i, product, n);                                     \
    }                                                                           \
  }

FS_BY_SLOPE(gelu_backward, BODY(v_gelu_slope))
FS_BY_SLOPE(silu_backward, BODY(v_silu_slope))

static void BODY(tanh_backward)(ptrdiff_t count, const float *activation, float *delta) {
  for (ptrdiff_t i = 0; i < count; i++) delta[i] *= 1 - activation[i] * activation[i];
}

static void BODY(sigmoid_backward)(ptrdiff_t count, const float *activation, float *delta) {
  for (ptrdiff_t i = 0; i < count; i++) delta[i] *= activation[i] * (1 - activation[i]);
}

static void BODY(multiply)(ptrdiff_t count, const float *a, const float *b, float *out) {
  for (ptrdiff_t i = 0; i < count; i++) out[i] = a[i] * b[i];
}

// Softmax as a layer, and mean squared error.

static void BODY(softmax_rows)(ptrdiff_t rows, ptrdiff_t classes, const float *in, float *out) {
  for (ptrdiff_t r = 0; r < rows; r++, in += classes, out += classes) {
    float largest = in[0], sum = 0;
    for (ptrdiff_t j = 1; j < classes; j++) largest = in[j] > largest ? in[j] : largest;
    for (ptrdiff_t j = 0; j < classes; j += VL) {
      int n = classes - j < VL ? (int)(classes - j) : VL;
      v_store_first(out + j, BODY(v_exp)(v_load_first(in + j, n) - v_set(largest)), n);
    }
    for (ptrdiff_t j = 0; j < classes; j++) sum += out[j];
    for (ptrdiff_t j = 0; j < classes; j++) out[j] /= sum;
  }
}

static void BODY(softmax_rows_backward)(ptrdiff_t rows, ptrdiff_t classes,
                                        const float *activation, float *delta) {
  for (ptrdiff_t r = 0; r < rows; r++, activation += classes, delta += classes) {
    float sum = 0;
    for (ptrdiff_t j = 0; j < classes; j++) sum += activation[j] * delta[j];
    for (ptrdiff_t j = 0; j < classes; j++) delta[j] = activation[j] * (delta[j] - sum);
  }
}

static ptrdiff_t BODY(squares)(ptrdiff_t rows, ptrdiff_t classes, const float *outputs,
                               const int32_t *labels, float scale, float *delta,
                               double *loss_sum) {
  ptrdiff_t correct = 0;
  float factor = 2 / (float)classes * scale;
  for (ptrdiff_t r = 0; r < rows; r++, outputs += classes, delta += classes) {
    ptrdiff_t best = 0;
    double sum = 0;
    for (ptrdiff_t j = 1; j < classes; j++)
      if (outputs[j] > outputs[best]) best = j;
    correct += best == labels[r];
    for (ptrdiff_t j = 0; j < classes; j++) {
      float difference = outputs[j] - (j == labels[r] ? 1.0f : 0.0f);
      sum += (double)difference * (double)difference;
      delta[j] = difference * factor;
    }
    *loss_sum += sum / (double)classes;
  }
  return correct;
}

// Optimisers.

static void BODY(sum_of_squares)(ptrdiff_t count, const float *x, double *restrict sum) {
  ptrdiff_t i = 0;
  for (; i + 16 <= count; i += 16)
    for (int j = 0; j < 16; j++) sum[j] += (double)x[i + j] * (double)x[i + j];
  for (int j = 0; i + j < count; j++) sum[j] += (double)x[i + j] * (double)x[i + j];
}

static void BODY(sgd)(ptrdiff_t count, const fs_step *step, const float *gradient,
                      float *velocity, const float *weight, float *out) {
  const V rate = v_set(step->rate), momentum = v_set(step->momentum), decay = v_set(step->decay);
  const int nesterov = step->nesterov;
  for (ptrdiff_t i = 0; i < count; i += VL) {
    const int n = count - i < VL ? (int)(count - i) : VL;
    V w = v_load_first(weight + i, n), g = v_load_first(gradient + i, n) + decay * w;
    V v = momentum * v_load_first(velocity + i, n) + g;
    v_store_first(velocity + i, v, n);
    v_store_first(out + i, w - rate * (nesterov ? g + momentum * v : v), n);
  }
}

static void BODY(adam)(ptrdiff_t count, const fs_step *step, const float *gradient, float *first,
                       float *second, const float *weight, float *out) {
  V decay = v_set(step->decay), rate = v_set(step->rate), epsilon = v_set(step->epsilon);
  V beta1 = v_set(step->beta1), rest1 = v_set(step->rest1);
  V beta2 = v_set(step->beta2), rest2 = v_set(step->rest2);
  V correction1 = v_set(step->correction1), correction2 = v_set(step->correction2);
  for (ptrdiff_t i = 0; i < count; i += VL) {
    int n = count - i < VL ? (int)(count - i) : VL;
    V w = v_load_first(weight + i, n), g = v_load_first(gradient + i, n) + decay * w;
    V m = beta1 * v_load_first(first + i, n) + rest1 * g;
    V v = beta2 * v_load_first(second + i, n) + rest2 * (g * g);
    v_store_first(first + i, m, n);
    v_store_first(second + i, v, n);
    V root = __builtin_elementwise_sqrt(v * correction2);
    v_store_first(out + i, w - rate * (m * correction1) / (root + epsilon), n);
  }
}

#include "recurrent.inc.h"
