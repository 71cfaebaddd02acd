// Normalisation of groups of channels; a part of body.inc.h.
//
// Eight channels at a time, in lanes of doubles for sums. Nothing is fused, so vectors of any width
// give the same bits.

// Every function that is handed vectors is inlined, so how they would be handed over is no matter.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

typedef float BODY(F8) __attribute__((vector_size(32)));
typedef float BODY(U8) __attribute__((vector_size(32), aligned(4)));
typedef double BODY(D8) __attribute__((vector_size(64)));

// The first n of eight floats; the others are 0.
INLINE BODY(F8) BODY(eight)(const float *p, int n) {
  if (n == 8) return *(const BODY(U8) *)p;
  BODY(F8) x = {0};
  for (int i = 0; i < n; i++) x[i] = p[i];
  return x;
}

INLINE void BODY(store_eight)(float *p, BODY(F8) x, int n) {
  if (n == 8)
    *(BODY(U8) *)p = x;
  else
    for (int i = 0; i < n; i++) p[i] = x[i];
}

// One number, n times.
INLINE BODY(F8) BODY(all_eight)(float x, int n) {
  BODY(F8) v = {x, x, x, x, x, x, x, x};
  for (int i = n; i < 8; i++) v[i] = 0;
  return v;
}

INLINE double BODY(fold_eight)(BODY(D8) e) {
  return ((e[0] + e[4]) + (e[2] + e[6])) + ((e[1] + e[5]) + (e[3] + e[7]));
}

#define FS_WIDEN(x) __builtin_convertvector(x, BODY(D8))

// How many of eight channels from c on a group has; `whole`: all of them, everywhere.
INLINE int BODY(of_eight)(const int whole, ptrdiff_t width, ptrdiff_t c) {
  return whole || width - c >= 8 ? 8 : (int)(width - c);
}

// The sum of a group's values, or of the squares of their differences from `mean`.
INLINE double BODY(group_sum)(const int whole, const int squared, const float *in,
                              ptrdiff_t places, ptrdiff_t channels, ptrdiff_t width, float mean) {
  BODY(D8) all = {0};
  for (ptrdiff_t c = 0; c < width; c += 8) {
    const int n = BODY(of_eight)(whole, width, c);
    const BODY(F8) middle = BODY(all_eight)(mean, n);
    BODY(D8) sum = {0};
    for (ptrdiff_t place = 0; place < places; place++) {
      BODY(F8) x = BODY(eight)(in + place * channels + c, n);
      if (squared) x = x - middle, x = x * x;
      sum += FS_WIDEN(x);
    }
    all += sum;
  }
  return BODY(fold_eight)(all);
}

INLINE void BODY(normalise_groups)(const int whole, const fs_normalisation *s, const float *in,
                                   const float *scale, const float *shift, float *normal,
                                   float *inverses, float *out) {
  const ptrdiff_t channels = s->channels, places = s->places, width = channels / s->groups;
  const double count = (double)(places * width);
  for (ptrdiff_t at = 0; at < s->pieces * s->groups; at++) {
    const ptrdiff_t first = at % s->groups * width;
    const ptrdiff_t from = at / s->groups * places * channels + first;
    const float mean =
        (float)(BODY(group_sum)(whole, 0, in + from, places, channels, width, 0) / count);
    const double squares =
        BODY(group_sum)(whole, 1, in + from, places, channels, width, mean);
    const float inverse =
        (float)(1 / __builtin_elementwise_sqrt(squares / count + s->epsilon));
    inverses[at] = inverse;
    for (ptrdiff_t c = 0; c < width; c += 8) {
      const int n = BODY(of_eight)(whole, width, c);
      const BODY(F8) middle = BODY(all_eight)(mean, 8), times = BODY(all_eight)(inverse, 8);
      const BODY(F8) factor = BODY(eight)(scale + first + c, n);
      const BODY(F8) more = BODY(eight)(shift + first + c, n);
      for (ptrdiff_t place = 0; place < places; place++) {
        const ptrdiff_t to = from + place * channels + c;
        const BODY(F8) x = (BODY(eight)(in + to, n) - middle) * times;
        BODY(store_eight)(normal + to, x, n);
        BODY(store_eight)(out + to, x * factor + more, n);
      }
    }
  }
}

static void BODY(normalise)(const fs_normalisation *s, const float *in, const float *scale,
                            const float *shift, float *normal, float *inverses, float *out) {
  if (s->channels / s->groups % 8 == 0)
    BODY(normalise_groups)(1, s, in, scale, shift, normal, inverses, out);
  else
    BODY(normalise_groups)(0, s, in, scale, shift, normal, inverses, out);
}

INLINE void BODY(groups_back)(const int whole, const fs_normalisation *s, const float *delta,
                              const float *normal, const float *inverses, const float *scale,
                              double *sums, float *in_delta) {
  const ptrdiff_t channels = s->channels, places = s->places, width = channels / s->groups;
  const double count = (double)(places * width);
  for (ptrdiff_t c = 0; c < 2 * channels; c++) sums[c] = 0;
  for (ptrdiff_t at = 0; at < s->pieces * s->groups; at++) {
    const ptrdiff_t first = at % s->groups * width;
    const ptrdiff_t from = at / s->groups * places * channels + first;
    BODY(D8) plain = {0}, weighted = {0};
    for (ptrdiff_t c = 0; c < width; c += 8) {
      const int n = BODY(of_eight)(whole, width, c);
      BODY(D8) sum = {0}, product = {0};
      for (ptrdiff_t place = 0; place < places; place++) {
        const ptrdiff_t to = from + place * channels + c;
        const BODY(F8) d = BODY(eight)(delta + to, n);
        sum += FS_WIDEN(d);
        product += FS_WIDEN(d * BODY(eight)(normal + to, n));
      }
      const BODY(D8) factor = FS_WIDEN(BODY(eight)(scale + first + c, n));
      plain += factor * sum;
      weighted += factor * product;
      for (int i = 0; i < n; i++) {
        sums[first + c + i] += product[i];
        sums[channels + first + c + i] += sum[i];
      }
    }
    if (!in_delta) continue;
    const BODY(F8) a = BODY(all_eight)((float)(BODY(fold_eight)(plain) / count), 8);
    const BODY(F8) b = BODY(all_eight)((float)(BODY(fold_eight)(weighted) / count), 8);
    const BODY(F8) inverse = BODY(all_eight)(inverses[at], 8);
    for (ptrdiff_t c = 0; c < width; c += 8) {
      const int n = BODY(of_eight)(whole, width, c);
      const BODY(F8) factor = BODY(eight)(scale + first + c, n);
      for (ptrdiff_t place = 0; place < places; place++) {
        const ptrdiff_t to = from + place * channels + c;
        const BODY(F8) d = BODY(eight)(delta + to, n) * factor;
        BODY(store_eight)(in_delta + to, (d - (BODY(eight)(normal + to, n) * b + a)) * inverse, n);
      }
    }
  }
}

static void BODY(normalise_back)(const fs_normalisation *s, const float *delta,
                                 const float *normal, const float *inverses, const float *scale,
                                 double *sums, float *in_delta) {
  if (s->channels / s->groups % 8 == 0)
    BODY(groups_back)(1, s, delta, normal, inverses, scale, sums, in_delta);
  else
    BODY(groups_back)(0, s, delta, normal, inverses, scale, sums, in_delta);
}

#pragma clang diagnostic pop
