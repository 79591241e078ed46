// A network, computed from the list of its operations as `alphago.nn.export` writes it, with ONNX's names.
//
// Shapes are ONNX's, but numbers of a board [1, C, H, W] lie as [H, W, C], see kernels.js.

import { scratchOf, TILE, winogradKernel } from "./kernels.js";

/** @typedef {import("./kernels.js").Kernels} Kernels */

/**
 * What is exported of a network, see docs/export.md.
 * @typedef {object} Manifest
 * @property {{name: string, shape: number[], offset: number}[]} layers
 * @property {Record<string, any>} constants
 * @property {[string, string[], string, Record<string, any>][]} steps operation, inputs, output, attributes
 * @property {Record<string, {step: string}>} outputs
 */

/**
 * @typedef {object} Tensor
 * @property {number[]} shape
 * @property {number} at its place in the memory
 * @property {boolean} fixed whether its numbers are the same for all positions
 */

/** @param {number[]} shape */
const sizeOf = (shape) => shape.reduce((product, side) => product * side, 1);

export class Network {
  /**
   * @param {Manifest} manifest
   * @param {Float32Array} weights
   * @param {Kernels} kernels
   */
  constructor(manifest, weights, kernels) {
    this.manifest = manifest;
    this.kernels = kernels;
    /** @type {Map<string, {shape: number[], numbers: Float32Array}>} */
    this.layers = new Map(manifest.layers.map(({ name, shape, offset }) => [name,
      { shape, numbers: weights.subarray(offset, offset + sizeOf(shape)) }]));
    /** @type {Map<string, number>} the places of layers that are laid out for `convolve` */
    this.laid = new Map();
    /** @type {Map<string, Plan>} by board */
    this.plans = new Map();
  }

  /**
   * The outputs for one position, by name, for the player to move.
   * @param {Float32Array} planes [planes, height, width]
   * @param {number} height
   * @param {number} width
   * @returns {Record<string, Float32Array>}
   */
  run(planes, height, width) {
    const key = `${height}x${width}`;
    let plan = this.plans.get(key);
    if (!plan) this.plans.set(key, plan = new Plan(this, [1, planes.length / (height * width), height, width]));
    return plan.run(planes);
  }

  /**
   * Whether a layer is computed by `winograd`.
   * @param {string} name
   */
  isFast(name) {
    const { shape: [outputs, inputs, side] } = /** @type {any} */ (this.layers.get(name));
    return side === 3 && inputs % 4 === 0 && outputs % TILE === 0;
  }

  /**
   * The place of a kernel or a bias as `convolve` or `winograd` reads it.
   * @param {string} name
   */
  layOut(name) {
    let at = this.laid.get(name);
    if (at !== undefined) return at;
    const { shape: [outputs, inputs = 1, side = 1], numbers } = /** @type {any} */ (this.layers.get(name));
    const fast = this.isFast(name);
    const taps = fast ? 25 : side * side;
    at = this.kernels.take(Math.ceil(outputs / TILE) * TILE * inputs * taps);
    const memory = this.kernels.numbers().subarray(at / 4);
    for (let o = 0; o < outputs; o += 1) {
      for (let i = 0; i < inputs; i += 1) {
        const begin = side * side * (o * inputs + i);
        const kernel = [...numbers.subarray(begin, begin + side * side)];
        const [first, step] = fast ? [(o - (o % TILE)) * inputs, inputs * outputs] : [(o - (o % TILE)) * inputs * taps, inputs * TILE];
        (fast ? winogradKernel(kernel) : kernel).forEach((/** @type {number} */ number, /** @type {number} */ tap) => { memory[first + (o % TILE) + i * TILE + tap * step] = number; });
      }
    }
    this.laid.set(name, at);
    return at;
  }
}

// A network on one board: the operations that are left for each position, with the places of what they read and write.
class Plan {
  /**
   * @param {Network} network
   * @param {number[]} shape of the planes
   */
  constructor(network, shape) {
    this.network = network;
    this.kernels = network.kernels;
    /** @type {(() => void)[]} */
    this.program = [];
    /** @type {Map<string, Tensor>} */
    this.tensors = new Map();
    /** @type {Map<string, number>} */
    this.scratches = new Map();
    this.planes = this.tensor(shape);
    this.tensors.set("planes", this.planes);
    for (const [op, names, output, attributes] of network.manifest.steps) {
      const make = OPERATIONS[op];
      if (!make) throw new Error(`this file cannot compute the network's operation ${op}`);
      const inputs = names.map((name) => this.find(name));
      const [out, compute] = make(this, inputs, attributes, names);
      out.fixed = op === "Shape" || (inputs.length > 0 && inputs.every(({ fixed }) => fixed));
      if (out.fixed) compute();
      else this.program.push(compute);
      this.tensors.set(output, out);
    }
  }

