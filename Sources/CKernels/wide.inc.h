// Dense layers whose weights are larger than a cache; a part of body.inc.h. The weights are walked
// through once a pass, a few rows at a time, so that what is read is used for the whole batch;
// while some rows are in use, those behind them are fetched. Orders of sums are those of `gemm`.

enum {
  BODY(WIDE) = 32,           // Rows of weights at a time, forward.
  BODY(TURN_ROWS) = 2 * VL,  // Rows of weights at a time, backward,
  BODY(TURN_COLUMNS) = 128,  // and the part of them that is turned at a time.
  BODY(STEP_ROWS) = 4,       // Rows of weights in a tile of the step.
};

static void BODY(wide)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs, const float *in,
                       const float *weight, const float *bias, float *out) {
  ptrdiff_t tiles = (rows + ROWS - 1) / ROWS;
  if (rows <= 0) return;
  ptrdiff_t height = rows / tiles, taller = rows % tiles;
  for (ptrdiff_t p = 0; p < inputs || p == 0; p += BODY(WIDE)) {
    ptrdiff_t k = inputs - p < BODY(WIDE) ? inputs - p : BODY(WIDE);
    const float *block = weight + p * outputs;
    for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
      ptrdiff_t left = outputs - j < 2 * VL ? outputs - j : 2 * VL;
      int vectors = left > VL ? 2 : 1, last = (int)(left - (vectors - 1) * VL);
      for (ptrdiff_t t = 0, i = 0; t < tiles; t++) {
        ptrdiff_t count = height + (t < taller);
        const float *start = p ? out + i * outputs + j : bias ? bias + j : NULL;
        BODY(level_patch_ahead)(block + k * outputs + j * k, count, vectors, last, 1, k,
                                in + i * inputs + p, inputs, 1, 0, block + j, outputs, start,
                                p ? outputs : 0, out + i * outputs + j, outputs);
        i += count;
      }
    }
  }
}

#if VL == 16
// out[16×16] = in transposed, in registers.
#define FS_PICK __builtin_shufflevector
INLINE void BODY(turn16)(const float *in, ptrdiff_t in_row, float *out, ptrdiff_t out_row) {
  V r[16], s[16];
  for (int i = 0; i < 16; i++) r[i] = v_load(in + i * in_row);
  for (int i = 0; i < 16; i += 2) {  // Pairs of rows, interleaved in each quarter.
    s[i] = FS_PICK(r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    s[i + 1] = FS_PICK(r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  }
  for (int i = 0; i < 16; i += 4)  // Fours: r[i + c] has column 4q + c in its quarter q.
    for (int c = 0; c < 4; c += 2) {
      V a = s[i + c / 2], b = s[i + c / 2 + 2];
      r[i + c] = FS_PICK(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r[i + c + 1] = FS_PICK(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
#define FS_EVEN(a, b) FS_PICK(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define FS_ODD(a, b) FS_PICK(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
  for (int c = 0; c < 4; c++) {  // Quarters of eight rows, then of sixteen.
    V even0 = FS_EVEN(r[c], r[4 + c]), even1 = FS_EVEN(r[8 + c], r[12 + c]);
    V odd0 = FS_ODD(r[c], r[4 + c]), odd1 = FS_ODD(r[8 + c], r[12 + c]);
    v_store(out + c * out_row, FS_EVEN(even0, even1));
    v_store(out + (4 + c) * out_row, FS_EVEN(odd0, odd1));
    v_store(out + (8 + c) * out_row, FS_ODD(even0, even1));
    v_store(out + (12 + c) * out_row, FS_ODD(odd0, odd1));
  }
}
#undef FS_PICK
#undef FS_EVEN
#undef FS_ODD
#endif

// Up to TURN_ROWS rows become columns.
static void BODY(turn)(ptrdiff_t rows, ptrdiff_t columns, const float *in, ptrdiff_t in_row,
                       float *out) {
  ptrdiff_t done = 0;
#if VL == 16
  if (rows == BODY(TURN_ROWS))
    for (; done + VL <= columns; done += VL)
      for (ptrdiff_t i = 0; i < rows; i += VL)
        BODY(turn16)(in + i * in_row + done, in_row, out + done * rows + i, rows);
#endif
  BODY(transpose)(rows, columns - done, in + done, in_row, out + done * BODY(TURN_ROWS),
                  BODY(TURN_ROWS));
}

// target = start + inᵀ·delta, for `height` rows of weights.
static void BODY(wide_step)(ptrdiff_t height, ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs,
                            const float *in, const float *delta, const float *start,
                            float *target) {
  ptrdiff_t i = 0, step = BODY(STEP_ROWS), whole = outputs / (2 * VL) * (2 * VL);
  for (; i + step <= height; i += step)
    for (ptrdiff_t j = 0; j < whole; j += 2 * VL)
      BODY(patch)(BODY(STEP_ROWS), 2, 0, 1, 0, NULL, VL, 1, rows, in + i, 1, inputs, 0, delta + j,
                  outputs, start ? start + i * outputs + j : NULL, outputs,
                  target + i * outputs + j, outputs);
  if (i < height)
    BODY(gemm)(height - i, whole, rows, in + i, 1, inputs, delta, outputs,
               start ? start + i * outputs : NULL, outputs, target + i * outputs, outputs);
  BODY(gemm)(height, outputs - whole, rows, in, 1, inputs, delta + whole, outputs,
             start ? start + whole : NULL, outputs, target + whole, outputs);
}

static void BODY(wide_backward)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs,
                                const float *in, const float *delta, const float *weight,
                                const float *start, float *target, float *in_delta) {
  float turned[BODY(TURN_COLUMNS) * BODY(TURN_ROWS)] __attribute__((aligned(64)));
  for (ptrdiff_t i = 0; i < inputs; i += BODY(TURN_ROWS)) {
    ptrdiff_t height = inputs - i < BODY(TURN_ROWS) ? inputs - i : BODY(TURN_ROWS);
    int vectors = height > VL ? 2 : 1, last = (int)(height - (vectors - 1) * VL);
    if (in_delta)
      for (ptrdiff_t p = 0; p < outputs || p == 0; p += BODY(TURN_COLUMNS)) {
        ptrdiff_t k = outputs - p < BODY(TURN_COLUMNS) ? outputs - p : BODY(TURN_COLUMNS);
        BODY(turn)(height, k, weight + i * outputs + p, outputs, turned);
        const float *next = weight + (i + BODY(TURN_ROWS)) * outputs + p * BODY(TURN_ROWS);
        for (ptrdiff_t r = 0; r < rows; r += ROWS) {
          ptrdiff_t count = rows - r < ROWS ? rows - r : ROWS;
          float *c = in_delta + r * inputs + i;
          BODY(level_patch_ahead)(next, count, vectors, last, 1, k, delta + r * outputs + p,
                                  outputs, 1, 0, turned, BODY(TURN_ROWS), p ? c : NULL, inputs, c,
                                  inputs);
        }
      }
    if (target)
      BODY(wide_step)(height, rows, inputs, outputs, in + i, delta,
                      start ? start + i * outputs : NULL, target + i * outputs);
  }
}
