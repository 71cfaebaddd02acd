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
  if (rows <= 0) return;
  BODY(cut) cut = BODY(cut_rows)(rows);
  for (ptrdiff_t p = 0; p < inputs || p == 0; p += BODY(WIDE)) {
    ptrdiff_t k = inputs - p < BODY(WIDE) ? inputs - p : BODY(WIDE);
    const float *block = weight + p * outputs;
    for (ptrdiff_t j = 0; j < outputs; j += 2 * VL)
      BODY(panel)(cut, outputs - j, block + k * outputs + j * k, 2 * VL, 1, k, in + p, inputs, 1, 0,
                  block + j, outputs, p ? out + j : bias ? bias + j : NULL, p ? outputs : 0,
                  out + j, outputs);
  }
}

// target = start + inᵀ·delta, for `height` rows of weights, some of them from end to end at a time:
// what `gemm` walks through from top to bottom arrives late where it lies far away. The tile is
// compiled in here since a call costs more than so few terms.
static void BODY(wide_step)(ptrdiff_t height, ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs,
                            const float *in, const float *delta, const float *start,
                            float *target) {
  for (ptrdiff_t i = 0; i < height; i += BODY(STEP_ROWS))
    for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
      ptrdiff_t count = height - i < BODY(STEP_ROWS) ? height - i : BODY(STEP_ROWS);
      const float *a = in + i, *b = delta + j, *from = start ? start + i * outputs + j : NULL;
      float *c = target + i * outputs + j;
      if (count == BODY(STEP_ROWS) && outputs - j >= 2 * VL)
        BODY(tile)(BODY(STEP_ROWS), 2, 0, 1, 0, NULL, 0, VL, 1, rows, a, 1, inputs, 0, b, outputs,
                   from, outputs, c, outputs);
      else
        BODY(panel)((BODY(cut)){1, count, 0}, outputs - j, NULL, 0, 1, rows, a, 1, inputs, 0, b,
                    outputs, from, outputs, c, outputs);
    }
}

static void BODY(wide_backward)(ptrdiff_t rows, ptrdiff_t inputs, ptrdiff_t outputs,
                                const float *in, const float *delta, const float *weight,
                                const float *start, float *target, float *in_delta) {
  BODY(cut) cut = BODY(cut_rows)(rows);
  float turned[BODY(TURN_COLUMNS) * BODY(TURN_ROWS)] __attribute__((aligned(64)));
  for (ptrdiff_t i = 0; i < inputs; i += BODY(TURN_ROWS)) {
    ptrdiff_t height = inputs - i < BODY(TURN_ROWS) ? inputs - i : BODY(TURN_ROWS);
    if (in_delta)
      for (ptrdiff_t p = 0; p < outputs || p == 0; p += BODY(TURN_COLUMNS)) {
        ptrdiff_t k = outputs - p < BODY(TURN_COLUMNS) ? outputs - p : BODY(TURN_COLUMNS);
        BODY(transpose)(height, k, weight + i * outputs + p, outputs, turned, BODY(TURN_ROWS));
        const float *next = weight + (i + BODY(TURN_ROWS)) * outputs + p * BODY(TURN_ROWS);
        BODY(panel)(cut, height, next, 2 * VL, 1, k, delta + p, outputs, 1, 0, turned,
                    BODY(TURN_ROWS), p ? in_delta + i : NULL, inputs, in_delta + i, inputs);
      }
    if (target)
      BODY(wide_step)(height, rows, inputs, outputs, in + i, delta,
                      start ? start + i * outputs : NULL, target + i * outputs);
  }
}
