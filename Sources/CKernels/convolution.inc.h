// Convolutions of channels-last images; a part of body.inc.h.

static void BODY(pad)(const fs_padding *s, ptrdiff_t rows, const float *in, float *out) {
  ptrdiff_t c = s->channels, line = s->padded_width * c;
  // Neighbouring pixels stay neighbours, or each is followed by zeros.
  ptrdiff_t pieces = s->step == 1 ? 1 : s->width, piece = s->step == 1 ? s->width * c : c;
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t y = 0; y < s->padded_height; y++, out += line) {
      ptrdiff_t from = y - s->top, row = from / s->step, x = s->left * c;
      if (from < 0 || from % s->step || row >= s->height) {
        for (ptrdiff_t i = 0; i < line; i++) out[i] = 0;
        continue;
      }
      for (ptrdiff_t i = 0; i < x; i++) out[i] = 0;
      for (ptrdiff_t p = 0; p < pieces; p++, in += piece) {
        ptrdiff_t end = p + 1 < pieces ? x + s->step * c : line;
        for (ptrdiff_t i = 0; i < piece; i++) out[x + i] = in[i];
        for (ptrdiff_t i = x + piece; i < end; i++) out[i] = 0;
        x = end;
      }
    }
}

#if VL == 16
#include "few_filters.inc.h"
#endif

// Convolutions are products without a matrix of patches: the rows of a tile are neighbouring
// pixels of one output row, and what one row of the kernel sees of an image lies side by side.

static void BODY(convolve)(const fs_convolution *s, ptrdiff_t rows, const float *in,
                           const float *weight, const float *bias, float *out) {
  ptrdiff_t inputs = s->channels / s->groups, outputs = s->outputs / s->groups;
  ptrdiff_t line = s->width * s->channels, pixel = s->stride * s->channels;
  int whole = s->groups == 1;  // All taps at once, or one row of the kernel after the other.
  ptrdiff_t calls = whole ? 1 : s->kernel_height, taps = s->kernel_width * inputs;
  ptrdiff_t runs = whole ? s->kernel_height : s->kernel_width, k = whole ? taps : inputs;
  ptrdiff_t run = whole ? line : s->channels;
  if (rows <= 0 || s->out_width <= 0) return;
#if VL == 16
  if (BODY(has_few_filters)(s)) {
    BODY(convolve_few)(s, rows, in, weight, bias, out);
    return;
  }
#endif
  BODY(cut) cut = BODY(cut_rows)(s->out_width);
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t g = 0; g < s->groups; g++)
      for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
        ptrdiff_t at = g * outputs + j;
        for (ptrdiff_t y = 0; y < s->out_height; y++) {
          const float *a = in + (r * s->height + y * s->stride) * line + g * inputs;
          float *c = out + (r * s->out_height + y) * s->out_width * s->outputs + at;
          for (ptrdiff_t call = 0; call < calls; call++)
            BODY(panel)(cut, outputs - j, NULL, 0, runs, k, a + call * line, pixel, 1, run,
                        weight + call * taps * s->outputs + at, s->outputs,
                        call ? c : bias ? bias + at : NULL, call ? s->outputs : 0, c, s->outputs);
        }
      }
}

enum { BODY(TOGETHER) = 2 };  // Samples that a tile of the weights' gradient passes over at once.

