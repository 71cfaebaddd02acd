// Softmax with cross-entropy; a part of body.inc.h.

enum { BODY(most_classes) = 64 };

// VL rows at a time, one a lane, for few classes.
static ptrdiff_t BODY(softmax_lanes)(int rows, ptrdiff_t classes, const float *logits,
                                     ptrdiff_t logits_row, const int32_t *labels, float scale,
                                     float *delta, ptrdiff_t delta_row, double *loss_sum) {
  float columns[BODY(most_classes) * VL], at_label[VL], sums[VL];
  int32_t best_of[VL];
  double logs[VL];
  if (rows < VL)
    for (ptrdiff_t j = 0; j < classes; j++) v_store(columns + j * VL, v_set(0));
  BODY(transpose)(rows, classes, logits, logits_row, columns, VL);
  for (int i = 0; i < rows; i++) at_label[i] = logits[i * logits_row + labels[i]];
  for (int i = rows; i < VL; i++) at_label[i] = 0;
  V largest = v_load(columns);
  VI best = (VI){0};
  for (ptrdiff_t j = 1; j < classes; j++) {
    V value = v_load(columns + j * VL);
    VI more = value > largest;
    best = (more & (int32_t)j) | (~more & best);
    largest = (V)((more & (VI)value) | (~more & (VI)largest));
  }
  V sum = v_set(0);
  for (ptrdiff_t j = 0; j < classes; j++) {
    V power = BODY(v_exp)(v_load(columns + j * VL) - largest);
    v_store(columns + j * VL, power);
    sum += power;
  }
  v_store(sums, sum);
  v_store(at_label, v_load(at_label) - largest);
  __builtin_memcpy(best_of, &best, sizeof best);
  for (int i = 0; i < VL; i++) logs[i] = fs_log((double)sums[i]);
  ptrdiff_t correct = 0;
  for (int i = 0; i < rows; i++) {
    correct += best_of[i] == labels[i];
    *loss_sum += logs[i] - (double)at_label[i];
    at_label[i] = columns[labels[i] * VL + i];
  }
  V share = v_load(at_label) / sum;
  v_store(at_label, (share - v_set(1)) * v_set(scale));
  for (ptrdiff_t j = 0; j < classes; j++)
    v_store(columns + j * VL, v_load(columns + j * VL) / sum * v_set(scale));
  BODY(transpose)(classes, rows, columns, VL, delta, delta_row);
  for (int i = 0; i < rows; i++) delta[i * delta_row + labels[i]] = at_label[i];
  return correct;
}

// The first of a row's largest logits: lanes begin at the first logit, so that one which is no
// number stays the best, as it does where logits are compared one by one.
INLINE ptrdiff_t BODY(best_of_row)(ptrdiff_t classes, const float *logits) {
  V most = v_set(logits[0]);
  VI place = (VI)v_set(0), here;
  for (int l = 0; l < VL; l++) here[l] = l;
  ptrdiff_t j = 0;
  for (; j + VL <= classes; j += VL, here += VL) {
    V value = v_load(logits + j);
    VI more = value > most;
    most = BODY(v_select)(more, value, most);
    place = (more & here) | (~more & place);
  }
  ptrdiff_t best = 0;
  float largest = logits[0];
  for (int l = 0; l < VL; l++)
    if (most[l] > largest || (most[l] == largest && place[l] < best))
      largest = most[l], best = place[l];
  for (; j < classes; j++)
    if (logits[j] > largest) largest = logits[j], best = j;
  return best;
}

enum { BODY(ROWS_AT_ONCE) = 8 };

// Some rows of many classes: their sums side by side, as each waits for its own last addition.
static ptrdiff_t BODY(softmax_rows_of_many)(int rows, ptrdiff_t classes, const float *logits,
                                            ptrdiff_t logits_row, const int32_t *labels,
                                            float scale, float *delta, ptrdiff_t delta_row,
                                            double *loss_sum) {
  ptrdiff_t correct = 0;
  float at_label[BODY(ROWS_AT_ONCE)], sums[BODY(ROWS_AT_ONCE)] = {0};
  for (int i = 0; i < rows; i++) {
    const float *from = logits + i * logits_row;
    float *to = delta + i * delta_row;
    const ptrdiff_t best = BODY(best_of_row)(classes, from);
    correct += best == labels[i];
    const float largest = from[best];
    at_label[i] = from[labels[i]] - largest;
    for (ptrdiff_t j = 0; j < classes; j += VL) {
      int n = classes - j < VL ? (int)(classes - j) : VL;
      v_store_first(to + j, BODY(v_exp)(v_load_first(from + j, n) - v_set(largest)), n);
    }
  }
  if (rows == BODY(ROWS_AT_ONCE)) {
    float sum[BODY(ROWS_AT_ONCE)] = {0};
    for (ptrdiff_t j = 0; j < classes; j++)
#pragma clang loop unroll(full)
      for (int i = 0; i < BODY(ROWS_AT_ONCE); i++) sum[i] += delta[i * delta_row + j];
    for (int i = 0; i < rows; i++) sums[i] = sum[i];
  } else {
    for (int i = 0; i < rows; i++)
      for (ptrdiff_t j = 0; j < classes; j++) sums[i] += delta[i * delta_row + j];
  }
  for (int i = 0; i < rows; i++) {
    float *to = delta + i * delta_row;
    *loss_sum += fs_log((double)sums[i]) - (double)at_label[i];
    const float label_share = to[labels[i]] / sums[i];
    for (ptrdiff_t j = 0; j < classes; j += VL) {
      int n = classes - j < VL ? (int)(classes - j) : VL;
      v_store_first(to + j, v_load_first(to + j, n) / v_set(sums[i]) * v_set(scale), n);
    }
    to[labels[i]] = (label_share - 1) * scale;
  }
  return correct;
}

static ptrdiff_t BODY(softmax)(ptrdiff_t rows, ptrdiff_t classes, const float *logits,
                               ptrdiff_t logits_row, const int32_t *labels, float scale,
                               float *delta, ptrdiff_t delta_row, double *loss_sum) {
  ptrdiff_t correct = 0;
  const int is_few = classes <= BODY(most_classes), step = is_few ? VL : BODY(ROWS_AT_ONCE);
  for (ptrdiff_t i = 0; i < rows; i += step) {
    const float *from = logits + i * logits_row;
    float *to = delta + i * delta_row;
    int some = rows - i < step ? (int)(rows - i) : step;
    correct += is_few ? BODY(softmax_lanes)(some, classes, from, logits_row, labels + i, scale, to,
                                            delta_row, loss_sum)
                      : BODY(softmax_rows_of_many)(some, classes, from, logits_row, labels + i,
                                                   scale, to, delta_row, loss_sum);
  }
  return correct;
}

