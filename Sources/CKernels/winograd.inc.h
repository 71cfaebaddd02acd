// Convolutions by minimal filtering (Winograd 1980; Lavin and Gray 2016, arXiv 1509.09308, section
// 4.2), a part of body.inc.h: tiles of 6×6 or 8×8 pixels and filters of 5×5 or 3×3 become their
// values at 0, 1, -1, 2, -2 and infinity, tiles of 8×8 also at 1/2 and -1/2. Then 36 products make
// what 100 or 144 made, or 64 what 400 made.
//
// Everything of a point lies together, in planes: [point][tile][channel]. Transforms run along the
// columns of a tile first, then along its rows, in lanes of their own.

// Neighbours, as what their products with a filter's values are interpolated from (Bᵀd).
INLINE void BODY(spread)(const int side, const V d[8], V out[8]) {
  if (side == 6) {
    V far = v_fma(v_set(-4), d[2], d[4]), far_odd = v_fma(v_set(-4), d[1], d[3]);
    V near = d[4] - d[2], near_odd = d[3] - d[1];
    out[0] = v_fma(v_set(4), d[0], v_fma(v_set(-5), d[2], d[4]));
    out[1] = far + far_odd;
    out[2] = far - far_odd;
    out[3] = v_fma(v_set(2), near_odd, near);
    out[4] = v_fma(v_set(-2), near_odd, near);
    out[5] = v_fma(v_set(4), d[1], v_fma(v_set(-5), d[3], d[5]));
    return;
  }
  V far = v_fma(v_set(-4.25f), d[4], d[2] + d[6]);
  V far_odd = v_fma(v_set(-4.25f), d[3], d[1] + d[5]);
  V near = v_fma(v_set(-1.25f), d[4], v_fma(v_set(0.25f), d[2], d[6]));
  V near_odd = v_fma(v_set(2), d[5], v_fma(v_set(-2.5f), d[3], v_set(0.5f) * d[1]));
  V half = v_fma(v_set(-5), d[4], v_fma(v_set(4), d[2], d[6]));
  V half_odd = v_fma(v_set(0.5f), d[5], v_fma(v_set(-2.5f), d[3], d[1] + d[1]));
  out[0] = v_fma(v_set(5.25f), d[4] - d[2], d[0] - d[6]);
  out[1] = far + far_odd;
  out[2] = far - far_odd;
  out[3] = near + near_odd;
  out[4] = near - near_odd;
  out[5] = half + half_odd;
  out[6] = half - half_odd;
  out[7] = v_fma(v_set(5.25f), d[3] - d[5], d[7] - d[1]);
}

// A polynomial's values by its 2 to 5 coefficients, scaled for the interpolation (Gg).
INLINE void BODY(evaluate)(const int side, const int count, const V g[8], V out[8]) {
  V even = g[0], odd = g[1], even2 = g[0], odd2 = g[1] + g[1];
  V even_half = g[0], odd_half = v_set(0.5f) * g[1];
  if (count > 2) {
    even = even + g[2], even2 = v_fma(v_set(4), g[2], even2);
    even_half = v_fma(v_set(0.25f), g[2], even_half);
  }
  if (count > 3) {
    odd = odd + g[3], odd2 = v_fma(v_set(8), g[3], odd2);
    odd_half = v_fma(v_set(0.125f), g[3], odd_half);
  }
  if (count > 4) {
    even = even + g[4], even2 = v_fma(v_set(16), g[4], even2);
    even_half = v_fma(v_set(0.0625f), g[4], even_half);
  }
  V one = v_set(side == 6 ? -1.0f / 6 : -2.0f / 9), two = v_set(side == 6 ? 1.0f / 24 : 1.0f / 90);
  out[0] = side == 6 ? g[0] * v_set(0.25f) : g[0];
  out[1] = (even + odd) * one;
  out[2] = (even - odd) * one;
  out[3] = (even2 + odd2) * two;
  out[4] = (even2 - odd2) * two;
  if (side == 8) {
    out[5] = (even_half + odd_half) * v_set(32.0f / 45);
    out[6] = (even_half - odd_half) * v_set(32.0f / 45);
  }
  out[side - 1] = g[count - 1];
}

