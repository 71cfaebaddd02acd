// Convolutions of one channel by a few filters, such as the first of a small network; a part of
// body.inc.h, for bodies with wide vectors, which so few filters would leave mostly empty.

enum { MOST_FILTERS = 8, LINE = 64 };  // How wide an image may be.

// Whether the two functions below make the products.
INLINE int BODY(has_few_filters)(const fs_convolution *s) {
  return s->channels == 1 && s->stride == 1 && s->outputs <= MOST_FILTERS;
}

// The first n of eight vectors as columns: rows[i] has what they have at 2i and at 2i + 1.
INLINE void BODY(turn_eight)(const V in[MOST_FILTERS], V rows[8]) {
  V quads[2][4];  // Of four vectors, what they have at 4l + i in the l-th quarter.
#pragma clang loop unroll(full)
  for (int h = 0; h < 2; h++) {
    V a = in[4 * h], b = in[4 * h + 1], c = in[4 * h + 2], d = in[4 * h + 3];
    V ab = FS_JOIN(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    V cd = FS_JOIN(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    V ab2 = FS_JOIN(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    V cd2 = FS_JOIN(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    quads[h][0] = FS_JOIN(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    quads[h][1] = FS_JOIN(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    quads[h][2] = FS_JOIN(ab2, cd2, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    quads[h][3] = FS_JOIN(ab2, cd2, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) {
    V low[2];  // Quarters 0 and 1, or 2 and 3, of both halves.
    low[0] = FS_JOIN(quads[0][i], quads[1][i], 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22,
                     23);
    low[1] = FS_JOIN(quads[0][i], quads[1][i], 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29,
                     30, 31);
    rows[i] = low[0], rows[4 + i] = low[1];
  }
}

enum { BODY(BESIDE) = 3 };  // Vectors of pixels that a tile has.

// Pixels from `at` on, one behind the other over the ends of lines, by all filters: what begins at
// the last pixels of a line is no result. At the end of an image, what lies behind it counts as 0.
INLINE void BODY(filter_tile)(const int filters, const int is_end, const fs_convolution *s,
                              ptrdiff_t at, const float *in, const float *weight,
                              const float *bias, float results[BODY(BESIDE) * VL][8]) {
  V sum[MOST_FILTERS][BODY(BESIDE)];
#pragma clang loop unroll(full)
  for (int f = 0; f < MOST_FILTERS; f++)
#pragma clang loop unroll(full)
    for (int v = 0; v < BODY(BESIDE); v++) sum[f][v] = v_set(0);
  for (ptrdiff_t ky = 0; ky < s->kernel_height; ky++)
    for (ptrdiff_t kx = 0; kx < s->kernel_width; kx++, weight += filters) {
      const ptrdiff_t from = at + ky * s->width + kx, left = s->height * s->width - from;
      V pixels[BODY(BESIDE)];
#pragma clang loop unroll(full)
      for (int v = 0; v < BODY(BESIDE); v++) {
        const ptrdiff_t some = left - v * VL;
        pixels[v] = !is_end || some >= VL ? v_load(in + from + v * VL)
                    : some > 0            ? v_load_first(in + from + v * VL, (int)some)
                                          : v_set(0);
      }
#pragma clang loop unroll(full)
      for (int f = 0; f < filters; f++) {
        const V factor = v_set(weight[f]);
#pragma clang loop unroll(full)
        for (int v = 0; v < BODY(BESIDE); v++) sum[f][v] = v_fma(pixels[v], factor, sum[f][v]);
      }
    }
#pragma clang loop unroll(full)
  for (int v = 0; v < BODY(BESIDE); v++) {
    V all[MOST_FILTERS], rows[8];
#pragma clang loop unroll(full)
    for (int f = 0; f < MOST_FILTERS; f++)
      all[f] = f < filters && bias ? sum[f][v] + v_set(bias[f]) : sum[f][v];
    BODY(turn_eight)(all, rows);
    // Vector i has pixels i and 4 + i, and vector 4 + i those eight further on.
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) {
      float two[VL] __attribute__((aligned(64)));
      v_store(two, rows[i]);
      const int first = v * VL + i / 4 * 8 + i % 4;
      __builtin_memcpy(results[first], two, 8 * sizeof(float));
      __builtin_memcpy(results[first + 4], two + 8, 8 * sizeof(float));
    }
  }
}

INLINE void BODY(few_filters)(const int filters, const fs_convolution *s, const float *in,
                              const float *weight, const float *bias, float *out) {
  const ptrdiff_t places = (s->out_height - 1) * s->width + s->out_width;
  const ptrdiff_t farthest = (s->kernel_height - 1) * s->width + s->kernel_width - 1;
  const float *end = out + s->out_height * s->out_width * filters;
  float results[BODY(BESIDE) * VL][8] __attribute__((aligned(64)));
  for (ptrdiff_t at = 0, x = 0; at < places; at += BODY(BESIDE) * VL) {
    if (at + farthest + BODY(BESIDE) * VL <= s->height * s->width)
      BODY(filter_tile)(filters, 0, s, at, in, weight, bias, results);
    else
      BODY(filter_tile)(filters, 1, s, at, in, weight, bias, results);
    const int count = places - at < BODY(BESIDE) * VL ? (int)(places - at) : BODY(BESIDE) * VL;
    for (int i = 0; i < count; i++) {
      // What is written too far is written again by the next pixel.
      if (x < s->out_width) {
        if (end - out >= 8)
          __builtin_memcpy(out, results[i], 8 * sizeof(float));
        else
          for (int f = 0; f < filters; f++) out[f] = results[i][f];
        out += filters;
      }
      x = x + 1 == s->width ? 0 : x + 1;
    }
  }
}

#define FS_FILTERS(F)                                                       \
  case F:                                                                   \
    for (ptrdiff_t r = 0; r < rows; r++)                                    \
      BODY(few_filters)(F, s, in + r * image, weight, bias, out + r * result); \
    break;

static void BODY(convolve_few)(const fs_convolution *s, ptrdiff_t rows, const float *in,
                               const float *weight, const float *bias, float *out) {
  const ptrdiff_t image = s->height * s->width, result = s->out_height * s->out_width * s->outputs;
  switch (s->outputs) {
    FS_FILTERS(1) FS_FILTERS(2) FS_FILTERS(3) FS_FILTERS(4)
    FS_FILTERS(5) FS_FILTERS(6) FS_FILTERS(7) FS_FILTERS(8)
  }
}

// Whether the function below makes the gradient by the weights.
INLINE int BODY(has_paired_taps)(const fs_convolution *s) {
  return BODY(has_few_filters)(s) && s->kernel_height == 5 && s->kernel_width == 5 &&
         s->width <= LINE;
}

// Taps of two lines side by side, by eight filters each. A line of pixels lies ready with the line
// below it, every one eight times.
static void BODY(weights_by_pairs)(const fs_convolution *s, const float *in, const float *delta,
                                   const float *start, float *out) {
  float ring[8][LINE * VL + 144] __attribute__((aligned(64)));
  V sum[3][5];
#pragma clang loop unroll(full)
  for (int t = 0; t < 15; t++) sum[t / 5][t % 5] = v_set(0);
  const ptrdiff_t filters = s->outputs, places = s->out_height * s->out_width;
  ptrdiff_t ready = 0;
  for (ptrdiff_t y = 0, place = 0; y < s->out_height; y++) {
    for (; ready < y + 5; ready++)
      for (ptrdiff_t x = 0; x < s->width; x++) {
        const float *pixel = in + ready * s->width + x;
        const V own = v_set(*pixel), below = v_set(ready + 1 < s->height ? pixel[s->width] : 0);
        v_store(ring[ready & 7] + x * VL,
                FS_JOIN(own, below, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23));
      }
    const float *line[3];
#pragma clang loop unroll(full)
    for (int j = 0; j < 3; j++) line[j] = ring[(y + 2 * j) & 7];
    for (ptrdiff_t x = 0; x < s->out_width; x++, place++) {
      float last[8] = {0};
      const float *from = delta + place * filters;
      if ((places - place) * filters < 8) {
        for (ptrdiff_t f = 0; f < filters; f++) last[f] = from[f];
        from = last;
      }
      const V by = v_join(from, from);
#pragma clang loop unroll(full)
      for (int t = 0; t < 15; t++)
        sum[t / 5][t % 5] =
            v_fma(v_load(line[t / 5] + (x + t % 5) * VL), by, sum[t / 5][t % 5]);
    }
  }
  for (int tap = 0; tap < 25; tap++) {
    float lanes[VL];
    v_store(lanes, sum[tap / 10][tap % 5]);
    for (ptrdiff_t f = 0; f < filters; f++) {
      const float own = lanes[tap / 5 % 2 * 8 + f];
      out[tap * filters + f] = start ? own + start[tap * filters + f] : own;
    }
  }
}
