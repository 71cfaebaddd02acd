// The tiles that products and convolutions are made of; a part of body.inc.h.

// A tile of `rows` rows and `vectors` vectors of columns, in registers. The last vector may be
// ragged. The inner sum has `runs` runs of k terms: a moves by `a_run` from run to run, b goes on.
//
// One stride of a is 1: `a_row` where the tile is `upright`, `a_column` where it is not. The rows'
// addresses then are few registers with fixed distances: a row at, one behind, or two behind every
// third. FS_HIDDEN keeps the compiler from deriving one from the other, step by step.
// An upright tile's sums begin at zero, and the start is added to them; a level one's begin at it.
// Where the tile looks `ahead`, each term fetches as much as a row of the panel of what lies at
// `next`, which moves on by `next_row`.
#define FS_HIDDEN(pointer) __asm__("" : "+r"(pointer))

// Where every register is taken: loads behind this sum stay behind it. Taken early, what they load
// would drive sums out of the registers, and each of their steps would wait for memory.
#if VL >= 8
#define FS_HELD(sum) __asm__ volatile("" : "+v"(sum) : : "memory")
#else
#define FS_HELD(sum)
#endif

INLINE void BODY(tile)(const int rows, const int vectors, const int ragged, const int upright,
                       const int ahead, const float *next, ptrdiff_t next_row, int last,
                       ptrdiff_t runs, ptrdiff_t k, const float *a, ptrdiff_t a_row,
                       ptrdiff_t a_column, ptrdiff_t a_run,
                       const float *b, ptrdiff_t b_row, const float *start, ptrdiff_t start_row,
                       float *c, ptrdiff_t c_row) {
  const int bases = upright ? 1 : (rows + 2) / 3;
  V sum[ROWS][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      const float *s = start ? start + i * start_row + v * VL : NULL;
      if (!start || upright)
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
    for (int q = 0; q < bases; q++) base[q] = a + r * a_run + 3 * q * a_row;
    for (ptrdiff_t p = 0; p < k; p++) {
      V right[2];
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; v++)
        right[v] =
            ragged && v == vectors - 1 ? v_load_first(b + v * VL, last) : v_load(b + v * VL);
#pragma clang loop unroll(full)
      for (int q = 0; q < bases; q++) FS_HIDDEN(base[q]);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; i++) {
        V left = v_set(upright ? base[0][i] : base[i / 3][i % 3 * a_row]);
#pragma clang loop unroll(full)
        for (int v = 0; v < vectors; v++) sum[i][v] = v_fma(left, right[v], sum[i][v]);
      }
#pragma clang loop unroll(full)
      for (int q = 0; q < bases; q++) base[q] += upright ? a_column : 1;
      b += b_row;
      if (ahead) {
#pragma clang loop unroll(full)
        for (int line = 0; line < 2 * VL; line += 16) __builtin_prefetch(next + line, 0, 3);
        next += next_row;
      }
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * VL;
      const float *s = start && upright ? start + i * start_row + v * VL : NULL;
      const int is_ragged = ragged && v == vectors - 1;
      if (s) sum[i][v] += is_ragged ? v_load_first(s, last) : v_load(s);
      if (is_ragged)
        v_store_first(to, sum[i][v], last);
      else
        v_store(to, sum[i][v]);
    }
  }
}

// `count` tiles one below the other.
INLINE void BODY(strip)(const int rows, const int vectors, const int ragged, const int upright,
                        const int ahead, ptrdiff_t count, const float *next,
                        ptrdiff_t next_row, int last, ptrdiff_t runs, ptrdiff_t k,
                        const float *a, ptrdiff_t a_row, ptrdiff_t a_column,
                        ptrdiff_t a_run, const float *b, ptrdiff_t b_row, const float *start,
                        ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  for (; count > 0; count--) {
    BODY(tile)(rows, vectors, ragged, upright, ahead, next, next_row, last, runs, k, a, a_row,
               a_column, a_run, b, b_row, start, start_row, c, c_row);
    a += rows * a_row;
    c += rows * c_row;
    if (start) start += rows * start_row;
  }
}

