// A network, computed from the list of its operations as `alphago.nn.export` writes it, with ONNX's names.
//
// Tensors are views of the memory, as NumPy's arrays are: a slice, a transposed tensor and mostly a reshaped one have other
// strides over the same numbers, and cost nothing. Numbers of a board [1, C, H, W] lie as [H, W, C], see kernels.js.

import { TILE, WINOGRAD } from "./kernels.js";

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
 * @property {number[]} strides from one number to the next along each axis, in numbers
 * @property {number} at where its first number is in the memory, in bytes
 * @property {boolean} fixed whether its numbers are the same for all positions
 */

/**
 * The output of an operation, for which the plan computes numbers.
 * @typedef {(plan: Plan, inputs: Tensor[], attributes: Record<string, any>) => Tensor} Make
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
      this.fixed.set(name, this.constant(shape, weights.subarray(offset, offset + sizeOf(shape))));
    }
    for (const [name, value] of Object.entries(manifest.constants)) this.fixed.set(name, this.constant(shapeOf(value), [value].flat(Infinity)));
    /** @type {Map<number, Tensor>} weights as kernels read them, by their places */
    this.packed = new Map();
    /** @type {Map<string, Plan>} by board */
    this.plans = new Map();
  }

  /**
   * Put numbers into the memory.
   * @param {number[]} shape
   * @param {ArrayLike<number>} numbers
   * @returns {Tensor}
   */
  constant(shape, numbers) {
    const at = this.kernels.take(numbers.length);
    this.kernels.numbers().set(numbers, at / 4);
    return { shape, strides: stridesOf(shape), at, fixed: true };
  }

  /**
   * The outputs for one position, by name, for the player to move.
   * @param {Float32Array} planes [planes, height, width]
   * @param {number} height
   * @param {number} width
   * @returns {Record<string, Float32Array>}
   */
  run(planes, height, width) {
    const shape = [1, planes.length / (height * width), height, width];
    return entry(this.plans, String(shape), () => new Plan(this, shape)).run(planes);
  }
}

/**
 * What a map has for a key, made if it is missing.
 * @template Key, Value
 * @param {Map<Key, Value>} map
 * @param {Key} key
 * @param {() => Value} make
 */
function entry(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return /** @type {Value} */ (map.get(key));
}

/** @type {(value: any) => number[]} the shape of nested lists */
const shapeOf = (value) => (Array.isArray(value) ? [value.length, ...shapeOf(value[0])] : []);

/** The strides of numbers without gaps. @param {number[]} shape */
const stridesOf = (shape) => shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));

/**
 * The strides of a tensor whose axes of length 1 are repeated until it has this shape.
 * @param {Tensor} x
 * @param {number[]} shape
 */
const spread = (x, shape) => shape.map((_, i) => ((x.shape.at(i - shape.length) ?? 1) === 1 ? 0 : x.strides.at(i - shape.length) ?? 0));

/** @type {(a: number[], b: number[]) => number[]} the shape to which tensors of two shapes are spread together */
const commonShape = (a, b) => (a.length < b.length ? commonShape(b, a) : a.map((side, i) => Math.max(side, b.at(i - a.length) ?? 1)));

/**
 * Axes as loops, as few as possible: an axis and the next one are one loop if there is no gap between them.
 * @param {number[][]} axes of each its length and the strides of some tensors, outermost first
 */
function loopsOf(axes) {
  const loops = /** @type {number[][]} */ ([]);
  for (const [length, ...strides] of axes.filter(([length]) => length !== 1)) {
    const [outer, ...steps] = loops.at(-1) ?? [];
    if (outer && steps.every((step, i) => step === length * strides[i])) loops.splice(-1, 1, [outer * length, ...strides]);
    else loops.push([length, ...strides]);
  }
  return loops;
}

/**
 * A tensor with its axes in another order.
 * @param {Tensor} x
 * @param {number[]} order
 * @returns {Tensor}
 */
const transposed = (x, order) => ({ ...x, shape: order.map((axis) => x.shape[axis]), strides: order.map((axis) => x.strides[axis]) });

/**
 * A list with another item at a place.
 * @param {number[]} list
 * @param {number} place
 * @param {number} item
 */
const changed = (list, place, item) => list.map((old, i) => (i === place ? item : old));

