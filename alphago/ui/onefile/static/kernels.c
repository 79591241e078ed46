// The arithmetic of a network, for WebAssembly with 128-bit SIMD; kernels.js says what the arguments are.  Features are
// stored point by point, all channels of a point together.  Built by .ci/compile_wasm.py.

#define PUBLIC __attribute__((visibility("default")))
#define TILE 16 // outputs that are computed together: four vectors

typedef float v4 __attribute__((vector_size(16), aligned(4)));

static v4 splat(float x) { return (v4){x, x, x, x}; }

// Copy features into a larger board, in which a row has `stride` numbers, with `edge` zeros on every side.
static void pad(const float *x, float *padded, int height, int width, int inputs, int edge, int stride) {
  int line = width * inputs;
  padded += edge * stride + edge * inputs;
  for (int row = 0; row < height; row++, x += line, padded += stride)
    for (int i = 0; i < line; i++) padded[i] = x[i];
}

// Write the first `count` of 16 sums.
static void write(const v4 *sums, float *out, int count) {
  if (count >= TILE)
    for (int i = 0; i < 4; i++) *(v4 *)(out + 4 * i) = sums[i];
  else
    for (int i = 0; i < count; i++) out[i] = sums[i >> 2][i & 3];
}

// Compute 16 outputs at two points at once: as many sums as fit into the registers, with the fewest loads.
static void tile(const float *a, const float *b, const float *weights, const float *bias, int stride, int line,
                 int side, v4 *sums) {
  v4 a0 = *(v4 *)bias, a1 = *(v4 *)(bias + 4), a2 = *(v4 *)(bias + 8), a3 = *(v4 *)(bias + 12);
  v4 b0 = a0, b1 = a1, b2 = a2, b3 = a3;
  for (int row = 0; row < side; row++, a += stride, b += stride)
    for (int i = 0; i < line; i++, weights += TILE) {
      v4 w0 = *(v4 *)weights, w1 = *(v4 *)(weights + 4), w2 = *(v4 *)(weights + 8), w3 = *(v4 *)(weights + 12);
      v4 x = splat(a[i]), y = splat(b[i]);
      a0 += x * w0, a1 += x * w1, a2 += x * w2, a3 += x * w3;
      b0 += y * w0, b1 += y * w1, b2 += y * w2, b3 += y * w3;
    }
  sums[0] = a0, sums[1] = a1, sums[2] = a2, sums[3] = a3;
  sums[4] = b0, sums[5] = b1, sums[6] = b2, sums[7] = b3;
}

PUBLIC void convolve(const float *x, float *padded, const float *weights, const float *bias, float *out, int height,
                     int width, int inputs, int outputs, int side) {
  int edge = side / 2, points = height * width, stride = (width + 2 * edge) * inputs, line = side * inputs;
  if (edge) pad(x, padded, height, width, inputs, edge, stride);
  const float *source = edge ? padded : x;
  for (int first = 0; first < outputs; first += TILE, weights += side * line * TILE, bias += TILE)
    for (int p = 0; p < points; p += 2) {
      int q = p + 1 < points ? p + 1 : p;
      v4 sums[8];
      tile(source + p / width * stride + p % width * inputs, source + q / width * stride + q % width * inputs, weights,
           bias, stride, line, side, sums);
      write(sums, out + p * outputs + first, outputs - first);
      write(sums + 4, out + q * outputs + first, outputs - first);
    }
}

// A convolution of side 3 in squares of 3 points by 3, with 25 products for each where there were 81: Winograd's
// F(3x3, 3x3) with the points 0, 1, -1, 2 (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015).

#define BEFORE 5 // points of a square along a side, with the ones around it
#define AFTER 3
#define PRODUCTS (BEFORE * BEFORE)

// Apply the matrix B to 5 vectors, `step` apart.
static void before(const v4 *d, v4 *to, int step) {
  v4 a = d[0], b = d[step], c = d[2 * step], e = d[3 * step], f = d[4 * step];
  v4 be = e - b, ce = e - c;
  to[0] = 2 * (a - c) + be, to[step] = ce - 2 * b, to[2 * step] = ce + 2 * (b - c), to[3 * step] = be;
  to[4 * step] = f - c - 2 * be;
}

