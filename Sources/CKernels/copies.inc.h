// Products whose factors lie in so many places that they would drive each other out of a cache; a
// part of body.inc.h. Panels of b, and rows of a that collide, are copied before tiles read them.

enum {
  BODY(NEAR) = 128,        // Terms of a level product that are copied at once.
  BODY(UPRIGHT) = 512,     // Terms that an upright product may have.
  BODY(ROOM) = 1024,       // Rows of all copied panels together.
  BODY(PANELS) = 4,        // Panels that a tile passes over, one after the other.
  BODY(PITCH) = BODY(NEAR) + 16,
};

// Whether parts of a that a tile reads share a few sets of a cache.
INLINE int BODY(collides)(ptrdiff_t a_row, ptrdiff_t a_column) {
  return a_row == 1 ? a_column >= 1 << 11 : a_row % 512 == 0;
}

// Whether tiles are many enough to pay for copies, and factors far enough apart. An upright chain
// begins at zero, so it cannot be continued where it was stored.
INLINE int BODY(wants_copies)(BODY(cut) cut, ptrdiff_t k, ptrdiff_t a_row, ptrdiff_t a_column,
                              ptrdiff_t b_row) {
  if (cut.tiles < 3 || (a_row == 1 && k > BODY(UPRIGHT))) return 0;
  return (b_row > 2 * VL && k * b_row > 1 << 13) ||
         (k >= BODY(NEAR) && BODY(collides)(a_row, a_column));
}

// Rows of numbers, some beside each other, into rows of another distance.
INLINE void BODY(copy_rows)(ptrdiff_t rows, ptrdiff_t columns, const float *from,
                            ptrdiff_t from_row, float *to, ptrdiff_t to_row) {
  for (ptrdiff_t row = 0; row < rows; row++, from += from_row, to += to_row) {
    ptrdiff_t i = 0;
    for (; i + VL <= columns; i += VL) v_store(to + i, v_load(from + i));
    if (i < columns) {
      const int some = (int)(columns - i);
      v_store_first(to + i, v_load_first(from + i, some), some);
    }
  }
}

static __attribute__((noinline)) void BODY(gemm_by_copies)(
    BODY(cut) cut, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t a_row, ptrdiff_t a_column,
    const float *b, ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c,
    ptrdiff_t c_row) {
  enum { WIDTH = 2 * VL };
  float near[BODY(ROOM) * WIDTH] __attribute__((aligned(64)));
  float beside[BODY(UPRIGHT) * 16] __attribute__((aligned(64)));
  const int upright = a_row == 1, copies_a = BODY(collides)(a_row, a_column);
  const ptrdiff_t most = upright || k < BODY(NEAR) ? k : BODY(NEAR);
  const ptrdiff_t fit = BODY(ROOM) / most, group = fit < BODY(PANELS) ? fit : BODY(PANELS);
  for (ptrdiff_t j = 0; j < n; j += group * WIDTH) {
    const ptrdiff_t columns = n - j < group * WIDTH ? n - j : group * WIDTH;
    for (ptrdiff_t p = 0; p < k; p += most) {
      const ptrdiff_t terms = k - p < most ? k - p : most;
      for (ptrdiff_t i = 0; i < columns; i += WIDTH)
        BODY(copy_rows)(terms, columns - i < WIDTH ? columns - i : WIDTH, b + p * b_row + j + i,
                        b_row, near + i * terms, WIDTH);
      const float *begin = p ? c + j : start ? start + j : NULL, *left = a + p * a_column;
      const ptrdiff_t begin_row = p ? c_row : start_row;
      float *to = c + j;
      for (ptrdiff_t t = 0; t < cut.tiles; t++) {
        const BODY(cut) one = {1, cut.height + (t < cut.taller), 0};
        const float *tile = left;
        ptrdiff_t row = a_row, column = a_column;
        if (copies_a && upright) {
          BODY(copy_rows)(terms, one.height, left, a_column, beside, 16);
          tile = beside, column = 16;
        } else if (copies_a) {
          BODY(copy_rows)(one.height, terms, left, a_row, beside, BODY(PITCH));
          tile = beside, row = BODY(PITCH);
        }
        for (ptrdiff_t i = 0; i < columns; i += WIDTH)
          BODY(panel)(one, columns - i, NULL, 0, 1, terms, tile, row, column, 0,
                      near + i * terms, WIDTH, begin ? begin + i : NULL, begin_row, to + i, c_row);
        left += one.height * a_row;
        to += one.height * c_row;
        if (begin) begin += one.height * begin_row;
      }
    }
  }
}