// The 2 to 5 coefficients of a product by its values (Aᵀm).
INLINE void BODY(interpolate)(const int side, const int count, const V m[8], V out[5]) {
  V even = m[1] + m[2], odd = m[1] - m[2], even2 = m[3] + m[4], odd2 = m[3] - m[4];
  out[0] = (m[0] + even) + even2;
  out[1] = v_fma(v_set(2), odd2, odd);
  if (count > 2) out[2] = v_fma(v_set(4), even2, even);
  if (count > 3) out[3] = v_fma(v_set(8), odd2, odd);
  if (count > 4) out[4] = v_fma(v_set(16), even2, even);
  if (side == 8) {
    V even_half = m[5] + m[6], odd_half = m[5] - m[6];
    out[0] = out[0] + even_half;
    out[1] = v_fma(v_set(0.5f), odd_half, out[1]);
    if (count > 2) out[2] = v_fma(v_set(0.25f), even_half, out[2]);
    if (count > 3) out[3] = v_fma(v_set(0.125f), odd_half, out[3]);
    if (count > 4) out[4] = v_fma(v_set(0.0625f), even_half, out[4]);
  }
  out[count - 1] = out[count - 1] + m[side - 1];
}

// Loads and stores of a whole vector, or of its first n lanes.
INLINE V BODY(load_some)(const int ragged, const float *p, int n) {
  return ragged ? v_load_first(p, n) : v_load(p);
}
INLINE void BODY(store_some)(const int ragged, float *p, V x, int n) {
  if (ragged)
    v_store_first(p, x, n);
  else
    v_store(p, x);
}

// Calls EACH with `ragged` = 0 for every whole vector of `count` lanes, and with 1 for the rest.
#define FS_VECTORS(count, EACH)                     \
  {                                                 \
    ptrdiff_t i = 0;                                \
    for (; i + VL <= (count); i += VL) EACH(0, VL); \
    if (i < (count)) EACH(1, (int)((count) - i));   \
  }

// values[point] = the side×side values of count×count coefficients, `column` apart in a row of
// the tile and `row` in a column; what is not within `high` and `wide` is zeros.
INLINE void BODY(values_of)(const int ragged, int n, const int side, const int count,
                            const int is_input, const float *in, ptrdiff_t row, ptrdiff_t column,
                            ptrdiff_t high, ptrdiff_t wide, float *values, ptrdiff_t plane) {
  V part[8][8], line[8], out[8];
  for (int x = 0; x < count; x++) {
#pragma clang loop unroll(full)
    for (int y = 0; y < count; y++)
      line[y] = y < high && x < wide ? BODY(load_some)(ragged, in + y * row + x * column, n)
                                     : v_set(0);
    if (is_input)
      BODY(spread)(side, line, out);
    else
      BODY(evaluate)(side, count, line, out);
#pragma clang loop unroll(full)
    for (int y = 0; y < side; y++) part[y][x] = out[y];
  }
  for (int y = 0; y < side; y++, values += side * plane) {
    if (is_input)
      BODY(spread)(side, part[y], out);
    else
      BODY(evaluate)(side, count, part[y], out);
#pragma clang loop unroll(full)
    for (int x = 0; x < side; x++) BODY(store_some)(ragged, values + x * plane, out[x], n);
  }
}

// out[y][x] = the count×count coefficients of side×side values.
INLINE void BODY(coefficients_of)(const int ragged, int n, const int side, const int count,
                                  const float *values, ptrdiff_t plane, V out[5][5]) {
  V part[5][8], line[8], some[5];
  for (int x = 0; x < side; x++) {
#pragma clang loop unroll(full)
    for (int y = 0; y < side; y++)
      line[y] = BODY(load_some)(ragged, values + (side * y + x) * plane, n);
    BODY(interpolate)(side, count, line, some);
#pragma clang loop unroll(full)
    for (int y = 0; y < count; y++) part[y][x] = some[y];
  }
#pragma clang loop unroll(full)
  for (int y = 0; y < count; y++) BODY(interpolate)(side, count, part[y], out[y]);
}

