// Products of few terms, such as the weight gradient of a small batch; a part of body.inc.h, for
// bodies with many registers.
//
// A panel of the right factor stays in registers and the left one streams by, some rows at a time:
// loads and stores of the results lie spread between the terms, which tiles of many rows and few
// terms would do in one go, and wait for.

enum { FEW = 10 };

INLINE void BODY(few_rows)(const int rows, const int k, const int vectors, const int ragged,
                           const int a_row, int last, const V right[FEW][2], const float *a,
                           ptrdiff_t a_column, const float *start, ptrdiff_t start_row, float *c,
                           ptrdiff_t c_row) {
  V sum[8][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) sum[i][v] = v_set(0);
  }
#pragma clang loop unroll(full)
  for (int p = 0; p < k; p++) {
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; i++) {
      V left = v_set(a[p * a_column + i * a_row]);
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; v++) sum[i][v] = v_fma(left, right[p][v], sum[i][v]);
      // Loads stay where they are: taken early they would drive the panel out of the registers.
      if (vectors == 2) __asm__ volatile("" ::: "memory");
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * VL;
      const float *s = start ? start + i * start_row + v * VL : NULL;
      const int is_ragged = ragged && v == vectors - 1;
      if (s) sum[i][v] += is_ragged ? v_load_first(s, last) : v_load(s);
      if (is_ragged)
        v_store_first(to, sum[i][v], last);
      else
        v_store(to, sum[i][v]);
    }
  }
}

#define FS_FEW_ROWS(rows, i)                                                                 \
  BODY(few_rows)(rows, k, vectors, ragged, a_row, last, right, a + (i) * a_row, a_column,    \
                 start ? start + (i) * start_row : NULL, start_row, c + (i) * c_row, c_row)

// Panels of `vectors` vectors each, one beside the other.
INLINE void BODY(few)(const int k, const int vectors, const int ragged, const int a_row,
                      ptrdiff_t panels, int last, ptrdiff_t m, const float *a,
                      ptrdiff_t a_column, const float *b, ptrdiff_t b_row, const float *start,
                      ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  // Four regions in turn where rows may be shorter than a vector: a load that follows a store of
  // part of a vector close by would wait for it.
  // Three rows of two vectors and the panel's twenty leave the compiler six of 32 registers for the
  // left factor; with five rows it kept some of the panel in memory. One row left over would
  // wait for its own sums, so the last four rows are two pairs.
  const int group = vectors == 1 ? 8 : 3, regions = vectors == 1 ? 4 : 1;
  const ptrdiff_t grouped = vectors == 2 && m > 1 && m % 3 == 1 ? m - 4 : m;
  for (; panels > 0; panels--) {
    V right[FEW][2];
#pragma clang loop unroll(full)
    for (int p = 0; p < k; p++) {
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; v++)
        right[p][v] = ragged && v == vectors - 1 ? v_load_first(b + p * b_row + v * VL, last)
                                                 : v_load(b + p * b_row + v * VL);
    }
    ptrdiff_t region = grouped / (regions * group) * group, i = 0;
    for (; i < region; i += group)
      for (ptrdiff_t r = 0; r < regions; r++) FS_FEW_ROWS(group, i + r * region);
    for (i = regions * region; i + group <= grouped; i += group) FS_FEW_ROWS(group, i);
    for (; i + 2 <= m; i += 2) FS_FEW_ROWS(2, i);
    if (i < m) FS_FEW_ROWS(1, i);
    b += vectors * VL;
    c += vectors * VL;
    if (start) start += vectors * VL;
  }
}

#define FS_FEW_ARGUMENTS last, m, a, a_column, b, b_row, start, start_row, c, c_row
#define FS_FEW(K)                                         \
  case K:                                                 \
    if (vectors == 2 && last == VL && a_row == 1)         \
      BODY(few)(K, 2, 0, 1, whole, FS_FEW_ARGUMENTS);     \
    else if (vectors == 2 && last == VL)                  \
      BODY(few)(K, 2, 0, 2, whole, FS_FEW_ARGUMENTS);     \
    else if (vectors == 2)                                \
      BODY(few)(K, 2, 1, a_row, 1, FS_FEW_ARGUMENTS);     \
    else                                                  \
      BODY(few)(K, 1, 1, a_row, 1, FS_FEW_ARGUMENTS);     \
    break;

// m rows of as many whole panels as there are, or of one that is none; returns how many columns
// that were. `a_row` is 1 or 2.
static __attribute__((noinline)) ptrdiff_t BODY(few_panels)(
    ptrdiff_t k, ptrdiff_t columns, ptrdiff_t m, const float *a, int a_row, ptrdiff_t a_column,
    const float *b, ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c,
    ptrdiff_t c_row) {
  ptrdiff_t whole = columns / (2 * VL);
  int vectors = columns > VL ? 2 : 1;
  int last = whole ? VL : (int)(columns - (vectors - 1) * VL);
  switch (k) {
    FS_FEW(1) FS_FEW(2) FS_FEW(3) FS_FEW(4) FS_FEW(5)
    FS_FEW(6) FS_FEW(7) FS_FEW(8) FS_FEW(9) FS_FEW(10)
  }
  return whole ? whole * 2 * VL : columns;
}

// Some lines, `pitch` apart, that two rows share each: the end of one, the beginning of the next.
INLINE void BODY(few_lines)(const int lines, const int k, const V right[FEW], const float *a,
                            ptrdiff_t a_column, const float *start, float *c,
                            ptrdiff_t pitch) {
  V sum[8];
#pragma clang loop unroll(full)
  for (int i = 0; i < lines; i++) sum[i] = v_set(0);
#pragma clang loop unroll(full)
  for (int p = 0; p < k; p++) {
#pragma clang loop unroll(full)
    for (int i = 0; i < lines; i++)
      sum[i] = v_fma(v_pair(a + p * a_column + 2 * i), right[p], sum[i]);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < lines; i++)
    v_store(c + i * pitch, start ? sum[i] + v_load(start + i * pitch) : sum[i]);
}

