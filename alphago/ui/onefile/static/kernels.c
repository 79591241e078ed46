// The arithmetic of a network, for WebAssembly with 128-bit SIMD; kernels.js has its plain twin and says what the
// arguments are.  Features are stored point by point, all channels of a point together.  Built by
//
//   clang --target=wasm32 -O3 -msimd128 -fno-builtin -nostdlib -Wl,--no-entry -Wl,--export-dynamic
//   -Wl,--export=__heap_base -Wl,--strip-all -Wl,-z,stack-size=4096 -o kernels.wasm kernels.c
//
// kernels.wasm was built by Debian's clang and lld 14.0.6; tests/ui/onefile/test_wasm.py builds it again and compares.

#define PUBLIC __attribute__((visibility("default")))
#define TILE 16 // outputs that are computed together: four vectors

typedef float v4 __attribute__((vector_size(16), aligned(4)));

static v4 splat(float x) { return (v4){x, x, x, x}; }

// Copy features into a larger board with `edge` zeros on every side.
static void pad(const float *x, float *padded, int height, int width, int inputs, int edge) {
  int line = width * inputs, stride = (width + 2 * edge) * inputs;
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
  if (edge) pad(x, padded, height, width, inputs, edge);
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

PUBLIC void add(const float *x, const float *y, float *out, int count) {
  for (int i = 0; i < count; i++) out[i] = x[i] + y[i];
}

PUBLIC void rectify(const float *x, float *out, int count) {
  for (int i = 0; i < count; i++) out[i] = x[i] > 0 ? x[i] : 0;
}

// Add to the features of each point one number for each channel.
PUBLIC void shift(const float *restrict x, const float *restrict y, float *restrict out, int points, int channels) {
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
