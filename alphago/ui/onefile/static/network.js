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
 * @property {number} at where its numbers begin in the memory, in bytes
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
    /** @type {Map<string, Tensor>} its layers and constants */
    this.fixed = new Map();
    for (const { name, shape, offset } of manifest.layers) {
      const numbers = weights.subarray(offset, offset + sizeOf(shape));
      this.keep(name, shape, /\.(weight|bias)$/.test(name) ? laidOut(shape, numbers) : numbers);
    }
    for (const [name, value] of Object.entries(manifest.constants)) {
      const numbers = Float32Array.from([value].flat());
      this.keep(name, [numbers.length], numbers);
    }
    /** @type {Map<string, Plan>} by board */
    this.plans = new Map();
  }

  /**
   * Put the numbers of a layer or constant into the memory.
   * @param {string} name
   * @param {number[]} shape
   * @param {Float32Array} numbers
   */
  keep(name, shape, numbers) {
    const at = this.kernels.take(numbers.length);
    this.kernels.numbers().set(numbers, at / 4);
    this.fixed.set(name, { shape, at, fixed: true });
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
}

/** Whether a convolution with a kernel of this shape is computed by `winograd`, which is faster. @param {number[]} shape */
const isFast = ([outputs, inputs, side]) => side === 3 && inputs % 4 === 0 && outputs % TILE === 0;

/**
 * A kernel or a bias in the order in which `winograd` or `convolve` reads it.
 * @param {number[]} shape
 * @param {Float32Array} numbers
 */
function laidOut(shape, numbers) {
  const [outputs, inputs = 1, side = 1] = shape;
  const fast = isFast(shape);
  const taps = fast ? 25 : side * side;
  const laid = new Float32Array(Math.ceil(outputs / TILE) * TILE * inputs * taps);
  for (let o = 0; o < outputs; o += 1) {
    for (let i = 0; i < inputs; i += 1) {
      const begin = side * side * (o * inputs + i);
      const kernel = [...numbers.subarray(begin, begin + side * side)];
      const [first, step] = fast ? [(o - (o % TILE)) * inputs, inputs * outputs] : [(o - (o % TILE)) * inputs * taps, inputs * TILE];
      (fast ? winogradKernel(kernel) : kernel).forEach((number, tap) => { laid[first + (o % TILE) + i * TILE + tap * step] = number; });
    }
  }
  return laid;
}

// A network on one board: the operations to run for each position. Those that give the same numbers for all positions are run once, here.
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
    this.tensors = new Map(network.fixed);
    /** @type {Map<string, number>} */
    this.scratches = new Map();
    this.planes = this.tensor(shape);
    this.tensors.set("planes", this.planes);
    for (const [op, names, output, attributes] of network.manifest.steps) {
      const make = OPERATIONS[op];
      if (!make) throw new Error(`this file cannot compute the network's operation ${op}`);
      const inputs = names.map((name) => /** @type {Tensor} */ (this.tensors.get(name)));
      const [shape, compute] = make(this, inputs, attributes);
      const out = this.tensor(shape, op === "Shape" || inputs.every(({ fixed }) => fixed));
      if (out.fixed) compute(out);
      else this.program.push(() => compute(out));
      this.tensors.set(output, out);
    }
  }

  /**
   * Where scratch memory begins; all layers with the same sizes share one.
   * @param {...number} sizes height, width, inputs, outputs, side
   */
  scratch(...sizes) {
    const at = this.scratches.get(String(sizes)) ?? this.kernels.take(scratchOf(sizes));
    this.scratches.set(String(sizes), at);
    return at;
  }

  /** Compute the network's outputs, by name. @param {Float32Array} planes */
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

  /** The numbers of a tensor in the memory, in the order of the memory. @param {Tensor} tensor */
  numbers({ at, shape }) {
    return this.kernels.numbers().subarray(at / 4, at / 4 + sizeOf(shape));
  }

  /**
   * The numbers of a tensor in the order of its shape.
   * @param {Tensor} tensor
   */
  read(tensor) {
    const [channels, points] = board(tensor.shape);
    return transposed(this.numbers(tensor), points, channels);
  }

  /**
   * Set the numbers of a tensor.
   * @param {Tensor} tensor
   * @param {Float32Array} numbers in the order of its shape
   */
  write(tensor, numbers) {
    const [channels, points] = board(tensor.shape);
    this.numbers(tensor).set(transposed(numbers, channels, points));
  }
}

/**
 * A matrix with its rows as columns.
 * @param {Float32Array} numbers [rows, columns]
 * @param {number} rows
 * @param {number} columns
 */
const transposed = (numbers, rows, columns) => numbers.map((_, i) => numbers[(i % rows) * columns + Math.floor(i / rows)]);

/**
 * The number of channels and of points.
 * @param {number[]} shape
 */
const board = (shape) => [shape[1] ?? 1, shape.length === 4 ? shape[2] * shape[3] : 1];

/**
 * The shape of an operation's output, and what computes it.
 * @typedef {(plan: Plan, inputs: Tensor[], attributes: Record<string, any>) => [number[], (out: Tensor) => void]} Make
 */

/**
 * An operation on each number alone.
 * @param {(x: number) => number} compute
 * @returns {Make}
 */
const each = (compute) => (plan, [x]) => [x.shape, (out) => plan.numbers(out).set(plan.numbers(x).map(compute))];

/**
 * An operation on two tensors of numbers; the smaller one has one number for all, or one for each channel, or one for each number.
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

/** A convolution, or a dense layer, which is one on a board of one point. @type {Make} */
function convolve(plan, [x, kernel, bias]) {
  const { kernels } = plan;
  const [outputs, inputs, side = 1] = kernel.shape;
  const [height = 1, width = 1] = x.shape.slice(2);
  const begin = bias ? bias.at : kernels.take(Math.ceil(outputs / TILE) * TILE);
  const scratch = plan.scratch(height, width, inputs, outputs, side);
  const compute = isFast(kernel.shape) ? kernels.winograd : kernels.convolve;
  return [[1, outputs, ...x.shape.slice(2)], (out) => compute(x.at, scratch, kernel.at, begin, out.at, height, width, inputs, outputs, side)];
}

/**
 * An operation that joins the points of a channel into one number.
 * @param {"mean" | "maximum"} name of the kernel
 * @returns {Make}
 */
const overBoard = (name) => (plan, [x]) => [[1, x.shape[1], 1, 1], (out) => {
  const [channels, points] = board(x.shape);
  plan.kernels[name](x.at, out.at, points, channels);
}];

/**
 * The shape of a tensor with new lengths.
 * @param {Tensor} x
 * @param {number[]} lengths 0 for the length as it is, -1 for what is left
 */
function reshaped(x, lengths) {
  const shape = lengths.map((length, i) => (length === 0 ? x.shape[i] : length));
  return shape.map((length) => (length === -1 ? sizeOf(x.shape) / Math.abs(sizeOf(shape)) : length));
}

/**
 * An operation that gives the numbers of its input another shape.
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
  Elu: (plan, inputs, { alpha = 1 }) => each((x) => (x > 0 ? x : alpha * Math.expm1(x)))(plan, inputs, {}),
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