INLINE void BODY(few_seam)(const int k, ptrdiff_t lines, ptrdiff_t n, const float *a,
                           ptrdiff_t a_column, const float *b, ptrdiff_t b_row,
                           const float *start, float *c) {
  V right[FEW];
#pragma clang loop unroll(full)
  for (int p = 0; p < k; p++)
    right[p] = v_join(b + p * b_row + n - VL / 2, b + p * b_row);
  const ptrdiff_t pitch = 2 * n;
  ptrdiff_t i = 0;
#define FS_FEW_LINES(count)                                                                   \
  BODY(few_lines)(count, k, right, a + 2 * i, a_column, start ? start + i * pitch : NULL,     \
                  c + i * pitch, pitch)
  for (; i + 8 <= lines; i += 8) FS_FEW_LINES(8);
  for (; i < lines; i++) FS_FEW_LINES(1);
#undef FS_FEW_LINES
}

#define FS_SEAM(K)                                                \
  case K:                                                         \
    BODY(few_seam)(K, lines, n, a, a_column, b, b_row, start, c); \
    break;

// The lines that pairs of rows of n columns share: the last columns of one, the first of the next.
static __attribute__((noinline)) void BODY(few_seams)(
    ptrdiff_t k, ptrdiff_t lines, ptrdiff_t n, const float *a, ptrdiff_t a_column,
    const float *b, ptrdiff_t b_row, const float *start, float *c) {
  switch (k) {
    FS_SEAM(1) FS_SEAM(2) FS_SEAM(3) FS_SEAM(4) FS_SEAM(5)
    FS_SEAM(6) FS_SEAM(7) FS_SEAM(8) FS_SEAM(9) FS_SEAM(10)
  }
}

// Columns from `first` on of every `step`-th of m rows.
static void BODY(few_columns)(ptrdiff_t k, ptrdiff_t first, ptrdiff_t columns, ptrdiff_t m,
                              ptrdiff_t step, const float *a, ptrdiff_t a_column, const float *b,
                              ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c,
                              ptrdiff_t c_row) {
  const ptrdiff_t rows = (m + step - 1) / step, end = first + columns;
  for (ptrdiff_t j = first; j < end;)
    j += BODY(few_panels)(k, end - j, rows, a, (int)step, a_column, b + j, b_row,
                          start ? start + j : NULL, step * start_row, c + j, step * c_row);
}

// Rows one behind the other, every other of which begins in the middle of a line of the cache: what
// lies within lines of its own, then the lines that two rows share.
static void BODY(few_staggered)(ptrdiff_t k, ptrdiff_t n, ptrdiff_t m, const float *a,
                                ptrdiff_t a_column, const float *b, ptrdiff_t b_row,
                                const float *start, float *c, int begins_within) {
  const ptrdiff_t half = VL / 2, inner = n - half;
  for (int r = 0; r < 2; r++)
    BODY(few_columns)(k, r == begins_within ? 0 : half, inner, m - r, 2, a + r, a_column, b, b_row,
                      start ? start + r * n : NULL, n, c + r * n, n);
  // A first row that begins within a line shares that with none, nor does a last one that ends so.
  const ptrdiff_t lines = (m - begins_within) / 2, at = begins_within * n + inner;
  BODY(few_seams)(k, lines, n, a + begins_within, a_column, b, b_row, start ? start + at : NULL,
                  c + at);
  if (begins_within)
    BODY(few_columns)(k, 0, half, 1, 1, a, a_column, b, b_row, start, n, c, n);
  if ((m - begins_within) % 2) {
    const ptrdiff_t last = (m - 1) * n;
    BODY(few_columns)(k, inner, half, 1, 1, a + m - 1, a_column, b, b_row,
                      start ? start + last : NULL, n, c + last, n);
  }
}

// m rows of n columns, with k terms; the rows of a lie side by side. Panels begin where a line of
// the cache does, since what crosses lines is loaded and stored in two goes. Where every other row
// begins in the middle of a line, those rows have panels of their own; where such rows lie one
// behind the other, the lines that two of them share are taken as one vector each.
static void BODY(few_terms)(ptrdiff_t k, ptrdiff_t n, ptrdiff_t m, const float *a,
                            ptrdiff_t a_column, const float *b, ptrdiff_t b_row,
                            const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  const ptrdiff_t line = 16;
  const int is_long = n >= 4 * VL, step = is_long && c_row % line == line / 2 ? 2 : 1;
  const ptrdiff_t within = (ptrdiff_t)c / 4 & (line - 1);
  const int is_dense = c_row == n && (!start || start_row == n);
  if (step == 2 && m > 1 && is_dense && within % (line / 2) == 0) {
    BODY(few_staggered)(k, n, m, a, a_column, b, b_row, start, c, within > 0);
    return;
  }
  for (int r = 0; r < step; r++) {
    float *row = c + r * c_row;
    const float *from = start ? start + r * start_row : NULL;
    ptrdiff_t lead = is_long ? -((ptrdiff_t)row / 4) & (line - 1) : 0;
    if (lead)
      BODY(few_columns)(k, 0, lead, m - r, step, a + r, a_column, b, b_row, from, start_row, row,
                        c_row);
    BODY(few_columns)(k, lead, n - lead, m - r, step, a + r, a_column, b, b_row, from, start_row,
                      row, c_row);
  }
}
