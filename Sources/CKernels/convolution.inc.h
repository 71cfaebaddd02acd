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

// A tile of `rows` rows and `vectors` vectors of columns, in registers. The last vector may be
// ragged. The inner sum has `runs` runs of k terms: a moves by `a_run` from run to run, b goes on.
//
// One stride of a is 1: `a_row` where the tile is `upright`, `a_column` where it is not. The rows'
// addresses then are few registers with fixed distances: a row at, one behind, or two behind every
// third. FS_HIDDEN (tile.inc.h) keeps the compiler from deriving one from the other, step by step.
// Where the tile looks `ahead`, each term fetches a vector's lines more of what lies at `next`.
INLINE void BODY(patch)(const int rows, const int vectors, const int ragged, const int upright,
                        const int ahead, const float *next, int last, ptrdiff_t runs,
                        ptrdiff_t k, const float *a, ptrdiff_t a_row, ptrdiff_t a_column,
                        ptrdiff_t a_run, const float *b, ptrdiff_t b_row, const float *start,
                        ptrdiff_t start_row, float *c, ptrdiff_t c_row) {
  const int bases = upright ? 1 : (rows + 2) / 3;
  V sum[ROWS][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      const float *s = start ? start + i * start_row + v * VL : NULL;
      if (!start)
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
        next += 2 * VL;
      }
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; i++) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * VL;
      if (ragged && v == vectors - 1)
        v_store_first(to, sum[i][v], last);
      else
        v_store(to, sum[i][v]);
    }
  }
}

#define FS_PATCH_ARGUMENTS \
  next, last, runs, k, a, a_row, a_column, a_run, b, b_row, start, start_row, c, c_row

// One compiled loop for each shape of tile.
#define FS_PATCH(R)                                             \
  case R:                                                       \
    if (last == VL && vectors == 2)                             \
      BODY(patch)(R, 2, 0, upright, ahead, FS_PATCH_ARGUMENTS); \
    else if (vectors == 2)                                      \
      BODY(patch)(R, 2, 1, upright, ahead, FS_PATCH_ARGUMENTS); \
    else                                                        \
      BODY(patch)(R, 1, 1, upright, ahead, FS_PATCH_ARGUMENTS); \
    break;

#if ROWS > 6
#define FS_PATCHES                                                                           \
  FS_PATCH(1) FS_PATCH(2) FS_PATCH(3) FS_PATCH(4) FS_PATCH(5) FS_PATCH(6) FS_PATCH(7)        \
  FS_PATCH(8) FS_PATCH(9) FS_PATCH(10) FS_PATCH(11) FS_PATCH(12) FS_PATCH(13) FS_PATCH(14)
#elif ROWS > 4
#define FS_PATCHES FS_PATCH(1) FS_PATCH(2) FS_PATCH(3) FS_PATCH(4) FS_PATCH(5) FS_PATCH(6)
#else
#define FS_PATCHES FS_PATCH(1) FS_PATCH(2) FS_PATCH(3) FS_PATCH(4)
#endif

#define FS_PATCH_FUNCTION(name, is_upright, is_ahead)                                         \
  static __attribute__((noinline)) void BODY(name)(                                           \
      const float *next, ptrdiff_t rows, int vectors, int last, ptrdiff_t runs, ptrdiff_t k,  \
      const float *a, ptrdiff_t a_row, ptrdiff_t a_column, ptrdiff_t a_run, const float *b,   \
      ptrdiff_t b_row, const float *start, ptrdiff_t start_row, float *c, ptrdiff_t c_row) {  \
    const int upright = is_upright, ahead = is_ahead;                                         \
    switch (rows) { FS_PATCHES }                                                              \
  }

FS_PATCH_FUNCTION(level_patch, 0, 0)
FS_PATCH_FUNCTION(level_patch_ahead, 0, 1)
FS_PATCH_FUNCTION(upright_patch, 1, 0)

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
  ptrdiff_t tiles = (s->out_width + ROWS - 1) / ROWS;
  if (rows <= 0 || tiles <= 0) return;
  ptrdiff_t height = s->out_width / tiles, taller = s->out_width % tiles;
  for (ptrdiff_t r = 0; r < rows; r++)
    for (ptrdiff_t g = 0; g < s->groups; g++)
      for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
        ptrdiff_t left = outputs - j < 2 * VL ? outputs - j : 2 * VL, at = g * outputs + j;
        int vectors = left > VL ? 2 : 1, last = (int)(left - (vectors - 1) * VL);
        for (ptrdiff_t y = 0; y < s->out_height; y++) {
          const float *a = in + (r * s->height + y * s->stride) * line + g * inputs;
          float *c = out + (r * s->out_height + y) * s->out_width * s->outputs + at;
          for (ptrdiff_t t = 0; t < tiles; t++) {
            ptrdiff_t count = height + (t < taller);
            for (ptrdiff_t call = 0; call < calls; call++) {
              const float *start = call ? c : bias ? bias + at : NULL;
              BODY(level_patch)(NULL, count, vectors, last, runs, k, a + call * line, pixel, 1, run,
                                weight + call * taps * s->outputs + at, s->outputs, start,
                                call ? s->outputs : 0, c, s->outputs);
            }
            a += count * pixel;
            c += count * s->outputs;
          }
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
  ptrdiff_t m = whole ? s->kernel_width * inputs : inputs, tiles = (m + ROWS - 1) / ROWS;
  ptrdiff_t height = m / tiles, taller = m % tiles;
  ptrdiff_t image = s->height * line, result = s->out_height * s->out_width * s->outputs;
  for (ptrdiff_t first = 0; first < rows; first += BODY(TOGETHER)) {
    ptrdiff_t end = first + BODY(TOGETHER) < rows ? first + BODY(TOGETHER) : rows;
    for (ptrdiff_t call = 0; call < calls; call++) {
      ptrdiff_t ky = whole ? call : call / s->kernel_width;
      ptrdiff_t kx = whole ? 0 : call % s->kernel_width;
      for (ptrdiff_t g = 0; g < s->groups; g++)
        for (ptrdiff_t j = 0; j < outputs; j += 2 * VL) {
          ptrdiff_t left = outputs - j < 2 * VL ? outputs - j : 2 * VL, at = g * outputs + j;
          int vectors = left > VL ? 2 : 1, last = (int)(left - (vectors - 1) * VL);
          const float *a = in + ky * line + kx * s->channels + g * inputs;
          ptrdiff_t place = call * m * s->outputs + at;
          for (ptrdiff_t t = 0; t < tiles; t++) {
            ptrdiff_t count = height + (t < taller);
            float *c = out + place;
            for (ptrdiff_t r = first; r < end; r++) {
              const float *from = r ? c : start ? start + place : NULL;
              BODY(upright_patch)(NULL, count, vectors, last, s->out_height, s->out_width,
                                  a + r * image, 1, pixel, s->stride * line,
                                  delta + r * result + at, s->outputs, from, s->outputs, c,
                                  s->outputs);
            }
            a += count;
            place += count * s->outputs;
          }
        }
    }
  }
}