/**
 * A part of a tensor along an axis.
 * @param {Tensor} x
 * @param {number} axis
 * @param {number} begin
 * @param {number} end
 * @returns {Tensor}
 */
function slice({ shape, strides, at, fixed }, axis, begin, end, step = 1) {
  return { shape: changed(shape, axis, Math.ceil((end - begin) / step)), strides: changed(strides, axis, strides[axis] * step),
    at: at + 4 * begin * strides[axis], fixed };
}

// A network on one board: what to compute for each position.
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
    this.scratches = new Map();
    this.planes = this.tensor(shape);
    const tensors = new Map(network.fixed).set("planes", this.planes);
    for (const [op, names, output, attributes] of network.manifest.steps) {
      const inputs = names.map((name) => /** @type {Tensor} */ (tensors.get(name)));
      tensors.set(output, OPERATIONS[op](this, inputs, attributes));
    }
    this.outputs = Object.entries(network.manifest.outputs).map(([name, { step }]) => ({ name,
      tensor: this.ordered(/** @type {Tensor} */ (tensors.get(step))) }));
  }

  /** Compute the network's outputs, by name. @param {Float32Array} planes */
  run(planes) {
    this.numbers(this.planes).set(planes);
    for (const compute of this.program) compute();
    return Object.fromEntries(this.outputs.map(({ name, tensor }) => [name, this.numbers(tensor).slice()]));
  }

  /** The numbers of a tensor without gaps. @param {Tensor} tensor */
  numbers({ at, shape }) {
    return this.kernels.numbers().subarray(at / 4, at / 4 + sizeOf(shape));
  }

  /**
   * A tensor of zeros.
   * @param {number[]} shape
   * @returns {Tensor}
   */
  tensor(shape) {
    return { shape, strides: stridesOf(shape), at: this.kernels.take(sizeOf(shape)), fixed: false };
  }

  /**
   * A tensor of zeros whose axes lie in the memory as those of other tensors do.
   * @param {number[]} shape
   * @param {Tensor[]} others
   */
  tensorLike(shape, ...others) {
    const strides = spread(others.find((x) => sizeOf(x.shape) === sizeOf(shape)) ?? others[0], shape);
    const order = [...shape.keys()].sort((a, b) => strides[b] - strides[a]);
    return transposed(this.tensor(order.map((axis) => shape[axis])), shape.map((_, axis) => order.indexOf(axis)));
  }

  /**
   * A tensor for what a layer needs while it is computed, shared by all layers with the same shape and use.
   * @param {number[]} shape
   * @param {string | number} use by which places are written, so that the others stay zeros
   */
  scratch(shape, use = "") {
    return entry(this.scratches, `${shape} ${use}`, () => this.tensor(shape));
  }

  /**
   * Compute the numbers of `out` with an elementwise kernel; along axes of x and y that `out` has not, one after the other.
   * @param {string} name
   * @param {Tensor} out
   * @param {Tensor} x
   * @param {Tensor} y
   */
  compute(name, out, x, y = x) {
    const shape = commonShape(commonShape(x.shape, y.shape), out.shape);
    const strides = [x, y, out].map((tensor) => spread(tensor, shape));
    const axes = shape.map((length, axis) => [length, ...strides.map((each) => each[axis])]);
    // Neighbours in `out` are computed together; its sums grow in all places at once.
    const loops = loopsOf(axes.sort(([, , , a], [, , , b]) => (b || Infinity) - (a || Infinity)));
    if (!loops.length) loops.push([1, 0, 0, 0]);
    const at = this.kernels.take(4 * loops.length);
    new Int32Array(this.kernels.numbers().buffer, at).set(loops.flat());
    this.program.push(() => this.kernels.elementwise[name](at, loops.length, x.at, y.at, out.at));
    return out;
  }

  /**
   * A new tensor that an elementwise kernel computes.
   * @param {string} name
   * @param {Tensor} x
   * @param {Tensor} y
   */
  each(name, x, y = x) {
    return this.compute(name, this.tensorLike(commonShape(x.shape, y.shape), x, y), x, y);
  }

  /**
   * The numbers along some axes as one, which an elementwise kernel computes.
   * @param {string} name
   * @param {number} start
   * @param {Tensor} x
   * @param {number[]} axes
   */
  reduce(name, start, x, axes) {
    const out = this.tensor(x.shape.map((length, axis) => (axes.includes(axis) ? 1 : length)));
    this.compute("Copy", out, this.network.constant([], [start]));
    return this.compute(name, out, out, x);
  }

  /** The tensor, or a copy, without gaps. @param {Tensor} x */
  ordered(x) {
    const strides = stridesOf(x.shape);
    const isOrdered = x.shape.every((length, axis) => length === 1 || x.strides[axis] === strides[axis]);
    return isOrdered ? x : this.compute("Copy", this.tensor(x.shape), x);
  }

  /**
   * The tensor with another shape: a view where there is one, else a copy.
   * @param {Tensor} x
   * @param {number[]} lengths 0 for the length as it is, -1 for what is left
   * @returns {Tensor}
   */
  reshape(x, lengths) {
    const known = lengths.map((length, axis) => (length === 0 ? x.shape[axis] : length));
    const shape = known.map((length) => (length === -1 ? sizeOf(x.shape) / Math.abs(sizeOf(known)) : length));
    const strides = shape.map(() => 0);
    const loops = loopsOf(x.shape.map((length, axis) => [length, x.strides[axis]]));
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) { // an axis is the inner part of a loop
      if (loops.at(-1)?.[0] === 1) loops.pop();
      const loop = loops.at(-1) ?? [1, 0];
      if (loop[0] % shape[axis]) return this.reshape(this.ordered(x), shape);
      strides[axis] = loop[1];
      loop[0] /= shape[axis];
      loop[1] *= shape[axis];
    }
    return { ...x, shape, strides };
  }

  /**
   * Matrices as `product` reads them, [matrices, tiles, inputs, TILE]; those of weights are made once, for all plans.
   * @param {Tensor} x
   * @param {() => Tensor} matrices x as [matrices, inputs, outputs]
   */
  packed(x, matrices) {
    const pack = () => {
      const begin = this.program.length;
      const numbers = matrices();
      const [count, inputs, outputs] = numbers.shape;
      const tiles = Math.ceil(outputs / TILE);
      const filled = this.scratch([count, inputs, tiles * TILE], outputs); // behind the outputs are zeros
      this.compute("Copy", slice(filled, 2, 0, outputs), numbers);
      const packed = this.tensor([count, tiles, inputs, TILE]);
      this.compute("Copy", packed, transposed(this.reshape(filled, [count, inputs, tiles, TILE]), [0, 2, 1, 3]));
      if (x.fixed) for (const compute of this.program.splice(begin)) compute();
      return packed;
    };
    return x.fixed ? entry(this.network.packed, x.at, pack) : pack();
  }

  /**
   * The products of rows and matrices.
   * @param {Tensor} x [..., inputs]
   * @param {Tensor} weights as `packed`
   * @param {number} outputs
   * @param {Tensor} out where it is computed, with outputs that fill the last tile
   */
  product(x, weights, outputs, out = this.tensor([...x.shape.slice(0, -1), weights.shape[1] * TILE])) {
    const [[matrices, tiles, inputs], { at }] = [weights.shape, this.ordered(x)];
    const rows = sizeOf(x.shape) / inputs / matrices;
    this.program.push(() => this.kernels.product(at, weights.at, out.at, matrices, rows, inputs, tiles * TILE));
    return slice(out, out.shape.length - 1, 0, outputs);
  }
}