static void BODY(convolve_weights)(const fs_convolution *s, ptrdiff_t rows, const float *in,
                                   const float *delta, const float *start, float *out) {
  ptrdiff_t inputs = s->channels / s->groups, outputs = s->outputs / s->groups;
  ptrdiff_t line = s->width * s->channels, pixel = s->stride * s->channels;
  int whole = s->groups == 1;
  ptrdiff_t calls = whole ? s->kernel_height : s->kernel_height * s->kernel_width;
  ptrdiff_t m = whole ? s->kernel_width * inputs : inputs;
  BODY(cut) cut = BODY(cut_rows)(m);
  ptrdiff_t image = s->height * line, result = s->out_height * s->out_width * s->outputs;
#if VL == 16
  if (BODY(has_paired_taps)(s)) {
    for (ptrdiff_t r = 0; r < rows; r++)
      BODY(weights_by_pairs)(s, in + r * image, delta + r * result, r ? out : start, out);
    return;
  }
#endif
  for (ptrdiff_t first = 0; first < rows; first += BODY(TOGETHER)) {
    ptrdiff_t end = first + BODY(TOGETHER) < rows ? first + BODY(TOGETHER) : rows;
    for (ptrdiff_t call = 0; call < calls; call++) {
      ptrdiff_t ky = whole ? call : call / s->kernel_width;
      ptrdiff_t kx = whole ? 0 : call % s->kernel_width;
      for (ptrdiff_t g = 0; g < s->groups; g++)
        for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
          ptrdiff_t at = g * outputs + j;
          const float *a = in + ky * line + kx * s->channels + g * inputs;
          ptrdiff_t place = call * m * s->outputs + at;
          for (ptrdiff_t t = 0; t < cut.tiles; t++) {
            BODY(cut) one = {1, cut.height + (t < cut.taller), 0};
            float *c = out + place;
            for (ptrdiff_t r = first; r < end; r++)
              BODY(panel)(one, outputs - j, NULL, 0, s->out_height, s->out_width, a + r * image, 1,
                          pixel, s->stride * line, delta + r * result + at, s->outputs,
                          r ? c : start ? start + place : NULL, s->outputs, c, s->outputs);
            a += one.height;
            place += one.height * s->outputs;
          }
        }
    }
  }
}

// The gradient by the inputs: a place's products with all taps, added to where the taps are. A
// line of the image takes what all places of a column give it in one go: what is added next to it
// belongs to the next column, so that no load waits for a store that it half covers.
static void BODY(convolve_back)(const fs_convolution *s, ptrdiff_t rows, const float *delta,
                                const float *turned, float *scratch, float *out) {
  const ptrdiff_t piece = s->kernel_width * s->channels, taps = s->kernel_height * piece;
  const ptrdiff_t line = s->width * s->channels, most = fs_back_columns(s);
  const ptrdiff_t result = s->out_width * s->outputs;
  for (ptrdiff_t r = 0; r < rows; r++, out += s->height * line, delta += s->out_height * result) {
    for (ptrdiff_t i = 0; i < s->height * line; i++) out[i] = 0;
    for (ptrdiff_t x = 0; x < s->out_width; x += most) {
      const ptrdiff_t columns = s->out_width - x < most ? s->out_width - x : most;
      const int whole = columns == s->out_width;  // Places one behind the other: one product.
      for (ptrdiff_t y = 0; y < s->out_height; y += whole ? s->out_height : 1)
        BODY(gemm)(whole ? s->out_height * columns : columns, taps, s->outputs,
                   delta + y * result + x * s->outputs, s->outputs, 1, turned, taps, NULL, 0,
                   scratch + y * columns * taps, taps);
      for (ptrdiff_t column = 0; column < columns; column++)
        for (ptrdiff_t y = 0; y < s->height; y++) {
          const ptrdiff_t above = y - s->kernel_height + s->stride;
          const ptrdiff_t first = above > 0 ? above / s->stride : 0, end = y / s->stride + 1;
          const ptrdiff_t last = end < s->out_height ? end : s->out_height;
          const float *from = scratch + column * taps + y * piece;
          float *to = out + y * line + (x + column) * s->stride * s->channels;
          for (ptrdiff_t i = 0; i < piece && first < last; i += VL) {
            const int n = piece - i < VL ? (int)(piece - i) : VL;
            V sum = v_load_first(to + i, n);
            for (ptrdiff_t place = first; place < last; place++)
              sum += v_load_first(from + place * (columns * taps - s->stride * piece) + i, n);
            v_store_first(to + i, sum, n);
          }
        }
    }
  }
}
