// The arithmetic of a network, which kernels.c computes in WebAssembly with SIMD.

export const TILE = 16;
const PAGE = 65536; // bytes of a page of WebAssembly's memory

/**
 * Compute each number of `out` from one of x and one of y. axes: int32 [count, 4], outermost first, of each axis its length
 * and the steps of x, y and out, in numbers.
 * @typedef {(axes: number, count: number, x: number, y: number, out: number) => void} Elementwise
 */

/**
 * Places are bytes from the beginning of the memory.
 * @typedef {object} Kernels
 * @property {() => Float32Array} numbers the memory; a new array once `take` was called
 * @property {(count: number) => number} take returns the place of new numbers, all 0
 * @property {Record<string, Elementwise>} elementwise Copy, Max and operations of ONNX, by name
 * @property {(x: number, weights: number, out: number, matrices: number, rows: number, inputs: number, outputs: number) =>
 *   void} product for each matrix x [rows, inputs] its product with weights, which lie as [outputs / 16, inputs, 16];
 *   `outputs` can be divided by 16
 * @property {(x: number, scratch: number, weights: number, out: number, height: number, width: number, inputs: number,
 *   outputs: number) => void} winograd a convolution of side 3, where `inputs` can be divided by 4 and `outputs` by 16.
 *   x: [height, width, inputs], with an edge of 1 and as large that squares of side 3 fill what is inside; scratch: [25,
 *   squares, inputs + outputs]; weights: 25 matrices for `product`
 */

// The matrix G of kernels.c's `winograd`, and what makes its 25 numbers from the 9 of a kernel: [9, 25].
const G = [[1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1]];
export const WINOGRAD = [0, 1, 2].flatMap((row) => [0, 1, 2].flatMap((column) => G.flatMap((a) => G.map((b) => a[row] * b[column]))));

/**
 * @param {BufferSource} code of kernels.wasm
 * @returns {Promise<Kernels>}
 */
export async function loadKernels(code) {
  const { memory, __heap_base: base, product, winograd, ...elementwise } = /** @type {any} */ (
    (await WebAssembly.instantiate(code)).instance.exports);
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
  return { product, winograd, elementwise, numbers: () => numbers, take };
}
