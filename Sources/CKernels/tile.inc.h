// The tiles that products and convolutions are made of; a part of body.inc.h.

// A tile of `rows` rows and `vectors` vectors of columns, in registers. The last vector may be
// ragged. The inner sum has `runs` runs of k terms: a moves by `a_run` from run to run, b goes on.
//
// One stride of a is 1: `a_row` where the tile is `upright`, `a_column` where it is not. Addresses
// then are few registers with fixed distances; FS_HIDDEN keeps the compiler from deriving one from
// the other again, step by step.
#define FS_HIDDEN(pointer) __asm__("" : "+r"(pointer))

INLINE void BODY(terms)(const int rows, const int vectors, const int ragged, const int upright,
                        int last, V sum[ROWS][2], const float *const base[], ptrdiff_t offset,
                        ptrdiff_t a_row, const float *b) {
  V right[2];
#pragma clang loop unroll(full)
  for (int v = 0; v < vectors; v++)
    right[v] = ragged && v == vectors - 1 ? v_load_first(b + v * VL, last) : v_load(b + v * VL);
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
    V left = v_set(upright ? base[0][offset + i] : base[i / 3][i % 3 * a_row + offset]);
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) sum[i][v] = v_fma(left, right[v], sum[i][v]);
  }
}

INLINE void BODY(tile)(const int rows, const int vectors, const int ragged, const int upright,
                       int last, ptrdiff_t runs, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       ptrdiff_t a_column, ptrdiff_t a_run, const float *b, ptrdiff_t b_row,
                       const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  const int bases = upright ? 1 : (rows + 2) / 3;
  V sum[ROWS][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      const float *s = start ? start + i * start_row + v * VL : NULL;
      if (!start)
        sum[i][v] = v_set(0);
      else if (ragged && v == vectors - 1)
        sum[i][v] = v_load_first(s, last);
      else
        sum[i][v] = v_load(s);
    }
  }
  for (ptrdiff_t r = 0; r < runs; r++) {
    const float *base[(ROWS + 2) / 3];
#pragma clang loop unroll(full)
    for (int q = 0; q < bases; q++) {
      base[q] = a + r * a_run + 3 * q * a_row;
      FS_HIDDEN(base[q]);
    }
    ptrdiff_t p = 0;
    if (!upright)
      for (; p + 4 <= k; p += 4) {
#pragma clang loop unroll(full)
        for (int u = 0; u < 4; u++) {
          BODY(terms)(rows, vectors, ragged, upright, last, sum, base, u, a_row, b);
          b += b_row;
        }
#pragma clang loop unroll(full)
        for (int q = 0; q < bases; q++) base[q] += 4;
      }
    for (; p < k; p++) {
      BODY(terms)(rows, vectors, ragged, upright, last, sum, base, 0, a_row, b);
      b += b_row;
#pragma clang loop unroll(full)
      for (int q = 0; q < bases; q++) base[q] += upright ? a_column : 1;
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * VL;
      if (ragged && v == vectors - 1)
        v_store_first(to, sum[i][v], last);
      else
        v_store(to, sum[i][v]);
    }
  }
}

// `count` tiles one below the other.
INLINE void BODY(strip)(const int rows, const int vectors, const int ragged, const int upright,
                        ptrdiff_t count, int last, ptrdiff_t runs, ptrdiff_t k, const float *a,
                        ptrdiff_t a_row, ptrdiff_t a_column, ptrdiff_t a_run, const float *b,
                        ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c,
                        ptrdiff_t c_row) {
  for (; count > 0; count--) {
    BODY(tile)(rows, vectors, ragged, upright, last, runs, k, a, a_row, a_column, a_run, b, b_row,
               start, start_row, c, c_row);
    a += rows * a_row;
    c += rows * c_row;
    if (start) start += rows * start_row;
  }
}

#define FS_STRIP_ARGUMENTS \
  count, last, runs, k, a, a_row, a_column, a_run, b, b_row, start, start_row, c, c_row

// One compiled loop for each shape of tile.
#define FS_STRIP(R)                                        \
  case R:                                                  \
    if (last == VL && vectors == 2)                        \
      BODY(strip)(R, 2, 0, upright, FS_STRIP_ARGUMENTS);   \
    else if (vectors == 2)                                 \
      BODY(strip)(R, 2, 1, upright, FS_STRIP_ARGUMENTS);   \
    else                                                   \
      BODY(strip)(R, 1, 1, upright, FS_STRIP_ARGUMENTS);   \
    break;

#define FS_STRIPS(name, is_upright)                                                            \
  static __attribute__((noinline)) void BODY(name)(                                            \
      ptrdiff_t rows, int vectors, ptrdiff_t count, int last, ptrdiff_t runs, ptrdiff_t k,     \
      const float *a, ptrdiff_t a_row, ptrdiff_t a_column, ptrdiff_t a_run, const float *b,    \
      ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {   \
    const int upright = is_upright;                                                            \
    switch (rows) { FS_STRIP_CASES }                                                           \
  }

#if ROWS > 6
#define FS_STRIP_CASES                                                                         \
  FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4) FS_STRIP(5) FS_STRIP(6) FS_STRIP(7)          \
  FS_STRIP(8) FS_STRIP(9) FS_STRIP(10) FS_STRIP(11) FS_STRIP(12) FS_STRIP(13) FS_STRIP(14)
#elif ROWS > 4
#define FS_STRIP_CASES FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4) FS_STRIP(5) FS_STRIP(6)
#else
#define FS_STRIP_CASES FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4)
#endif

FS_STRIPS(upright_strip, 1)
FS_STRIPS(level_strip, 0)

INLINE void BODY(any_strip)(ptrdiff_t rows, int vectors, ptrdiff_t count, int last,
                            ptrdiff_t runs, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                            ptrdiff_t a_column, ptrdiff_t a_run, const float *b, ptrdiff_t b_row,
                            const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  if (a_row == 1)
    BODY(upright_strip)(rows, vectors, FS_STRIP_ARGUMENTS);
  else
    BODY(level_strip)(rows, vectors, FS_STRIP_ARGUMENTS);
}

INLINE void BODY(any_tile)(ptrdiff_t rows, int vectors, int last, ptrdiff_t runs, ptrdiff_t k,
                           const float *a, ptrdiff_t a_row, ptrdiff_t a_column, ptrdiff_t a_run,
                           const float *b, ptrdiff_t b_row, const float *start,
                           ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  BODY(any_strip)(rows, vectors, 1, last, runs, k, a, a_row, a_column, a_run, b, b_row, start,
                  start_row, c, c_row);
}