/** A tensor to which a bias for its last axis was added. @type {(plan: Plan, x: Tensor, bias?: Tensor) => Tensor} */
const biased = (plan, x, bias) => (bias ? plan.compute("Add", x, x, bias) : x);

/** @type {Make} */
function convolve(plan, [x, kernel, bias]) {
  const points = transposed(x, [0, 2, 3, 1]);
  const [[, height, width, inputs], [outputs, , side]] = [points.shape, kernel.shape];
  const isFast = side === 3 && inputs % 4 === 0 && outputs % TILE === 0;
  const [rows, columns] = [height, width].map((length) => (isFast ? 3 * Math.ceil(length / 3) : length) + side - 1);
  const edge = (side - 1) / 2;
  const padded = plan.scratch([1, rows, columns, inputs], edge);
  plan.compute("Copy", slice(slice(padded, 1, edge, edge + height), 2, edge, edge + width), points);
  const out = (isFast ? winograd : multiplySquares)(plan, padded, kernel, height, width);
  return transposed(biased(plan, out, bias), [0, 3, 1, 2]);
}

/**
 * A convolution as a product: the numbers around each point are a row.
 * @typedef {(plan: Plan, padded: Tensor, kernel: Tensor, height: number, width: number) => Tensor} Convolve
 * @type {Convolve}
 */