  /**
   * Memory for `winograd`, one for all layers of a size.
   * @param {number[]} sizes height, width, inputs, outputs
   */
  scratch(...sizes) {
    const [height, width, inputs, outputs] = sizes;
    const known = this.scratches.get(String(sizes)) ?? this.kernels.take(scratchOf(height, width, inputs, outputs));
    this.scratches.set(String(sizes), known);
    return known;
  }

  /** @param {Float32Array} planes */
  run(planes) {
    this.write(this.planes, planes);
    for (const compute of this.program) compute();
    return Object.fromEntries(Object.entries(this.network.manifest.outputs).map(([name, { step }]) => [name,
      this.read(/** @type {Tensor} */ (this.tensors.get(step)))]));
  }

  /**
   * @param {number[]} shape
   * @returns {Tensor}
   */
  tensor(shape) {
    return { shape, at: this.kernels.take(sizeOf(shape)), fixed: false };
  }

  /**
   * The tensor of a name: an earlier output, a constant, or a layer; kernels are laid out elsewhere.
   * @param {string} name
   * @returns {Tensor}
   */
  find(name) {
    const known = this.tensors.get(name);
    if (known) return known;
    const layer = this.network.layers.get(name);
    if (layer && /\.(weight|bias)$/.test(name)) return { shape: layer.shape, at: this.network.layOut(name), fixed: true };
    const numbers = layer ? layer.numbers : Float32Array.from([this.network.manifest.constants[name]].flat());
    const made = this.tensor(layer ? layer.shape : [numbers.length]);
    this.numbers(made).set(numbers);
    made.fixed = true;
    this.tensors.set(name, made);
    return made;
  }

  /** @param {Tensor} tensor */
  numbers({ at, shape }) {
    return this.kernels.numbers().subarray(at / 4, at / 4 + sizeOf(shape));
  }

  /**
   * The numbers of a tensor in the order of its shape.
   * @param {Tensor} tensor
   */
  read(tensor) {
    const source = this.numbers(tensor);
    const [channels, points] = board(tensor.shape);
    if (points === 1 || channels === 1) return source.slice();
    const numbers = new Float32Array(source.length);
    for (let c = 0, i = 0; c < channels; c += 1) for (let p = 0; p < points; p += 1, i += 1) numbers[i] = source[p * channels + c];
    return numbers;
  }

  /**
   * @param {Tensor} tensor
   * @param {Float32Array} numbers in the order of its shape
   */
  write(tensor, numbers) {
    const [channels, points] = board(tensor.shape);
    const target = this.numbers(tensor);
    for (let c = 0, i = 0; c < channels; c += 1) for (let p = 0; p < points; p += 1, i += 1) target[p * channels + c] = numbers[i];
  }
}

/**
 * The number of channels and of points.
 * @param {number[]} shape
 */
const board = (shape) => [shape[1] ?? 1, shape.length === 4 ? shape[2] * shape[3] : 1];

/**
 * @typedef {(plan: Plan, inputs: Tensor[], attributes: Record<string, any>, names: string[]) => [Tensor, () => void]} Make
 */

/**
 * @param {(x: number) => number} compute
 * @returns {Make}
 */
const each = (compute) => (plan, [x]) => {
  const out = plan.tensor(x.shape);
  return [out, () => {
    const [source, target] = [plan.numbers(x), plan.numbers(out)];
    for (let i = 0; i < target.length; i += 1) target[i] = compute(source[i]);
  }];
};

/**
 * One number for all, or one for each channel, or one for each number.
 * @param {(x: number, y: number) => number} compute
 * @returns {Make}
 */
const pairwise = (compute) => (plan, [x, y]) => {
  const out = plan.tensor(sizeOf(x.shape) >= sizeOf(y.shape) ? x.shape : y.shape);
  return [out, () => {
    const [a, b, target] = [plan.numbers(x), plan.numbers(y), plan.numbers(out)];
    for (let i = 0, j = 0, k = 0; i < target.length; i += 1, j += 1, k += 1) {
      if (j === a.length) j = 0;
      if (k === b.length) k = 0;
      target[i] = compute(a[j], b[k]);
    }
  }];
};

