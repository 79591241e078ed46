// The arithmetic of a network: WebAssembly with SIMD where the browser has it, else plain JavaScript.
//
// Features of a position are [point, channel]. A convolution's kernel is [outputs / 16][row, column, inputs][16], its
// bias [outputs / 16][16], filled with zeros; a dense layer is a convolution of side 1 on a board of one point.

export const TILE = 16;
const PAGE = 65536; // bytes of a page of WebAssembly's memory

/**
 * Places are bytes from the beginning of the memory.
 * @typedef {object} Kernels
 * @property {string} name
 * @property {() => Float32Array} numbers the memory; a new array once `take` was called
 * @property {(count: number) => number} take returns the place of new numbers, all 0
 * @property {(x: number, padded: number, weights: number, bias: number, out: number, height: number, width: number,
 *   inputs: number, outputs: number, side: number) => void} convolve with an odd `side`; padded: scratch memory of zeros,
 *   [height + side - 1, width + side - 1, inputs], whose inner points are overwritten
 * @property {(x: number, scratch: number, weights: number, bias: number, out: number, height: number, width: number,
 *   inputs: number, outputs: number) => void} [winograd] convolve with a side of 3, fewer products and the kernels of
 *   `winogradKernel`, where `inputs` can be divided by 4 and `outputs` by 16; scratch: memory of zeros, see `scratchOf`
 * @property {(x: number, out: number, count: number) => void} rectify
 * @property {(x: number, y: number, out: number, points: number, channels: number) => void} add a number for each channel
 * @property {(x: number, out: number, points: number, channels: number) => void} mean over the points
 * @property {(x: number, out: number, points: number, channels: number) => void} maximum
 */

// The matrix G of kernels.c's `winograd`.
const G = [[1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1]];

/**
 * The 25 numbers by which `winograd` multiplies, for a kernel of side 3.
 * @param {number[]} kernel
 */
export function winogradKernel(kernel) {
  const rows = G.map(([a, b, c]) => [0, 1, 2].map((i) => a * kernel[i] + b * kernel[3 + i] + c * kernel[6 + i]));
  return rows.flatMap((row) => G.map(([a, b, c]) => a * row[0] + b * row[1] + c * row[2]));
}

/**
 * How many numbers the scratch memory of `winograd` has.
 * @param {number} height
 * @param {number} width
 * @param {number} inputs
 * @param {number} outputs
 */
export function scratchOf(height, width, inputs, outputs) {
  const [down, right] = [Math.ceil(height / 3), Math.ceil(width / 3)];
  return outputs + (3 * down + 2) * (3 * right + 2) * inputs + 25 * down * right * (inputs + outputs);
}

/**
 * @param {BufferSource | null} code of kernels.wasm; null for plain JavaScript
 * @returns {Promise<Kernels>}
 */
export async function loadKernels(code) {
  if (code && typeof WebAssembly === "object" && WebAssembly.validate(code)) {
    try {
      const { memory, __heap_base: base, ...functions } = /** @type {any} */ ((await WebAssembly.instantiate(code)).instance.exports);
      return { ...functions, name: "WebAssembly", ...places(memory, base.value) };
    } catch { /* a browser may forbid what it understands */ }
  }
  return plain();
}

/**
 * @param {{buffer: ArrayBuffer, grow: (pages: number) => void}} memory
 * @param {number} begin where numbers may be
 */
function places(memory, begin) {
  let end = Math.ceil(begin / 16) * 16;
  let numbers = new Float32Array(memory.buffer);
  const take = (/** @type {number} */ count) => {
    const at = end;
    end += Math.ceil(count / 4) * 16;
    if (end > memory.buffer.byteLength) {
      memory.grow(Math.ceil((end - memory.buffer.byteLength) / PAGE));
      numbers = new Float32Array(memory.buffer);
    }
    return at;
  };
  return { numbers: () => numbers, take };
}

/** The same in plain JavaScript. @returns {Kernels} */
function plain() {
  const memory = { buffer: new ArrayBuffer(PAGE), grow(/** @type {number} */ pages) {
    const before = new Uint8Array(this.buffer);
    this.buffer = new ArrayBuffer(2 * before.length + pages * PAGE);
    new Uint8Array(this.buffer).set(before);
  } };
  const { numbers, take } = places(memory, 0);
  /** @type {(out: number, count: number, compute: (all: Float32Array, i: number) => number) => void} */
  const fill = (out, count, compute) => {
    const all = numbers();
    for (let i = 0; i < count; i += 1) all[out / 4 + i] = compute(all, i);
  };
  /** @type {(join: (so: number, one: number) => number, end?: (all: number, points: number) => number) => Kernels["mean"]} */
  const overPoints = (join, end = (all) => all) => (x, out, points, channels) => fill(out, channels, (all, channel) => {
    let so = all[x / 4 + channel];
    for (let point = 1; point < points; point += 1) so = join(so, all[x / 4 + point * channels + channel]);
    return end(so, points);
  });
  return {
    name: "JavaScript",
    numbers,
    take,
    convolve: (x, padded, weights, bias, out, height, width, inputs, outputs, side) => fill(out, height * width * outputs, (all, at) => {
      const [o, point, edge] = [at % outputs, Math.floor(at / outputs), (side - 1) / 2];
      let weight = weights / 4 + (o - (o % TILE)) * side * side * inputs + (o % TILE);
      let sum = all[bias / 4 + o];
      for (let tap = 0; tap < side * side; tap += 1) {
        const row = Math.floor(point / width) + Math.floor(tap / side) - edge;
        const column = (point % width) + (tap % side) - edge;
        const inside = row >= 0 && row < height && column >= 0 && column < width;
        const begin = x / 4 + (row * width + column) * inputs;
        for (let i = 0; i < inputs; i += 1, weight += TILE) if (inside) sum += all[begin + i] * all[weight];
      }
      return sum;
    }),
    rectify: (x, out, count) => fill(out, count, (all, i) => Math.max(all[x / 4 + i], 0)),
    add: (x, y, out, points, channels) => fill(out, points * channels, (all, i) => all[x / 4 + i] + all[y / 4 + (i % channels)]),
    mean: overPoints((so, one) => so + one, (sum, points) => sum / points),
    maximum: overPoints(Math.max),
  };
}