// The values of every tile of an image of height×width; tiles are `step` apart, of count×count.
INLINE void BODY(spread_image)(const int side, const int count, const int is_input,
                               fs_tiling tiling, ptrdiff_t height, ptrdiff_t width,
                               ptrdiff_t channels, const float *in, float *values) {
  ptrdiff_t plane = fs_winograd_plane(tiling.count, channels);
  for (ptrdiff_t ty = 0; ty < tiling.high; ty++)
    for (ptrdiff_t tx = 0; tx < tiling.wide; tx++, values += channels) {
      ptrdiff_t y = ty * tiling.step, x = tx * tiling.step;
      const float *from = in + (y * width + x) * channels;
#define FS_EACH(ragged, n)                                                               \
  BODY(values_of)(ragged, n, side, count, is_input, from + i, width *channels, channels, \
                  height - y, width - x, values + i, plane)
      FS_VECTORS(channels, FS_EACH)
#undef FS_EACH
    }
}

INLINE void BODY(filter_values)(const int side, const int size, ptrdiff_t count,
                                const float *weight, float *values) {
  ptrdiff_t plane = fs_winograd_plane(1, count);
#define FS_EACH(ragged, n)                                                              \
  BODY(values_of)(ragged, n, side, size, 0, weight + i, size *count, count, size, size, \
                  values + i, plane)
  FS_VECTORS(count, FS_EACH)
#undef FS_EACH
}

// One loop for each kind of tile: EACH(side, size of filters, step).
#define FS_TILINGS(tiling, EACH) \
  {                              \
    if ((tiling).side == 8)      \
      EACH(8, 5, 4);             \
    else if ((tiling).step == 4) \
      EACH(6, 3, 4);             \
    else                         \
      EACH(6, 5, 2);             \
  }

static void BODY(winograd_filters)(const fs_convolution *s, const float *weight, float *values) {
#define FS_EACH(side, size, step) \
  BODY(filter_values)(side, size, s->channels * s->outputs, weight, values)
  FS_TILINGS(fs_winograd_tiling(s), FS_EACH)
#undef FS_EACH
}

// One image's results from the values of its products.
INLINE void BODY(gather_image)(const int side, const int step, const fs_convolution *s,
                               fs_tiling tiling, const float *values, const float *bias,
                               float *out) {
  ptrdiff_t outputs = s->outputs, plane = fs_winograd_plane(tiling.count, outputs);
  for (ptrdiff_t ty = 0; ty < tiling.high; ty++)
    for (ptrdiff_t tx = 0; tx < tiling.wide; tx++, values += outputs) {
      ptrdiff_t high = s->out_height - ty * step, wide = s->out_width - tx * step;
      float *to = out + (ty * s->out_width + tx) * step * outputs;
#define FS_EACH(ragged, n)                                                                      \
  {                                                                                             \
    V some[5][5], start = bias ? BODY(load_some)(ragged, bias + i, n) : v_set(0);               \
    BODY(coefficients_of)(ragged, n, side, step, values + i, plane, some);                      \
    for (int y = 0; y < step && y < high; y++)                                                  \
      for (int x = 0; x < step && x < wide; x++)                                                \
        BODY(store_some)(ragged, to + (y * s->out_width + x) * outputs + i, start + some[y][x], \
                         n);                                                                    \
  }
      FS_VECTORS(outputs, FS_EACH)
#undef FS_EACH
    }
}

INLINE void BODY(spread_input)(fs_tiling tiling, const fs_convolution *s, const float *in,
                               float *values) {
  if (tiling.side == 8)
    BODY(spread_image)(8, 8, 1, tiling, s->height, s->width, s->channels, in, values);
  else
    BODY(spread_image)(6, 6, 1, tiling, s->height, s->width, s->channels, in, values);
}

