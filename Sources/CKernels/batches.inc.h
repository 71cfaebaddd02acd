// Normalisation of channels over a whole batch; a part of body.inc.h.
//
// Some places at a time, which stay in the nearest cache, and of these eight channels at a time in
// lanes of doubles, some such eights at once; the channels that are left one by one. A channel's
// sums ascend over places. Nothing is fused, so vectors of any width give the same bits.

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

typedef double BODY(E8) __attribute__((vector_size(64), aligned(8)));

enum { BODY(SPELL) = 16 };  // Places at a time.

#define FS_EIGHTS (VL >= 8 ? 4 : 2)
#define FS_EIGHT(p) (*(const BODY(U8) *)(p))
#define FS_DOUBLES(p) (*(const BODY(E8) *)(p))
#define FS_NARROW(x) __builtin_convertvector(x, BODY(F8))
#define FS_EACH _Pragma("clang loop unroll(full)") for (int e = 0; e < eights; e++)

// Runs some(eights, n, at, c) for the next n places and 8·eights channels from c on, whose first
// value is number `at`, and then one(n, at, c) for each of the channels that are left.
#define FS_WALK(some, one)                                                                     \
  for (ptrdiff_t first = 0; first < places; first += BODY(SPELL)) {                            \
    const ptrdiff_t n = places - first < BODY(SPELL) ? places - first : BODY(SPELL);           \
    const ptrdiff_t from = first * channels;                                                   \
    ptrdiff_t c = 0;                                                                           \
    for (; c + 8 * FS_EIGHTS <= channels; c += 8 * FS_EIGHTS) some(FS_EIGHTS, n, from + c, c); \
    for (; c + 8 <= channels; c += 8) some(1, n, from + c, c);                                 \
    for (; c < channels; c++) one(n, from + c, c);                                             \
  }

// Adds values, or the squares of their differences from `means`.
INLINE void BODY(add_moments)(const int squared, const int eights, ptrdiff_t n, ptrdiff_t channels,
                              const float *in, const double *means, double *sums) {
  BODY(D8) sum[FS_EIGHTS], mean[FS_EIGHTS];
  FS_EACH {
    sum[e] = FS_DOUBLES(sums + 8 * e);
    mean[e] = FS_DOUBLES(means + 8 * e);
  }
  for (ptrdiff_t place = 0; place < n; place++, in += channels)
    FS_EACH {
      BODY(D8) x = FS_WIDEN(FS_EIGHT(in + 8 * e));
      if (squared) x = x - mean[e], x = x * x;
      sum[e] += x;
    }
  FS_EACH *(BODY(E8) *)(sums + 8 * e) = sum[e];
}

static void BODY(batch_moments)(ptrdiff_t places, ptrdiff_t channels, const float *in,
                                double *means, double *squares) {
  for (ptrdiff_t c = 0; c < channels; c++) means[c] = squares[c] = 0;
#define FS_SOME(eights, n, at, c) \
  BODY(add_moments)(0, eights, n, channels, in + at, means + c, means + c)
#define FS_ONE(n, at, c) \
  for (ptrdiff_t i = 0; i < n; i++) means[c] += in[at + i * channels]
  FS_WALK(FS_SOME, FS_ONE)
#undef FS_SOME
#undef FS_ONE
  for (ptrdiff_t c = 0; c < channels; c++) means[c] /= (double)places;
#define FS_SOME(eights, n, at, c) \
  BODY(add_moments)(1, eights, n, channels, in + at, means + c, squares + c)
#define FS_ONE(n, at, c)                               \
  for (ptrdiff_t i = 0; i < n; i++) {                  \
    const double x = in[at + i * channels] - means[c]; \
    squares[c] += x * x;                               \
  }
  FS_WALK(FS_SOME, FS_ONE)
#undef FS_SOME
#undef FS_ONE
}

INLINE void BODY(normalise_some)(const int eights, ptrdiff_t n, ptrdiff_t channels,
                                 const float *in, const double *means, const double *inverses,
                                 const float *scale, const float *shift, float *normal,
                                 float *out) {
  BODY(D8) mean[FS_EIGHTS], inverse[FS_EIGHTS];
  BODY(F8) factor[FS_EIGHTS], more[FS_EIGHTS];
  FS_EACH {
    mean[e] = FS_DOUBLES(means + 8 * e);
    inverse[e] = FS_DOUBLES(inverses + 8 * e);
    factor[e] = FS_EIGHT(scale + 8 * e);
    more[e] = FS_EIGHT(shift + 8 * e);
  }
  for (ptrdiff_t at = 0; at < n * channels; at += channels)
    FS_EACH {
      const ptrdiff_t to = at + 8 * e;
      const BODY(F8) x = FS_NARROW((FS_WIDEN(FS_EIGHT(in + to)) - mean[e]) * inverse[e]);
      *(BODY(U8) *)(normal + to) = x;
      *(BODY(U8) *)(out + to) = x * factor[e] + more[e];
    }
}

