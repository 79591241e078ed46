// The arithmetic of a network, for WebAssembly with 128-bit SIMD; kernels.js says what the arguments are.  Features are
// stored point by point, all channels of a point together.  Built by .ci/compile_wasm.py.
//
// What costs most are products of matrices.  All else are numbers of two tensors, one by one, along any of their axes.

#define PUBLIC __attribute__((visibility("default")))
#define TILE 16 // outputs that are computed together: four vectors

typedef float v4 __attribute__((vector_size(16), aligned(4)));

// Compute 16 outputs of two rows at once: as many sums as fit into the registers, with the fewest loads.
static void tile(const float *a, const float *b, const float *weights, int inputs, v4 *to_a, v4 *to_b) {
  v4 sums_a[TILE / 4] = {0}, sums_b[TILE / 4] = {0};
  for (int i = 0; i < inputs; i++, weights += TILE)
    for (int k = 0; k < TILE / 4; k++) {
      v4 w = *(v4 *)(weights + 4 * k);
      sums_a[k] += a[i] * w, sums_b[k] += b[i] * w;
    }
  for (int k = 0; k < TILE / 4; k++) to_a[k] = sums_a[k], to_b[k] = sums_b[k];
}

PUBLIC void product(const float *x, const float *weights, float *out, int matrices, int rows, int inputs, int outputs) {
  for (; matrices > 0; matrices--, x += rows * inputs, out += rows * outputs)
    for (int first = 0; first < outputs; first += TILE, weights += inputs * TILE)
      for (int row = 0; row < rows; row += 2) {
        int next = row + 1 < rows ? row + 1 : row;
        tile(x + row * inputs, x + next * inputs, weights, inputs, (v4 *)(out + row * outputs + first),
             (v4 *)(out + next * outputs + first));
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

static void square_out(const float *m, float *out, int outputs, int gap, int rows, int columns, int line) {
  for (int c = 0; c < outputs; c += 4) {
    v4 d[PRODUCTS], t[PRODUCTS];
    for (int i = 0; i < PRODUCTS; i++) d[i] = *(v4 *)(m + i * gap + c);
    for (int i = 0; i < BEFORE; i++) after(d + i, t + i, BEFORE);
    for (int i = 0; i < AFTER; i++) after(t + BEFORE * i, d + BEFORE * i, 1);
    for (int row = 0; row < rows; row++)
      for (int i = 0; i < columns; i++) *(v4 *)(out + row * line + i * outputs + c) = d[BEFORE * row + i];
  }
}

PUBLIC void winograd(const float *x, float *scratch, const float *weights, float *out, int height, int width, int inputs,
                     int outputs) {
  int down = (height + AFTER - 1) / AFTER, right = (width + AFTER - 1) / AFTER, squares = down * right;
  int stride = (AFTER * right + 2) * inputs, gap = squares * inputs, line = width * outputs;
  float *products = scratch, *sums = products + PRODUCTS * gap;
  for (int i = 0; i < squares; i++)
    square_in(x + AFTER * (i / right * stride + i % right * inputs), products + i * inputs, inputs, stride, gap);
  product(products, weights, sums, PRODUCTS, squares, inputs, outputs);
  for (int i = 0; i < squares; i++) {
    int row = AFTER * (i / right), column = AFTER * (i % right), rows = height - row, columns = width - column;
    square_out(sums + i * outputs, out + row * line + column * outputs, outputs, squares * outputs,
               rows < AFTER ? rows : AFTER, columns < AFTER ? columns : AFTER, line);
  }
}

// One axis of numbers that are computed one by one: its length, and the steps of x, y and out.
typedef struct { int length, x, y, out; } Axis;
typedef void Row(Axis axis, const float *x, const float *y, float *out);

static void nest(Row *row, const Axis *axis, int axes, const float *x, const float *y, float *out) {
  if (axes == 1) return row(*axis, x, y, out);
  for (int i = 0; i < axis->length; i++, x += axis->x, y += axis->y, out += axis->out)
    nest(row, axis + 1, axes - 1, x, y, out);
}

#define ROUND (3 << 22) // a float32 as large as this has no digits after the point

// e^x: 2^n times the series of e^r, where r is at most half of ln 2.
static float exponential(float x) {
  x = x < -87 ? -87 : x > 88 ? 88 : x;
  union { float number; int bits; } power = {x * 1.44269504f + ROUND}; // its last bits are those of n
  float n = power.number - ROUND, r = x - n * 0.693359375f + n * 2.12194440e-4f;
  power.bits = (power.bits << 23) + (127 << 23);
  return power.number * (1 + r * (1 + r * (1 / 2.f + r * (1 / 6.f + r * (1 / 24.f + r * (1 / 120.f + r * (1 / 720.f)))))));
}

#define FOUR "clang loop vectorize(assume_safety)"
#define LOOP(kind, a, b, to, value) \
  _Pragma(kind) for (int i = 0; i < axis.length; i++) { float x = a, y = b; to = value; }

// A kernel of `value`; out may be x.  Numbers that lie side by side are computed four at a time.
#define ELEMENTWISE(name, value) \
  static void name##_row(Axis axis, const float *a, const float *b, float *out) { \
    if (axis.x == 1 && axis.y == 1 && axis.out == 1) LOOP(FOUR, a[i], b[i], out[i], value) \
    else if (axis.x == 1 && axis.y == 0 && axis.out == 1) LOOP(FOUR, a[i], *b, out[i], value) \
    else LOOP("clang loop vectorize(disable) unroll(disable)", a[i * axis.x], b[i * axis.y], out[i * axis.out], value) \
  } \
  PUBLIC void name(const Axis *axes, int count, const float *x, const float *y, float *out) { \
    nest(name##_row, axes, count, x, y, out); \
  }

ELEMENTWISE(Copy, x)
ELEMENTWISE(Add, x + y)
ELEMENTWISE(Sub, x - y)
ELEMENTWISE(Mul, x * y)
ELEMENTWISE(Div, x / y)
ELEMENTWISE(Max, x > y ? x : y)
ELEMENTWISE(Relu, x > 0 ? x : 0)
ELEMENTWISE(Elu, x > 0 ? x : y * (exponential(x) - 1))
ELEMENTWISE(Exp, exponential(x))
ELEMENTWISE(Sigmoid, 1 / (1 + exponential(-x)))
ELEMENTWISE(Tanh, 1 - 2 / (1 + exponential(2 * x)))
ELEMENTWISE(Sqrt, __builtin_sqrtf(x))