static void BODY(winograd_convolve)(const fs_convolution *s, ptrdiff_t rows, const float *in,
                                    const float *filters, const float *bias, float *scratch,
                                    float *out) {
  fs_tiling tiling = fs_winograd_tiling(s);
  ptrdiff_t points = tiling.side * tiling.side;
  ptrdiff_t from = fs_winograd_plane(tiling.count, s->channels);
  ptrdiff_t to = fs_winograd_plane(tiling.count, s->outputs);
  ptrdiff_t filter = fs_winograd_plane(1, s->channels * s->outputs);
  float *products = scratch + points * from;
  for (ptrdiff_t r = 0; r < rows; r++) {
    BODY(spread_input)(tiling, s, in, scratch);
    for (ptrdiff_t point = 0; point < points; point++)
      BODY(gemm)(tiling.count, s->outputs, s->channels, scratch + point * from, s->channels, 1,
                 filters + point * filter, s->outputs, NULL, 0, products + point * to, s->outputs);
#define FS_EACH(side, size, step) BODY(gather_image)(side, step, s, tiling, products, bias, out)
    FS_TILINGS(tiling, FS_EACH)
#undef FS_EACH
    in += s->height * s->width * s->channels;
    out += s->out_height * s->out_width * s->outputs;
  }
}

static void BODY(winograd_collect)(const fs_convolution *s, ptrdiff_t rows, const float *in,
                                   const float *delta, int32_t is_first, float *scratch,
                                   float *sums) {
  fs_tiling tiling = fs_winograd_tiling(s);
  ptrdiff_t points = tiling.side * tiling.side;
  ptrdiff_t from = fs_winograd_plane(tiling.count, s->channels);
  ptrdiff_t by = fs_winograd_plane(tiling.count, s->outputs);
  ptrdiff_t filter = fs_winograd_plane(1, s->channels * s->outputs);
  float *deltas = scratch + points * from;
  for (ptrdiff_t r = 0; r < rows; r++) {
    BODY(spread_input)(tiling, s, in, scratch);
#define FS_EACH(side, size, step) \
  BODY(spread_image)(side, step, 0, tiling, s->out_height, s->out_width, s->outputs, delta, deltas)
    FS_TILINGS(tiling, FS_EACH)
#undef FS_EACH
    for (ptrdiff_t point = 0; point < points; point++) {
      float *sum = sums + point * filter;
      BODY(gemm)(s->channels, s->outputs, tiling.count, scratch + point * from, 1, s->channels,
                 deltas + point * by, s->outputs, is_first && r == 0 ? NULL : sum, s->outputs, sum,
                 s->outputs);
    }
    in += s->height * s->width * s->channels;
    delta += s->out_height * s->out_width * s->outputs;
  }
}

INLINE void BODY(filter_sums)(const int side, const int size, ptrdiff_t count,
                              const float *sums, const float *start, float *out) {
  ptrdiff_t plane = fs_winograd_plane(1, count);
#define FS_EACH(ragged, n)                                                          \
  {                                                                                 \
    V some[5][5];                                                                   \
    BODY(coefficients_of)(ragged, n, side, size, sums + i, plane, some);            \
    for (int tap = 0; tap < size * size; tap++) {                                   \
      ptrdiff_t at = tap * count + i;                                               \
      V before = start ? BODY(load_some)(ragged, start + at, n) : v_set(0);         \
      BODY(store_some)(ragged, out + at, before + some[tap / size][tap % size], n); \
    }                                                                               \
  }
  FS_VECTORS(count, FS_EACH)
#undef FS_EACH
}

static void BODY(winograd_weights)(const fs_convolution *s, const float *sums, const float *start,
                                   float *out) {
#define FS_EACH(side, size, step) \
  BODY(filter_sums)(side, size, s->channels * s->outputs, sums, start, out)
  FS_TILINGS(fs_winograd_tiling(s), FS_EACH)
#undef FS_EACH
}

#undef FS_TILINGS
#undef FS_VECTORS