static void BODY(batch_normalise)(ptrdiff_t places, ptrdiff_t channels, const float *in,
                                  const double *means, const double *inverses, const float *scale,
                                  const float *shift, float *normal, float *out) {
#define FS_SOME(eights, n, at, c)                                                        \
  BODY(normalise_some)(eights, n, channels, in + at, means + c, inverses + c, scale + c, \
                       shift + c, normal + at, out + at)
#define FS_ONE(n, at, c)                                            \
  for (ptrdiff_t to = at; to < at + n * channels; to += channels) { \
    normal[to] = (float)((in[to] - means[c]) * inverses[c]);        \
    out[to] = normal[to] * scale[c] + shift[c];                     \
  }
  FS_WALK(FS_SOME, FS_ONE)
#undef FS_SOME
#undef FS_ONE
}

INLINE void BODY(add_gradients)(const int eights, ptrdiff_t n, ptrdiff_t channels,
                                const float *delta, const float *normal, double *sums,
                                double *products) {
  BODY(D8) sum[FS_EIGHTS], product[FS_EIGHTS];
  FS_EACH {
    sum[e] = FS_DOUBLES(sums + 8 * e);
    product[e] = FS_DOUBLES(products + 8 * e);
  }
  for (ptrdiff_t at = 0; at < n * channels; at += channels)
    FS_EACH {
      const BODY(D8) d = FS_WIDEN(FS_EIGHT(delta + at + 8 * e));
      sum[e] += d;
      product[e] += d * FS_WIDEN(FS_EIGHT(normal + at + 8 * e));
    }
  FS_EACH {
    *(BODY(E8) *)(sums + 8 * e) = sum[e];
    *(BODY(E8) *)(products + 8 * e) = product[e];
  }
}

INLINE void BODY(pass_back)(const int eights, ptrdiff_t n, ptrdiff_t channels, double places,
                            const float *delta, const float *normal, const float *inverses,
                            const float *scale, const double *sums, const double *products,
                            float *in_delta) {
  BODY(D8) sum[FS_EIGHTS], product[FS_EIGHTS], factor[FS_EIGHTS], inverse[FS_EIGHTS];
  FS_EACH {
    sum[e] = FS_DOUBLES(sums + 8 * e);
    product[e] = FS_DOUBLES(products + 8 * e);
    factor[e] = FS_WIDEN(FS_EIGHT(scale + 8 * e));
    inverse[e] = FS_WIDEN(FS_EIGHT(inverses + 8 * e));
  }
  for (ptrdiff_t at = 0; at < n * channels; at += channels)
    FS_EACH {
      const ptrdiff_t to = at + 8 * e;
      const BODY(D8) common = (sum[e] + FS_WIDEN(FS_EIGHT(normal + to)) * product[e]) / places;
      const BODY(D8) rest = FS_WIDEN(FS_EIGHT(delta + to)) - common;
      *(BODY(U8) *)(in_delta + to) = FS_NARROW(rest * factor[e] * inverse[e]);
    }
}

static void BODY(batch_back)(ptrdiff_t places, ptrdiff_t channels, const float *delta,
                             const float *normal, const float *inverses, const float *scale,
                             double *sums, double *products, float *in_delta) {
  const double count = (double)places;
  for (ptrdiff_t c = 0; c < channels; c++) sums[c] = products[c] = 0;
#define FS_SOME(eights, n, at, c) \
  BODY(add_gradients)(eights, n, channels, delta + at, normal + at, sums + c, products + c)
#define FS_ONE(n, at, c)                                            \
  for (ptrdiff_t to = at; to < at + n * channels; to += channels) { \
    sums[c] += delta[to];                                           \
    products[c] += (double)delta[to] * normal[to];                  \
  }
  FS_WALK(FS_SOME, FS_ONE)
#undef FS_SOME
#undef FS_ONE
  if (!in_delta) return;
#define FS_SOME(eights, n, at, c)                                                               \
  BODY(pass_back)(eights, n, channels, count, delta + at, normal + at, inverses + c, scale + c, \
                  sums + c, products + c, in_delta + at)
#define FS_ONE(n, at, c)                                                   \
  for (ptrdiff_t to = at; to < at + n * channels; to += channels) {        \
    const double common = (sums[c] + normal[to] * products[c]) / count;    \
    in_delta[to] = (float)((delta[to] - common) * scale[c] * inverses[c]); \
  }
  FS_WALK(FS_SOME, FS_ONE)
#undef FS_SOME
#undef FS_ONE
}

#undef FS_WALK
#undef FS_EACH
#undef FS_NARROW
#undef FS_DOUBLES
#undef FS_EIGHT
#undef FS_EIGHTS
#pragma clang diagnostic pop
