// Transposition in square blocks held in registers; a part of body.inc.h.

#if VL == 16
#define FS_LOW 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define FS_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define FS_LEFT 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define FS_RIGHT 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define FS_EVEN 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define FS_ODD 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#elif VL == 8
#define FS_LOW 0, 8, 1, 9, 4, 12, 5, 13
#define FS_HIGH 2, 10, 3, 11, 6, 14, 7, 15
#define FS_LEFT 0, 1, 8, 9, 4, 5, 12, 13
#define FS_RIGHT 2, 3, 10, 11, 6, 7, 14, 15
#define FS_EVEN 0, 1, 2, 3, 8, 9, 10, 11
#define FS_ODD 4, 5, 6, 7, 12, 13, 14, 15
#else
#define FS_LOW 0, 4, 1, 5
#define FS_HIGH 2, 6, 3, 7
#define FS_LEFT 0, 1, 4, 5
#define FS_RIGHT 2, 3, 6, 7
#endif

INLINE void BODY(put)(const int whole, int rows, int columns, int column, V line, float *out,
                      ptrdiff_t out_row) {
  if (whole)
    v_store(out + column * out_row, line);
  else if (column < columns)
    v_store_first(out + column * out_row, line, rows);
}

// A block of VL×VL, or a part of it at the edges.
INLINE void BODY(transpose_block)(const int whole, int rows, int columns, const float *in,
                                  ptrdiff_t in_row, float *out, ptrdiff_t out_row) {
  V r[VL], s[VL];
#pragma clang loop unroll(full)
  for (int i = 0; i < VL; i++)
    r[i] = whole      ? v_load(in + i * in_row)
           : i < rows ? v_load_first(in + i * in_row, columns)
                      : v_set(0);
  // Pairs of rows interleaved in each quarter of a line, then pairs of pairs: quarter q of
  // r[4i + j] is now column 4q + j of rows 4i to 4i + 3.
#pragma clang loop unroll(full)
  for (int i = 0; i < VL; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], FS_LOW);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], FS_HIGH);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < VL; i += 4) {
    r[i] = __builtin_shufflevector(s[i], s[i + 2], FS_LEFT);
    r[i + 1] = __builtin_shufflevector(s[i], s[i + 2], FS_RIGHT);
    r[i + 2] = __builtin_shufflevector(s[i + 1], s[i + 3], FS_LEFT);
    r[i + 3] = __builtin_shufflevector(s[i + 1], s[i + 3], FS_RIGHT);
  }
#define FS_PUT(column, line) BODY(put)(whole, rows, columns, column, line, out, out_row)
#pragma clang loop unroll(full)
  for (int j = 0; j < 4; j++) {
#if VL == 16
    V even_above = __builtin_shufflevector(r[j], r[4 + j], FS_EVEN);
    V odd_above = __builtin_shufflevector(r[j], r[4 + j], FS_ODD);
    V even_below = __builtin_shufflevector(r[8 + j], r[12 + j], FS_EVEN);
    V odd_below = __builtin_shufflevector(r[8 + j], r[12 + j], FS_ODD);
    V first = __builtin_shufflevector(even_above, even_below, FS_EVEN);
    V second = __builtin_shufflevector(odd_above, odd_below, FS_EVEN);
    V third = __builtin_shufflevector(even_above, even_below, FS_ODD);
    V fourth = __builtin_shufflevector(odd_above, odd_below, FS_ODD);
    FS_PUT(j, first);
    FS_PUT(4 + j, second);
    FS_PUT(8 + j, third);
    FS_PUT(12 + j, fourth);
#elif VL == 8
    V first = __builtin_shufflevector(r[j], r[4 + j], FS_EVEN);
    V second = __builtin_shufflevector(r[j], r[4 + j], FS_ODD);
    FS_PUT(j, first);
    FS_PUT(4 + j, second);
#else
    FS_PUT(j, r[j]);
#endif
  }
#undef FS_PUT
}

#if VL == 16
// A block of 16 rows and 8 columns. Halves of two rows are loaded into one vector, which leaves
// half of the shuffles between quarters.
INLINE void BODY(transpose_half)(const float *in, ptrdiff_t in_row, float *out,
                                 ptrdiff_t out_row) {
  V r[8], s[8];
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i++) {
    const float *row = in + (i / 4 * 8 + i % 4) * in_row;
    r[i] = v_join(row, row + 4 * in_row);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], FS_LOW);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], FS_HIGH);
  }
  // Quarters of r[4i + j] become column j of rows 8i to 8i + 3, column 4 + j of these, and the two
  // columns of rows 8i + 4 to 8i + 7.
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(s[i], s[i + 2], FS_LEFT);
    r[i + 1] = __builtin_shufflevector(s[i], s[i + 2], FS_RIGHT);
    r[i + 2] = __builtin_shufflevector(s[i + 1], s[i + 3], FS_LEFT);
    r[i + 3] = __builtin_shufflevector(s[i + 1], s[i + 3], FS_RIGHT);
  }
#pragma clang loop unroll(full)
  for (int j = 0; j < 4; j++) {
    v_store(out + j * out_row, __builtin_shufflevector(r[j], r[4 + j], FS_EVEN));
    v_store(out + (4 + j) * out_row, __builtin_shufflevector(r[j], r[4 + j], FS_ODD));
  }
}
#endif

static void BODY(transpose)(ptrdiff_t rows, ptrdiff_t columns, const float *in, ptrdiff_t in_row,
                            float *out, ptrdiff_t out_row) {
  for (ptrdiff_t i = 0; i < rows; i += VL) {
    ptrdiff_t j = 0;
#if VL == 16
    if (rows - i >= VL)
      for (; j + 8 <= columns; j += 8)
        BODY(transpose_half)(in + i * in_row + j, in_row, out + j * out_row + i, out_row);
#endif
    for (; j < columns; j += VL) {
      int some_rows = rows - i < VL ? (int)(rows - i) : VL;
      int some_columns = columns - j < VL ? (int)(columns - j) : VL;
      const float *from = in + i * in_row + j;
      float *to = out + j * out_row + i;
      // Whole blocks of 16 lanes were taken in halves.
      const int whole = VL < 16 && some_rows == VL && some_columns == VL;
      if (whole)
        BODY(transpose_block)(1, VL, VL, from, in_row, to, out_row);
      else
        BODY(transpose_block)(0, some_rows, some_columns, from, in_row, to, out_row);
    }
  }
}
