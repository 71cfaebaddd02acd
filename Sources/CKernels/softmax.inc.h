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

static ptrdiff_t BODY(softmax_row)(ptrdiff_t classes, const float *logits, ptrdiff_t label,
                                   float scale, float *delta, double *loss_sum) {
  ptrdiff_t best = 0;
  for (ptrdiff_t j = 1; j < classes; j++)
    if (logits[j] > logits[best]) best = j;
  float largest = logits[best], at_label = logits[label] - largest, sum = 0;
  for (ptrdiff_t j = 0; j < classes; j += VL) {
    int n = classes - j < VL ? (int)(classes - j) : VL;
    v_store_first(delta + j, BODY(v_exp)(v_load_first(logits + j, n) - v_set(largest)), n);
  }
  for (ptrdiff_t j = 0; j < classes; j++) sum += delta[j];
  *loss_sum += fs_log((double)sum) - (double)at_label;
  float label_share = delta[label] / sum;
  for (ptrdiff_t j = 0; j < classes; j += VL) {
    int n = classes - j < VL ? (int)(classes - j) : VL;
    v_store_first(delta + j, v_load_first(delta + j, n) / v_set(sum) * v_set(scale), n);
  }
  delta[label] = (label_share - 1) * scale;
  return best == label;
}

static ptrdiff_t BODY(softmax)(ptrdiff_t rows, ptrdiff_t classes, const float *logits,
                               ptrdiff_t logits_row, const int32_t *labels, float scale,
                               float *delta, ptrdiff_t delta_row, double *loss_sum) {
  ptrdiff_t correct = 0;
  int step = classes <= BODY(most_classes) ? VL : 1;
  for (ptrdiff_t i = 0; i < rows; i += step) {
    const float *from = logits + i * logits_row;
    float *to = delta + i * delta_row;
    int some = rows - i < VL ? (int)(rows - i) : VL;
    correct += step == 1 ? BODY(softmax_row)(classes, from, labels[i], scale, to, loss_sum)
                         : BODY(softmax_lanes)(some, classes, from, logits_row, labels + i, scale,
                                               to, delta_row, loss_sum);
  }
  return correct;
}

