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
      const [shape, compute] = make(this, inputs, attributes, names);
      const out = this.tensor(shape, op === "Shape" || inputs.every(({ fixed }) => fixed));
      if (out.fixed) compute(out);
      else this.program.push(() => compute(out));
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
  tensor(shape, fixed = false) {
    return { shape, at: this.kernels.take(sizeOf(shape)), fixed };
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
    const made = this.tensor(layer ? layer.shape : [numbers.length], true);
    this.numbers(made).set(numbers);
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
 * The shape of an operation's output, and what computes it.
 * @typedef {(plan: Plan, inputs: Tensor[], attributes: Record<string, any>, names: string[]) => [number[], (out: Tensor) => void]} Make
 */

/**
 * @param {(x: number) => number} compute
 * @returns {Make}
 */
const each = (compute) => (plan, [x]) => [x.shape, (out) => plan.numbers(out).set(plan.numbers(x).map(compute))];

/**
 * One number for all, or one for each channel, or one for each number.
 * @param {(x: number, y: number) => number} compute
 * @returns {Make}
 */
const pairwise = (compute) => (plan, [x, y]) => [sizeOf(x.shape) >= sizeOf(y.shape) ? x.shape : y.shape, (out) => {
  const [a, b, target] = [x, y, out].map((one) => plan.numbers(one));
  for (let i = 0, j = 0, k = 0; i < target.length; i += 1, j += 1, k += 1) {
    if (j === a.length) j = 0;
    if (k === b.length) k = 0;
    target[i] = compute(a[j], b[k]);
  }
}];

/** @type {Make} */
function convolve(plan, [x, , bias], { kernel_shape: [side] = [1] }, [, weight, biasName]) {
  const { kernels, network } = plan;
  const [outputs, inputs] = /** @type {any} */ (network.layers.get(weight)).shape;
  const [height = 1, width = 1] = x.shape.slice(2);
  const shape = [1, outputs, ...x.shape.slice(2)];
  const begin = biasName ? bias.at : kernels.take(Math.ceil(outputs / TILE) * TILE);
  if (network.isFast(weight)) {
    const scratch = plan.scratch(height, width, inputs, outputs);
    return [shape, (out) => kernels.winograd(x.at, scratch, network.layOut(weight), begin, out.at, height, width, inputs, outputs)];
  }
  const padded = side > 1 ? kernels.take((height + side - 1) * (width + side - 1) * inputs) : 0;
  return [shape, (out) => kernels.convolve(x.at, padded, network.layOut(weight), begin, out.at, height, width, inputs, outputs, side)];
}

/**
 * @param {"mean" | "maximum"} name of the kernel
 * @returns {Make}
 */
const overBoard = (name) => (plan, [x]) => [[1, x.shape[1], 1, 1], (out) => {
  const [channels, points] = board(x.shape);
  plan.kernels[name](x.at, out.at, points, channels);
}];

/**
 * @param {Tensor} x
 * @param {number[]} lengths 0 for the length as it is, -1 for what is left
 */
function reshaped(x, lengths) {
  const shape = lengths.map((length, i) => (length === 0 ? x.shape[i] : length));
  return shape.map((length) => (length === -1 ? sizeOf(x.shape) / Math.abs(sizeOf(shape)) : length));
}

/**
 * @param {(plan: Plan, inputs: Tensor[]) => number[]} shapeOf
 * @returns {Make}
 */
const reshape = (shapeOf) => (plan, inputs) => [shapeOf(plan, inputs), (out) => plan.write(out, plan.read(inputs[0]))];

const sum = pairwise((a, b) => a + b);

/** @type {Record<string, Make>} */
const OPERATIONS = {
  Conv: convolve,
  Gemm: convolve,
  Add: (plan, [x, y], ...rest) => {
    const size = sizeOf(y.shape);
    const isLike = String(x.shape) === String(y.shape) || (size === y.shape[1] && size === x.shape[1]);
    return isLike ? [x.shape, (out) => plan.kernels.add(x.at, y.at, out.at, sizeOf(x.shape) / size, size)] : sum(plan, [x, y], ...rest);
  },
  Sub: pairwise((a, b) => a - b),
  Mul: pairwise((a, b) => a * b),
  Div: pairwise((a, b) => a / b),
  Relu: (plan, [x]) => [x.shape, (out) => plan.kernels.rectify(x.at, out.at, sizeOf(x.shape))],
  Elu: (plan, inputs, { alpha = 1 }, names) => each((x) => (x > 0 ? x : alpha * Math.expm1(x)))(plan, inputs, {}, names),
  Tanh: each(Math.tanh),
  Sigmoid: each((x) => 1 / (1 + Math.exp(-x))),
  ReduceMean: overBoard("mean"),
  ReduceMax: overBoard("maximum"),
  Concat: (plan, parts) => [[1, parts.reduce((count, { shape }) => count + shape[1], 0), ...parts[0].shape.slice(2)], (out) => {
    const [channels, points] = board(out.shape);
    const target = plan.numbers(out);
    let first = 0;
    for (const part of parts) {
      const [source, own] = [plan.numbers(part), part.shape[1]];
      for (let p = 0; p < points; p += 1) target.set(source.subarray(p * own, (p + 1) * own), p * channels + first);
      first += own;
    }
  }],
  Flatten: reshape((_, [x]) => [1, sizeOf(x.shape)]),
  Reshape: reshape((plan, [x, lengths]) => reshaped(x, [...plan.numbers(lengths)])),
  Slice: (plan, [x, begin, end, , step]) => {
    const [from, to, by] = [begin, end, step].map((bound) => plan.numbers(bound)[0]);
    const own = Math.ceil((to - from) / by);
    return [[1, own, ...x.shape.slice(2)], (out) => {
      const [source, target] = [plan.numbers(x), plan.numbers(out)];
      for (let i = 0; i < target.length; i += 1) target[i] = source[Math.floor(i / own) * x.shape[1] + from + (i % own) * by];
    }];
  },
  Shape: (plan, [x], { start, end }) => [[end - start], (out) => plan.numbers(out).set(x.shape.slice(start, end))],
  Cast: each((x) => x),
};
