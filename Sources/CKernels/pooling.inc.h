// Pooling of channels-last images; a part of body.inc.h.

// Pooling, a run of channels at a time.

// One vector of channels of a window: the best so far and its place, in registers.
INLINE void BODY(largest)(ptrdiff_t high, ptrdiff_t wide, ptrdiff_t line, ptrdiff_t channels,
                          int rectified, int n, const float *in, float *out, int32_t *from) {
  V best = v_load_first(in, n);
  VI place = (VI)v_set(0);
  for (ptrdiff_t j = 0; j < high; j++)
    for (ptrdiff_t i = j == 0; i < wide; i++) {
      V value = v_load_first(in + j * line + i * channels, n);
      VI more = value > best, here = (VI)v_set(0) + (int32_t)(j * wide + i);
      best = BODY(v_select)(more, value, best);
      place = (more & here) | (~more & place);
    }
  if (rectified) {
    VI alive = best > v_set(0);
    best = (V)(alive & (VI)best);
    place |= ~alive;
  }
  v_store_first(out, best, n);
  v_store_first((float *)from, (V)place, n);
}

// The same, with the loops of the usual windows unrolled.
INLINE void BODY(largest_of)(const fs_pooling *s, ptrdiff_t line, int n, const float *in,
                             float *out, int32_t *from) {
  ptrdiff_t c = s->channels, high = s->window_height, wide = s->window_width;
  int rectified = s->rectified;
  if (high == 2 && wide == 2)
    BODY(largest)(2, 2, line, c, rectified, n, in, out, from);
  else if (high == 3 && wide == 3)
    BODY(largest)(3, 3, line, c, rectified, n, in, out, from);
  else
    BODY(largest)(high, wide, line, c, rectified, n, in, out, from);
}

static void BODY(max_pool)(const fs_pooling *s, ptrdiff_t rows, const float *in, float *out,
                           int32_t *from) {
  ptrdiff_t c = s->channels, line = s->width * c;
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t y = 0; y < s->out_height; y++)
      for (ptrdiff_t x = 0; x < s->out_width; x++, out += c, from += c) {
        const float *window = in + (r * s->height + y * s->stride) * line + x * s->stride * c;
        ptrdiff_t i = 0;
        for (; i + VL <= c; i += VL)
          BODY(largest_of)(s, line, VL, window + i, out + i, from + i);
        if (i < c) BODY(largest_of)(s, line, (int)(c - i), window + i, out + i, from + i);
      }
}

// One vector of channels: what a window's inputs get.
INLINE void BODY(hand_back)(ptrdiff_t high, ptrdiff_t wide, ptrdiff_t line, ptrdiff_t channels,
                            int apart, int n, V value, VI place, float *to) {
  for (ptrdiff_t j = 0; j < high; j++)
    for (ptrdiff_t i = 0; i < wide; i++) {
      float *at = to + j * line + i * channels;
      V before = apart ? v_set(0) : v_load_first(at, n);
      VI here = place == (VI)v_set(0) + (int32_t)(j * wide + i);
      v_store_first(at, before + (V)(here & (VI)value), n);
    }
}

// The same, with the loops of the usual windows unrolled.
INLINE void BODY(hand_back_to)(const fs_pooling *s, ptrdiff_t line, int apart, int n,
                               const float *delta, const int32_t *from, float *to) {
  ptrdiff_t c = s->channels, high = s->window_height, wide = s->window_width;
  V value = v_load_first(delta, n);
  VI place = (VI)v_load_first((const float *)from, n);
  if (high == 2 && wide == 2 && apart)
    BODY(hand_back)(2, 2, line, c, 1, n, value, place, to);
  else if (high == 3 && wide == 3 && !apart)
    BODY(hand_back)(3, 3, line, c, 0, n, value, place, to);
  else
    BODY(hand_back)(high, wide, line, c, apart, n, value, place, to);
}

// Where windows do not overlap each input is written once, else added to.
static void BODY(max_pool_backward)(const fs_pooling *s, ptrdiff_t rows, const float *delta,
                                    const int32_t *from, float *in_delta) {
  ptrdiff_t c = s->channels, line = s->width * c;
  ptrdiff_t high = s->window_height, wide = s->window_width;
  int apart = s->stride >= high && s->stride >= wide;
  // Those of sequences are one wide.
  int covers = s->stride == high && s->height == s->out_height * high &&
               (s->stride == wide || s->out_width == 1) && s->width == s->out_width * wide;
  for (ptrdiff_t r = 0; r < rows; r++) {
    float *image = in_delta + r * s->height * line;
    if (!covers)
      for (ptrdiff_t i = 0; i < s->height * line; i++) image[i] = 0;
    for (ptrdiff_t y = 0; y < s->out_height; y++)
      for (ptrdiff_t x = 0; x < s->out_width; x++, delta += c, from += c) {
        float *window = image + y * s->stride * line + x * s->stride * c;
        ptrdiff_t i = 0;
        for (; i + VL <= c; i += VL)
          BODY(hand_back_to)(s, line, apart, VL, delta + i, from + i, window + i);
        if (i < c)
          BODY(hand_back_to)(s, line, apart, (int)(c - i), delta + i, from + i, window + i);
      }
  }
}

static void BODY(average_pool)(const fs_pooling *s, ptrdiff_t rows, const float *in,
                               float *restrict out) {
  ptrdiff_t c = s->channels;
  ptrdiff_t wide = s->window_width, all = s->window_height * wide;
  float count = (float)all;
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t y = 0; y < s->out_height; y++)
      for (ptrdiff_t x = 0; x < s->out_width; x++, out += c) {
        for (ptrdiff_t i = 0; i < c; i++) out[i] = 0;
        for (ptrdiff_t p = 0; p < all; p++) {
          const float *at = in + ((r * s->height + y * s->stride + p / wide) * s->width +
                                  x * s->stride + p % wide) *
                                     c;
          for (ptrdiff_t i = 0; i < c; i++) out[i] += at[i];
        }
        for (ptrdiff_t i = 0; i < c; i++) out[i] /= count;
      }
}

static void BODY(average_pool_backward)(const fs_pooling *s, ptrdiff_t rows, const float *delta,
                                        float *restrict in_delta) {
  ptrdiff_t c = s->channels;
  ptrdiff_t wide = s->window_width, all = s->window_height * wide;
  float count = (float)all;
  for (ptrdiff_t i = 0; i < rows * s->height * s->width * c; i++) in_delta[i] = 0;
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t y = 0; y < s->out_height; y++)
      for (ptrdiff_t x = 0; x < s->out_width; x++, delta += c)
        for (ptrdiff_t p = 0; p < all; p++) {
          float *to = in_delta + ((r * s->height + y * s->stride + p / wide) * s->width +
                                  x * s->stride + p % wide) *
                                     c;
          for (ptrdiff_t i = 0; i < c; i++) to[i] += delta[i] / count;
        }
}