#define FS_STRIP_ARGUMENTS                                                                   \
  count, next, next_row, last, runs, k, a, a_row, a_column, a_run, b, b_row, start, start_row, c, \
      c_row

// One compiled loop for each shape of tile.
#define FS_STRIP(R)                                             \
  case R:                                                       \
    if (last == VL && vectors == 2)                             \
      BODY(strip)(R, 2, 0, upright, ahead, FS_STRIP_ARGUMENTS); \
    else if (vectors == 2)                                      \
      BODY(strip)(R, 2, 1, upright, ahead, FS_STRIP_ARGUMENTS); \
    else                                                        \
      BODY(strip)(R, 1, 1, upright, ahead, FS_STRIP_ARGUMENTS); \
    break;

#if ROWS > 6
#define FS_STRIP_CASES                                                                         \
  FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4) FS_STRIP(5) FS_STRIP(6) FS_STRIP(7)          \
  FS_STRIP(8) FS_STRIP(9) FS_STRIP(10) FS_STRIP(11) FS_STRIP(12) FS_STRIP(13) FS_STRIP(14)
#elif ROWS > 4
#define FS_STRIP_CASES FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4) FS_STRIP(5) FS_STRIP(6)
#else
#define FS_STRIP_CASES FS_STRIP(1) FS_STRIP(2) FS_STRIP(3) FS_STRIP(4)
#endif

#define FS_STRIPS(name, is_upright, is_ahead)                                                 \
  static __attribute__((noinline)) void BODY(name)(                                           \
      ptrdiff_t rows, int vectors, ptrdiff_t count, const float *next, ptrdiff_t next_row,    \
      int last, ptrdiff_t runs, ptrdiff_t k, const float *a, ptrdiff_t a_row,                 \
      ptrdiff_t a_column, ptrdiff_t a_run, const float *b, ptrdiff_t b_row,                   \
      const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {                   \
    const int upright = is_upright, ahead = is_ahead;                                         \
    switch (rows) { FS_STRIP_CASES }                                                          \
  }

FS_STRIPS(upright_strip, 1, 0)
FS_STRIPS(level_strip, 0, 0)
FS_STRIPS(level_strip_ahead, 0, 1)

// A number of rows in tiles of nearly equal height: `taller` of them have one row more.
typedef struct {
  ptrdiff_t tiles, height, taller;
} BODY(cut);

INLINE BODY(cut) BODY(cut_rows)(ptrdiff_t rows) {
  ptrdiff_t tiles = (rows + ROWS - 1) / ROWS;
  return (BODY(cut)){tiles, tiles ? rows / tiles : 0, tiles ? rows % tiles : 0};
}

// The first columns of a product, at most two vectors of them, in strips of the tiles of `cut`.
// A tile looks ahead, at `next`, where that is not NULL; it is level then.
INLINE void BODY(panel)(BODY(cut) cut, ptrdiff_t columns, const float *next,
                        ptrdiff_t next_row, ptrdiff_t runs, ptrdiff_t k, const float *a,
                        ptrdiff_t a_row, ptrdiff_t a_column, ptrdiff_t a_run, const float *b,
                        ptrdiff_t b_row, const float *start,
                        ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  int vectors = columns > VL ? 2 : 1;
  int last = (int)((columns < 2 * VL ? columns : 2 * VL) - (vectors - 1) * VL);
  for (int short_ones = 0; short_ones < 2; short_ones++) {
    ptrdiff_t count = short_ones ? cut.tiles - cut.taller : cut.taller;
    ptrdiff_t rows = cut.height + !short_ones;
    if (!count) continue;
    if (next)
      BODY(level_strip_ahead)(rows, vectors, FS_STRIP_ARGUMENTS);
    else if (a_row == 1)
      BODY(upright_strip)(rows, vectors, FS_STRIP_ARGUMENTS);
    else
      BODY(level_strip)(rows, vectors, FS_STRIP_ARGUMENTS);
    a += count * rows * a_row;
    c += count * rows * c_row;
    if (start) start += count * rows * start_row;
  }
}