function multiplySquares(plan, { shape: [, , , inputs], strides: [, down, right], ...rest }, kernel, height, width) {
  const [outputs, , side] = kernel.shape;
  const squares = { ...rest, shape: [1, height, width, side, side * inputs], strides: [0, down, right, down, 1] };
  const weights = plan.packed(kernel, () => plan.reshape(transposed(kernel, [2, 3, 1, 0]), [1, -1, outputs]));
  return plan.product(plan.reshape(squares, [1, height, width, -1]), weights, outputs);
}

/** A convolution of side 3 with fewer products. @type {Convolve} */
function winograd(plan, padded, kernel, height, width) {
  const [[, rows, columns, inputs], [outputs]] = [padded.shape, kernel.shape];
  const weights = plan.packed(kernel, () => {
    const table = plan.network.constant([1, 9, 25], WINOGRAD);
    const numbers = plan.scratch([outputs * inputs, 2 * TILE]);
    const products = plan.product(plan.reshape(kernel, [-1, 9]), plan.packed(table, () => table), 25, numbers);
    return transposed(plan.reshape(products, [outputs, inputs, 25]), [2, 1, 0]);
  });
  const scratch = plan.scratch([25 * (rows - 2) * (columns - 2) / 9, inputs + outputs]);
  const out = plan.tensor([1, height, width, outputs]);
  plan.program.push(() => plan.kernels.winograd(padded.at, scratch.at, weights.at, out.at, height, width, inputs, outputs));
  return out;
}

/** @type {Make} */
function multiply(plan, [x, y]) {
  const [inputs, outputs] = y.shape.slice(-2);
  return plan.product(x, plan.packed(y, () => plan.reshape(y, [-1, inputs, outputs])), outputs);
}

const ELEMENTWISE = ["Add", "Sub", "Mul", "Div", "Relu", "Tanh", "Sigmoid", "Sqrt"];

/** @type {Record<string, Make>} */
const OPERATIONS = {
  ...Object.fromEntries(ELEMENTWISE.map((name) => [name, /** @type {Make} */ ((plan, [x, y]) => plan.each(name, x, y))])),
  Elu: (plan, [x], { alpha = 1 }) => plan.each("Elu", x, plan.network.constant([], [alpha])),
  Conv: convolve,
  Gemm: (plan, [x, kernel, bias]) => biased(plan, multiply(plan, [x, transposed(kernel, [1, 0])], {}), bias),
  MatMul: multiply,
  ReduceMean: (plan, [x], { axes }) => {
    const sum = plan.reduce("Add", 0, x, axes);
    return plan.each("Div", sum, plan.network.constant([], [sizeOf(x.shape) / sizeOf(sum.shape)]));
  },
  ReduceMax: (plan, [x], { axes }) => plan.reduce("Max", -Infinity, x, axes),
  Softmax: (plan, [x], { axis }) => {
    const powers = plan.each("Exp", plan.each("Sub", x, plan.reduce("Max", -Infinity, x, [axis])));
    return plan.each("Div", powers, plan.reduce("Add", 0, powers, [axis]));
  },
  Concat: (plan, parts, { axis }) => {
    const length = parts.reduce((sum, { shape }) => sum + shape[axis], 0);
    const out = plan.tensorLike(changed(parts[0].shape, axis, length), parts[0]);
    let begin = 0;
    for (const part of parts) plan.compute("Copy", slice(out, axis, begin, begin += part.shape[axis]), part);
    return out;
  },
  Flatten: (plan, [x]) => plan.reshape(x, [1, -1]),
  Reshape: (plan, [x, lengths]) => plan.reshape(x, [...plan.numbers(lengths)]),
  Transpose: (plan, [x], { perm }) => transposed(x, perm),
  Slice: (plan, [x, ...bounds]) => {
    const [begin, end, axis, step] = bounds.map((bound) => plan.numbers(bound)[0]);
    return slice(x, axis, begin, end, step);
  },
  Shape: (plan, [x], { start, end }) => plan.network.constant([end - start], x.shape.slice(start, end)),
  Cast: (plan, [x]) => x,
};
