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
 * @property {(x: number, y: number, out: number, count: number) => void} add
 * @property {(x: number, out: number, count: number) => void} rectify
 * @property {(x: number, y: number, out: number, points: number, channels: number) => void} shift by a number for each
 *   channel
 * @property {(x: number, out: number, points: number, channels: number) => void} mean over the points
 * @property {(x: number, out: number, points: number, channels: number) => void} maximum
 */

// The matrix G of kernels.c's `winograd`.
const G = [[1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3], [0, 0, 1]];

/**
 * The 25 numbers by which `winograd` multiplies, for a kernel of side 3.
 * @param {Float32Array} kernel
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
      const { instance } = await WebAssembly.instantiate(code);
      return compiled(/** @type {any} */ (instance.exports));
    } catch { /* a browser may forbid what it understands */ }
  }
  return plain();
}

/**
 * @param {any} exports
 * @returns {Kernels}
 */
function compiled({ memory, __heap_base: base, ...functions }) {
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
  return { ...functions, name: "WebAssembly", numbers: () => numbers, take };
}

/** @returns {Kernels} */
function plain() {
  let numbers = new Float32Array(PAGE);
  let end = 0;
  /** @type {Kernels} */
  const kernels = {
    name: "JavaScript",
    numbers: () => numbers,
    take(count) {
      const at = end;
      end += count;
      if (end > numbers.length) {
        const before = numbers;
        numbers = new Float32Array(2 * end);
        numbers.set(before);
      }
      return 4 * at;
    },
    convolve(x, padded, weights, bias, out, height, width, inputs, outputs, side) {
      convolution(numbers, [x / 4, padded / 4, weights / 4, bias / 4, out / 4], [height, width, inputs, outputs, side]);
    },
    add(x, y, out, count) {
      for (let i = 0; i < count; i += 1) numbers[out / 4 + i] = numbers[x / 4 + i] + numbers[y / 4 + i];
    },
    rectify(x, out, count) {
      for (let i = 0; i < count; i += 1) numbers[out / 4 + i] = Math.max(numbers[x / 4 + i], 0);
    },
    shift(x, y, out, points, channels) {
      for (let i = 0; i < points * channels; i += 1) numbers[out / 4 + i] = numbers[x / 4 + i] + numbers[y / 4 + (i % channels)];
    },
    mean(x, out, points, channels) {
      reduce(numbers, x / 4, out / 4, points, channels, (sum, value) => sum + value);
      for (let c = 0; c < channels; c += 1) numbers[out / 4 + c] /= points;
    },
    maximum: (x, out, points, channels) => reduce(numbers, x / 4, out / 4, points, channels, Math.max),
  };
  return kernels;
}

/**
 * @param {Float32Array} numbers
 * @param {number} x
 * @param {number} out
 * @param {number} points
 * @param {number} channels
 * @param {(so: number, value: number) => number} join
 */
function reduce(numbers, x, out, points, channels, join) {
  numbers.copyWithin(out, x, x + channels);
  for (let i = channels; i < points * channels; i += 1) {
    const c = out + (i % channels);
    numbers[c] = join(numbers[c], numbers[x + i]);
  }
}

/**
 * The twin of `convolve` in kernels.c.
 * @param {Float32Array} numbers
 * @param {number[]} places
 * @param {number[]} sizes
 */
function convolution(numbers, [x, padded, weights, bias, out], [height, width, inputs, outputs, side]) {
  const edge = (side - 1) / 2;
  const stride = (width + 2 * edge) * inputs;
  const line = width * inputs;
  for (let row = 0; edge && row < height; row += 1) {
    numbers.copyWithin(padded + (row + edge) * stride + edge * inputs, x + row * line, x + (row + 1) * line);
  }
  const source = edge ? padded : x;
  const sums = new Float32Array(TILE);
  for (let first = 0; first < outputs; first += TILE) {
    const kernel = weights + first * side * side * inputs;
    for (let point = 0; point < height * width; point += 1) {
      const corner = source + Math.floor(point / width) * stride + (point % width) * inputs;
      sums.set(numbers.subarray(bias + first, bias + first + TILE));
      let at = kernel;
      for (let row = 0; row < side; row += 1) {
        for (let i = 0; i < side * inputs; i += 1, at += TILE) {
          const value = numbers[corner + row * stride + i];
          if (value) for (let o = 0; o < TILE; o += 1) sums[o] += value * numbers[at + o];
        }
      }
      numbers.set(sums.subarray(0, Math.min(TILE, outputs - first)), out + point * outputs + first);
    }
  }
}
