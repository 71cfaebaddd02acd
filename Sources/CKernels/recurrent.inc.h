// Recurrent cells; a part of body.inc.h. Additions and multiplications are rounded one by one.

static void BODY(lstm)(ptrdiff_t rows, ptrdiff_t units, float *gates, ptrdiff_t gates_row,
                       const float *cell_before, float *cell, float *squashed,
                       ptrdiff_t cell_row, float *hidden, ptrdiff_t hidden_row) {
  for (ptrdiff_t r = 0; r < rows; r++) {
    for (ptrdiff_t j = 0; j < units; j += VL) {
      int n = units - j < VL ? (int)(units - j) : VL;
      float *at = gates + r * gates_row + j;
      V i = BODY(v_sigmoid)(v_load_first(at, n));
      V f = BODY(v_sigmoid)(v_load_first(at + units, n));
      V g = BODY(v_tanh)(v_load_first(at + 2 * units, n));
      V o = BODY(v_sigmoid)(v_load_first(at + 3 * units, n));
      V c = i * g;
      if (cell_before) c = f * v_load_first(cell_before + r * cell_row + j, n) + c;
      V t = BODY(v_tanh)(c);
      v_store_first(at, i, n);
      v_store_first(at + units, f, n);
      v_store_first(at + 2 * units, g, n);
      v_store_first(at + 3 * units, o, n);
      v_store_first(cell + r * cell_row + j, c, n);
      v_store_first(squashed + r * cell_row + j, t, n);
      v_store_first(hidden + r * hidden_row + j, o * t, n);
    }
  }
}

static void BODY(lstm_backward)(ptrdiff_t rows, ptrdiff_t units, const float *gates,
                                ptrdiff_t gates_row, const float *cell_before,
                                const float *squashed, ptrdiff_t cell_row,
                                const float *hidden_delta, float *cell_delta,
                                float *sums_delta, ptrdiff_t sums_row) {
  for (ptrdiff_t r = 0; r < rows; r++) {
    for (ptrdiff_t j = 0; j < units; j++) {
      const float *at = gates + r * gates_row + j;
      float i = at[0], f = at[units], g = at[2 * units], o = at[3 * units];
      float t = squashed[r * cell_row + j], h = hidden_delta[r * units + j];
      float before = cell_before ? cell_before[r * cell_row + j] : 0;
      float c = cell_delta[r * units + j] + h * o * (1 - t * t);
      float *to = sums_delta + r * sums_row + j;
      to[0] = c * g * (i * (1 - i));
      to[units] = c * before * (f * (1 - f));
      to[2 * units] = c * i * (1 - g * g);
      to[3 * units] = h * t * (o * (1 - o));
      cell_delta[r * units + j] = c * f;
    }
  }
}

static void BODY(gru)(ptrdiff_t rows, ptrdiff_t units, float *gates, ptrdiff_t gates_row,
                      const float *recurrent, ptrdiff_t recurrent_row,
                      const float *hidden_before, float *hidden, ptrdiff_t hidden_row) {
  for (ptrdiff_t q = 0; q < rows; q++) {
    for (ptrdiff_t j = 0; j < units; j += VL) {
      int n = units - j < VL ? (int)(units - j) : VL;
      float *at = gates + q * gates_row + j;
      const float *by = recurrent + q * recurrent_row + j;
      V r = BODY(v_sigmoid)(v_load_first(at, n) + v_load_first(by, n));
      V z = BODY(v_sigmoid)(v_load_first(at + units, n) + v_load_first(by + units, n));
      V c = BODY(v_tanh)(v_load_first(at + 2 * units, n) + r * v_load_first(by + 2 * units, n));
      V h = (v_set(1) - z) * c;
      if (hidden_before) h = h + z * v_load_first(hidden_before + q * hidden_row + j, n);
      v_store_first(at, r, n);
      v_store_first(at + units, z, n);
      v_store_first(at + 2 * units, c, n);
      v_store_first(hidden + q * hidden_row + j, h, n);
    }
  }
}

static void BODY(gru_backward)(ptrdiff_t rows, ptrdiff_t units, const float *gates,
                               ptrdiff_t gates_row, const float *recurrent,
                               ptrdiff_t recurrent_row, const float *hidden_before,
                               ptrdiff_t hidden_row, const float *hidden_delta,
                               float *sums_delta, float *recurrent_delta, ptrdiff_t sums_row,
                               float *before_delta) {
  for (ptrdiff_t q = 0; q < rows; q++) {
    for (ptrdiff_t j = 0; j < units; j++) {
      const float *at = gates + q * gates_row + j;
      float r = at[0], z = at[units], c = at[2 * units];
      float before = hidden_before ? hidden_before[q * hidden_row + j] : 0;
      float h = hidden_delta[q * units + j];
      float by = recurrent[q * recurrent_row + 2 * units + j];
      float dc = h * (1 - z) * (1 - c * c);
      float dz = h * (before - c) * (z * (1 - z));
      float dr = dc * by * (r * (1 - r));
      float *to = sums_delta + q * sums_row + j, *also = recurrent_delta + q * sums_row + j;
      to[0] = dr;
      to[units] = dz;
      to[2 * units] = dc;
      also[0] = dr;
      also[units] = dz;
      also[2 * units] = dc * r;
      before_delta[q * units + j] = h * z;
    }
  }
}
