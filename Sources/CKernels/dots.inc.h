// Products of rows with rows, for layers of few outputs; a part of body.inc.h.
//
// Sums run in 16 lanes along the rows, so that no lane is empty however few outputs there are; at
// the end the lanes are added, halves first. A body's vectors hold 16/VL parts of the lanes.

#define FS_LANES (16 / VL)
#if VL == 16
#define DOT_ROWS 5
#define DOT_COLUMNS 5
#elif VL == 8
#define DOT_ROWS 2
#define DOT_COLUMNS 3
#else
#define DOT_ROWS 1
#define DOT_COLUMNS 2
#endif

#if VL == 16
// Sixteen accumulators added down to one number each: the i-th is at 4·(i mod 4) + i/4. In whole
// vectors, since narrower ones would have half of the registers.
#define FS_JOIN(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
INLINE V BODY(fold)(const V *sum) {
  V four[4];
#pragma clang loop unroll(full)
  for (int q = 0; q < 4; q++) {
    V eight[2];
#pragma clang loop unroll(full)
    for (int h = 0; h < 2; h++) {
      V x = sum[4 * q + 2 * h], y = sum[4 * q + 2 * h + 1];
      eight[h] = FS_JOIN(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
                 FS_JOIN(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    }
    V x = eight[0], y = eight[1];
    four[q] = FS_JOIN(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
              FS_JOIN(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  V two[2];
#pragma clang loop unroll(full)
  for (int h = 0; h < 2; h++) {
    V x = four[2 * h], y = four[2 * h + 1];
    two[h] = FS_JOIN(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
             FS_JOIN(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  }
  V x = two[0], y = two[1];
  return FS_JOIN(x, y, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
         FS_JOIN(x, y, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
}
#else
INLINE float BODY(fold)(const V part[FS_LANES]) {
#if VL == 8
  V e = part[0] + part[1];
  float four[4];
#pragma clang loop unroll(full)
  for (int l = 0; l < 4; l++) four[l] = e[l] + e[l + 4];
#else
  V four = (part[0] + part[2]) + (part[1] + part[3]);
#endif
  return (four[0] + four[2]) + (four[1] + four[3]);
}
#endif

// What is still to be fetched: a piece from `at` on, then the pieces from `piece` on.
typedef struct {
  const uint8_t *at, *end;
  const uint8_t *const *piece, *const *pieces_end;
  ptrdiff_t bytes;
} BODY(fetch);

INLINE BODY(fetch) BODY(fetch_line)(BODY(fetch) fetch) {
  if (fetch.at >= fetch.end) return fetch;
  __builtin_prefetch(fetch.at);
  fetch.at += 64;
  if (fetch.at >= fetch.end && fetch.piece < fetch.pieces_end) {
    fetch.at = *fetch.piece++;
    fetch.end = fetch.at + fetch.bytes;
  }
  return fetch;
}

// The lanes of a tile's sums added, and `start` to that.
INLINE void BODY(dot_sums)(const int rows, const int columns,
                           V sum[DOT_ROWS][DOT_COLUMNS][FS_LANES], const float *start, float *c,
                           ptrdiff_t c_row) {
  float total[32];
#if VL == 16
  const int count = rows * columns;
#pragma clang loop unroll(full)
  for (int first = 0; first < count; first += 16) {
    V group[16];
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++)
      group[i] = first + i < count ? sum[(first + i) / columns][(first + i) % columns][0]
                                   : v_set(0);
    v_store(total + first, BODY(fold)(group));
  }
#define FS_TOTAL(i) total[(i) / 16 * 16 + (i) % 4 * 4 + (i) % 16 / 4]
#else
#pragma clang loop unroll(full)
  for (int i = 0; i < rows * columns; i++) total[i] = BODY(fold)(sum[i / columns][i % columns]);
#define FS_TOTAL(i) total[i]
#endif
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++)
#pragma clang loop unroll(full)
    for (int j = 0; j < columns; j++)
      c[i * c_row + j] = (start ? start[j] : 0) + FS_TOTAL(i * columns + j);
#undef FS_TOTAL
}

// A tile of `rows` rows of a and `columns` rows of b. Addresses as in `tile`. Where there are
// `bytes`, a is written on the way, as floats of these.
// Every other step asks for a line of what lies ahead.
INLINE void BODY(dot_tile)(const uint8_t *const *bytes, const int rows, const int columns,
                           ptrdiff_t k, float *a, ptrdiff_t a_row, const float *b,
                           ptrdiff_t b_row, const float *start, float *c, ptrdiff_t c_row,
                           BODY(fetch) *fetch) {
  BODY(fetch) next = *fetch;
  const uint8_t *from[DOT_ROWS];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) from[i] = bytes ? bytes[i] : NULL;
  V sum[DOT_ROWS][DOT_COLUMNS][FS_LANES];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++)
#pragma clang loop unroll(full)
    for (int j = 0; j < columns; j++)
#pragma clang loop unroll(full)
      for (int q = 0; q < FS_LANES; q++) sum[i][j][q] = v_set(0);
  float *left[2] = {a, a + 3 * a_row};
  const float *right[2] = {b, b + 3 * b_row};
  ptrdiff_t p = 0;
  for (; p + 16 <= k; p += 16) {
    FS_HIDDEN(left[0]);
    if (rows > 3) FS_HIDDEN(left[1]);
    FS_HIDDEN(right[0]);
    if (columns > 3) FS_HIDDEN(right[1]);
#pragma clang loop unroll(full)
    for (int q = 0; q < FS_LANES; q++) {
      V x[DOT_ROWS];
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; i++) {
        float *at = left[i / 3] + i % 3 * a_row + q * VL;
        x[i] = bytes ? v_bytes_to_floats(from[i] + p + q * VL) : v_load(at);
        if (bytes) v_store(at, x[i]);
      }
#pragma clang loop unroll(full)
      for (int j = 0; j < columns; j++) {
        V y = v_load(right[j / 3] + j % 3 * b_row + q * VL);
#pragma clang loop unroll(full)
        for (int i = 0; i < rows; i++) {
          sum[i][j][q] = v_fma(x[i], y, sum[i][j][q]);
          FS_HELD(sum[i][j][q]);
        }
      }
    }
    if (p % 32 == 0) next = BODY(fetch_line)(next);
    left[0] += 16, left[1] += 16, right[0] += 16, right[1] += 16;
  }
  if (bytes)
    for (int i = 0; i < rows; i++)
      for (ptrdiff_t rest = p; rest < k; rest++)
        a[i * a_row + rest] = (float)from[i][rest] / 255.0f;
  // The rest of the rows, as if zeros followed.
#pragma clang loop unroll(full)
  for (int q = 0; q < FS_LANES && p < k; q++) {
    ptrdiff_t rest = k - p - q * VL;
    int n = rest < VL ? (int)rest : VL;
#pragma clang loop unroll(full)
    for (int j = 0; j < columns; j++) {
      V y = n > 0 ? v_load_first(right[j / 3] + j % 3 * b_row + q * VL, n) : v_set(0);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; i++) {
        V x = n > 0 ? v_load_first(left[i / 3] + i % 3 * a_row + q * VL, n) : v_set(0);
        sum[i][j][q] = v_fma(x, y, sum[i][j][q]);
      }
    }
  }
  BODY(dot_sums)(rows, columns, sum, start, c, c_row);
  *fetch = next;
}

#define FS_DOT(R, C)                                                                         \
  case R * 8 + C:                                                                            \
    BODY(dot_tile)(NULL, R, C, k, a, a_row, b, b_row, start, c, c_row, fetch);               \
    break;
#define FS_BYTES_DOT(R, C)                                                                   \
  case R * 8 + C:                                                                            \
    BODY(dot_tile)(bytes, R, C, k, a, a_row, b, b_row, start, c, c_row, fetch);              \
    break;
#if VL == 16
#define FS_DOT_ROW(CASE, R) CASE(R, 1) CASE(R, 2) CASE(R, 3) CASE(R, 4) CASE(R, 5)
#define FS_DOT_CASES(CASE)                                                                   \
  FS_DOT_ROW(CASE, 1) FS_DOT_ROW(CASE, 2) FS_DOT_ROW(CASE, 3) FS_DOT_ROW(CASE, 4)            \
  FS_DOT_ROW(CASE, 5)
#elif VL == 8
#define FS_DOT_CASES(CASE) CASE(1, 1) CASE(1, 2) CASE(1, 3) CASE(2, 1) CASE(2, 2) CASE(2, 3)
#else
#define FS_DOT_CASES(CASE) CASE(1, 1) CASE(1, 2)
#endif

static __attribute__((noinline)) void BODY(dots_tile)(ptrdiff_t rows, ptrdiff_t columns,
                                                      ptrdiff_t k, float *a, ptrdiff_t a_row,
                                                      const float *b, ptrdiff_t b_row,
                                                      const float *start, float *c,
                                                      ptrdiff_t c_row, BODY(fetch) *fetch) {
  switch (rows * 8 + columns) { FS_DOT_CASES(FS_DOT) }
}

static __attribute__((noinline)) void BODY(bytes_dots_tile)(
    const uint8_t *const *bytes, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, float *a,
    ptrdiff_t a_row, const float *b, ptrdiff_t b_row, const float *start, float *c,
    ptrdiff_t c_row, BODY(fetch) *fetch) {
  switch (rows * 8 + columns) { FS_DOT_CASES(FS_BYTES_DOT) }
}

// How many of `left` rows the next tile takes, so that tiles are of nearly equal height.
INLINE ptrdiff_t BODY(share)(ptrdiff_t left, ptrdiff_t most) {
  ptrdiff_t tiles = (left + most - 1) / most;
  return (left + tiles - 1) / tiles;
}

// Tile after tile; where there are `bytes`, a row's first tile makes its floats.
INLINE void BODY(all_dots)(const uint8_t *const *bytes, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
                           float *a, ptrdiff_t a_row, const float *b, ptrdiff_t b_row,
                           const float *start, float *c, ptrdiff_t c_row,
                           const fs_ahead *ahead) {
  BODY(fetch) fetch = {0};
  if (ahead && ahead->count > 0)
    fetch = (BODY(fetch)){ahead->pieces[0], ahead->pieces[0] + ahead->bytes, ahead->pieces + 1,
                          ahead->pieces + ahead->count, ahead->bytes};
  for (; m > 0;) {
    ptrdiff_t rows = BODY(share)(m, DOT_ROWS);
    for (ptrdiff_t j = 0; j < n;) {
      ptrdiff_t columns = BODY(share)(n - j, DOT_COLUMNS);
      const float *from = b + j * b_row, *begin = start ? start + j : NULL;
      if (bytes && j == 0)
        BODY(bytes_dots_tile)(bytes, rows, columns, k, a, a_row, from, b_row, begin, c, c_row,
                              &fetch);
      else
        BODY(dots_tile)(rows, columns, k, a, a_row, from, b_row, begin, c + j, c_row, &fetch);
      j += columns;
    }
    m -= rows;
    a += rows * a_row;
    c += rows * c_row;
    if (bytes) bytes += rows;
  }
  while (fetch.at < fetch.end) fetch = BODY(fetch_line)(fetch);
}

static void BODY(dots)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       const float *b, ptrdiff_t b_row, const float *start, float *c,
                       ptrdiff_t c_row, const fs_ahead *ahead) {
  // Without bytes nothing is written to a.
  BODY(all_dots)(NULL, m, n, k, (float *)a, a_row, b, b_row, start, c, c_row, ahead);
}

static void BODY(dots_of_bytes)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
                                const uint8_t *const *bytes, float *a, ptrdiff_t a_row,
                                const float *b, ptrdiff_t b_row, const float *start, float *c,
                                ptrdiff_t c_row, const fs_ahead *ahead) {
  // Without columns there is no tile that makes the floats.
  if (n <= 0)
    for (ptrdiff_t i = 0; i < m; i++)
      for (ptrdiff_t p = 0; p < k; p++) a[i * a_row + p] = (float)bytes[i][p] / 255.0f;
  BODY(all_dots)(bytes, m, n, k, a, a_row, b, b_row, start, c, c_row, ahead);
}
