// Dense layers whose weights are larger than a cache; a part of body.inc.h. The weights are walked
// through once a pass, a few rows at a time, so that what is read is used for the whole batch;
// while some rows are in use, those behind them are fetched. Orders of sums are those of `gemm`.

enum {
  BODY(WIDE) = 32,           // Rows of weights at a time, forward.
  BODY(TURN_ROWS) = 2 * VL,  // Rows of weights at a time, backward,
  BODY(TURN_COLUMNS) = 128,  // and the part of them that is turned at a time.
  BODY(STEP_ROWS) = 4,       // Rows of weights in a tile of the step.
};

static void BODY(wide_forward)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs,
                               const float *in, const float *weight, const float *bias,
                               float *out) {
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
        BODY(transpose)(height, k, weight + i * outputs + p, outputs, turned, BODY(TURN_ROWS));
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