// Apply the matrix A to 5 vectors; three are left.
static void after(const v4 *m, v4 *to, int step) {
  v4 b = m[step], c = m[2 * step], e = m[3 * step], sum = b + c;
  to[0] = m[0] + sum + e, to[step] = b - c + 2 * e, to[2 * step] = sum + 4 * e + m[4 * step];
}

static void square_in(const float *x, float *to, int inputs, int stride, int gap) {
  for (int c = 0; c < inputs; c += 4) {
    v4 d[PRODUCTS], t[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) d[i] = *(v4 *)(x + i / BEFORE * stride + i % BEFORE * inputs + c);
    for (int i = 0; i < BEFORE; i++) before(d + i, t + i, BEFORE);
    for (int i = 0; i < BEFORE; i++) before(t + BEFORE * i, d + BEFORE * i, 1);
    for (int i = 0; i < PRODUCTS; i++) *(v4 *)(to + i * gap + c) = d[i];
  }
}

static void square_out(const float *m, const float *bias, float *out, int outputs, int gap, int rows, int columns, int line) {
  for (int c = 0; c < outputs; c += 4) {
    v4 d[PRODUCTS], t[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) d[i] = *(v4 *)(m + i * gap + c);
    for (int i = 0; i < BEFORE; i++) after(d + i, t + i, BEFORE);
    for (int i = 0; i < AFTER; i++) after(t + BEFORE * i, d + BEFORE * i, 1);
    for (int row = 0; row < rows; row++)
      for (int i = 0; i < columns; i++) *(v4 *)(out + row * line + i * outputs + c) = d[BEFORE * row + i] + *(v4 *)(bias + c);
  }
}

PUBLIC void winograd(const float *x, float *scratch, const float *weights, const float *bias, float *out, int height,
                     int width, int inputs, int outputs) {
  int down = (height + AFTER - 1) / AFTER, right = (width + AFTER - 1) / AFTER, squares = down * right;
  int stride = (AFTER * right + 2) * inputs, gap = squares * inputs, line = width * outputs;
  float *zeros = scratch, *padded = zeros + outputs, *products = padded + (AFTER * down + 2) * stride;
  float *sums = products + PRODUCTS * gap;
  pad(x, padded, height, width, inputs, 1, stride);
  for (int i = 0; i < squares; i++)
    square_in(padded + AFTER * (i / right * stride + i % right * inputs), products + i * inputs, inputs, stride, gap);
  for (int i = 0; i < PRODUCTS; i++)
    convolve(products + i * gap, 0, weights + i * inputs * outputs, zeros, sums + i * squares * outputs, 1, squares, inputs,
             outputs, 1);
  for (int i = 0; i < squares; i++) {
    int row = AFTER * (i / right), column = AFTER * (i % right), rows = height - row, columns = width - column;
    square_out(sums + i * outputs, bias, out + row * line + column * outputs, outputs, squares * outputs,
               rows < AFTER ? rows : AFTER, columns < AFTER ? columns : AFTER, line);
  }
}

PUBLIC void rectify(const float *x, float *out, int count) {
  for (int i = 0; i < count; i++) out[i] = x[i] > 0 ? x[i] : 0;
}

// Add to the features of each point one number for each channel; as one point with many channels, other features.
PUBLIC void add(const float *restrict x, const float *restrict y, float *restrict out, int points, int channels) {
  for (int p = 0; p < points; p++, x += channels, out += channels)
    for (int c = 0; c < channels; c++) out[c] = x[c] + y[c];
}

PUBLIC void mean(const float *restrict x, float *restrict out, int points, int channels) {
  for (int c = 0; c < channels; c++) out[c] = 0;
  for (int p = 0; p < points; p++, x += channels)
    for (int c = 0; c < channels; c++) out[c] += x[c];
  for (int c = 0; c < channels; c++) out[c] /= points;
}

PUBLIC void maximum(const float *restrict x, float *restrict out, int points, int channels) {
  for (int c = 0; c < channels; c++) out[c] = x[c];
  for (int p = 1; p < points; p++, x += channels)
    for (int c = 0; c < channels; c++) out[c] = x[channels + c] > out[c] ? x[channels + c] : out[c];
}
