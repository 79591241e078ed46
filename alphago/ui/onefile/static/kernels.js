// The arithmetic of a network, which kernels.c computes in WebAssembly with SIMD.
//
// Features of a position are [point, channel]. A convolution's kernel is [outputs / 16][row, column, inputs][16], its
// bias [outputs / 16][16], filled with zeros; a dense layer is a convolution of side 1 on a board of one point.

export const TILE = 16;
const PAGE = 65536; // bytes of a page of WebAssembly's memory

/**
 * Compute a layer; scratch: memory of zeros, see `scratchOf`.
 * @typedef {(x: number, scratch: number, weights: number, bias: number, out: number, height: number, width: number,
 *   inputs: number, outputs: number, side: number) => void} Convolve
 */

/**
 * Places are bytes from the beginning of the memory.
 * @typedef {object} Kernels
 * @property {() => Float32Array} numbers the memory; a new array once `take` was called
 * @property {(count: number) => number} take returns the place of new numbers, all 0
 * @property {Convolve} convolve with an odd `side`
 * @property {Convolve} winograd convolve with a side of 3, fewer products and the kernels of `winogradKernel`, where `inputs`
 *   can be divided by 4 and `outputs` by 16
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
 * How many numbers the scratch memory has: with a side of 3 enough for `winograd` too.
 * @param {number[]} sizes
 */
export function scratchOf([height, width, inputs, outputs, side]) {
  const [down, right] = [Math.ceil(height / 3), Math.ceil(width / 3)];
  return side === 3 ? outputs + (3 * down + 2) * (3 * right + 2) * inputs + 25 * down * right * (inputs + outputs)
    : (height + side - 1) * (width + side - 1) * inputs;
}

/**
 * @param {BufferSource} code of kernels.wasm
 * @returns {Promise<Kernels>}
 */
export async function loadKernels(code) {
  const { memory, __heap_base: base, ...functions } = /** @type {any} */ ((await WebAssembly.instantiate(code)).instance.exports);
  let end = Math.ceil(base.value / 16) * 16;
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
  return { ...functions, numbers: () => numbers, take };
}