/** @type {Make} */
function convolve(plan, [x, , bias], { kernel_shape: kernel = [1] }, [, weight, biasName]) {
  const { kernels, network } = plan;
  const [outputs, inputs] = /** @type {any} */ (network.layers.get(weight)).shape;
  const [height, width] = x.shape.length === 4 ? x.shape.slice(2) : [1, 1];
  const side = kernel[0];
  const out = plan.tensor(x.shape.length === 4 ? [1, outputs, height, width] : [1, outputs]);
  const begin = biasName ? bias.at : kernels.take(Math.ceil(outputs / TILE) * TILE);
  if (network.isFast(weight)) {
    const scratch = plan.scratch(height, width, inputs, outputs);
    return [out, () => kernels.winograd(x.at, scratch, network.layOut(weight), begin, out.at, height, width, inputs, outputs)];
  }
  const padded = side > 1 ? kernels.take((height + side - 1) * (width + side - 1) * inputs) : 0;
  return [out, () => kernels.convolve(x.at, padded, network.layOut(weight), begin, out.at, height, width, inputs, outputs, side)];
}

/**
 * @param {"mean" | "maximum"} name of the kernel
 * @returns {Make}
 */
const overBoard = (name) => (plan, [x]) => {
  const [channels, points] = board(x.shape);
  const out = plan.tensor([1, channels, 1, 1]);
  return [out, () => plan.kernels[name](x.at, out.at, points, channels)];
};

/**
 * @param {Tensor} x
 * @param {number[]} lengths 0 for the length as it is, -1 for what is left
 */
function reshaped(x, lengths) {
  const shape = [...lengths].map((length, i) => (length === 0 ? x.shape[i] : length));
  return shape.map((length) => (length === -1 ? sizeOf(x.shape) / Math.abs(sizeOf(shape)) : length));
}

/**
 * @param {Plan} plan
 * @param {Tensor} x
 * @param {number[]} shape
 * @returns {[Tensor, () => void]}
 */
function reshape(plan, x, shape) {
  const out = plan.tensor(shape);
  return [out, () => plan.write(out, plan.read(x))];
}

/** @type {Record<string, Make>} */
const OPERATIONS = {
  Conv: convolve,
  Gemm: convolve,
  Add: (plan, [x, y], ...rest) => {
    const [out, size] = [plan.tensor(x.shape), sizeOf(y.shape)];
    const isLike = String(x.shape) === String(y.shape) || (size === y.shape[1] && size === x.shape[1]);
    if (isLike) return [out, () => plan.kernels.add(x.at, y.at, out.at, sizeOf(x.shape) / size, size)];
    return pairwise((a, b) => a + b)(plan, [x, y], ...rest);
  },
  Sub: pairwise((a, b) => a - b),
  Mul: pairwise((a, b) => a * b),
  Div: pairwise((a, b) => a / b),
  Relu: (plan, [x]) => {
    const out = plan.tensor(x.shape);
    return [out, () => plan.kernels.rectify(x.at, out.at, sizeOf(x.shape))];
  },
  Elu: (...given) => each((x) => (x > 0 ? x : (given[2].alpha ?? 1) * Math.expm1(x)))(...given),
  Tanh: each(Math.tanh),
  Sigmoid: each((x) => 1 / (1 + Math.exp(-x))),
  ReduceMean: overBoard("mean"),
  ReduceMax: overBoard("maximum"),
  Concat: (plan, parts) => {
    const channels = parts.reduce((sum, { shape }) => sum + shape[1], 0);
    const out = plan.tensor([1, channels, ...parts[0].shape.slice(2)]);
    const points = sizeOf(out.shape) / channels;
    return [out, () => {
      const target = plan.numbers(out);
      let first = 0;
      for (const part of parts) {
        const [source, own] = [plan.numbers(part), part.shape[1]];
        for (let p = 0; p < points; p += 1) for (let c = 0; c < own; c += 1) target[p * channels + first + c] = source[p * own + c];
        first += own;
      }
    }];
  },
  Flatten: (plan, [x]) => reshape(plan, x, [1, sizeOf(x.shape)]),
  Reshape: (plan, [x, lengths]) => reshape(plan, x, reshaped(x, [...plan.numbers(lengths)])),
  Slice: (plan, [x, begin, end, , step]) => {
    const [from, to, by] = [begin, end, step].map((each) => plan.numbers(each)[0]);
    const channels = x.shape[1];
    const out = plan.tensor([1, Math.ceil((to - from) / by), ...x.shape.slice(2)]);
    return [out, () => {
      const [source, target, own] = [plan.numbers(x), plan.numbers(out), out.shape[1]];
      for (let i = 0; i < target.length; i += 1) target[i] = source[Math.floor(i / own) * channels + from + (i % own) * by];
    }];
  },
  Shape: (plan, [x], { start, end }) => {
    const out = plan.tensor([end - start]);
    return [out, () => plan.numbers(out).set(x.shape.slice(start, end))];
  },
  Cast: each((x) => x),
};
