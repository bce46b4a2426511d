import { DType, isDType, isFloat } from "../../numerics/dtype.ts";
import { elementCount } from "../../onnx/model.ts";
import { floatTensor } from "../../onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { philox } from "./philox.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { floatWord } from "../../numerics/numbers.ts";
import { cumulate, dropAxes, reduceAxes, softmaxOver } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { sliced, wholeRange } from "../lowering/slices.ts";

/** The maximum number of random words of one node: they become constants of the program. */
const MAX_WORDS = 2 ** 22;

/** The bits of a node's own seed, a float or, for Dropout, an integer. */
function ownSeed(context: NodeContext): number | undefined {
  const seed = context.node.attributes.get("seed");
  context.ignore("seed");
  if (seed?.kind === "int") return Number(BigInt.asUintN(32, seed.value));
  return seed?.kind === "float" ? Number(floatWord(seed.value)) : undefined;
}

/**
 * Words of the stream of a node. The key is the seed given to the compiler. The counter is the block, then the bits of
 * the `seed` of the node if it has one, else its number among the random nodes of the graph.
 */
function randomWords(context: NodeContext, count: number): Uint32Array {
  const { builder } = context;
  if (count > MAX_WORDS) context.refuse(undefined, `it draws ${count} random words, at most ${MAX_WORDS} are drawn`);
  const own = ownSeed(context);
  const number = builder.randomNodes++;
  const { seed } = builder;
  // ONNX names no generator: a node's own seed alone would not say what is drawn.
  if (seed === undefined) return context.refuse("seed", "of the job is not given: compile with a seed");
  const key = [Number(seed & 0xffffffffn), Number((seed >> 32n) & 0xffffffffn)];
  const words = new Uint32Array(Math.ceil(count / 4) * 4);
  for (let block = 0; block < words.length / 4; block++)
    words.set(philox([block, 0, own ?? number, own === undefined ? 0 : 1], key), 4 * block);
  return words.subarray(0, count);
}

/** Numbers k / 2^24, k from `first` on, below `first + 2^24`: exact in float32. */
const fractions = (context: NodeContext, words: Uint32Array, shape: readonly number[], first: 0 | 1): LazyTensor =>
  context.builder.constant(
    floatTensor(
      Array.from(words, (word) => ((word >>> 8) + first) / 2 ** 24),
      shape,
    ),
  );

function uniform(context: NodeContext, shape: readonly number[]): LazyTensor {
  return fractions(context, randomWords(context, elementCount(shape)), shape, 0);
}

/** The element type of a result that is drawn in float32. */
function typeOf(context: NodeContext, otherwise: DType): DType {
  const dtype = context.int("dtype", otherwise);
  if (!isDType(dtype)) return context.refuse("dtype", `is element type ${dtype}, which is not executed here`);
  return dtype;
}

function drawn(context: NodeContext, shape: readonly number[], otherwise: DType, build: Draw): LazyTensor[] {
  const dtype = typeOf(context, otherwise);
  if (!isFloat(dtype)) return context.refuse("dtype", "is not a type of floats");
  return [broadcast(context, [build(context, shape)], (x) => context.expressions.cast(x, dtype))];
}

type Draw = (context: NodeContext, shape: readonly number[]) => LazyTensor;

/** low + (high - low) * u, u = k / 2^24 in [0, 1). */
const drawUniform: Draw = (context, shape) => {
  const e = context.expressions;
  const [low, high] = [e.float(context.float("low", 0)), e.float(context.float("high", 1))];
  const build = (u: Expr): Expr => e.add(low, e.mul(e.sub(high, low), u));
  return broadcast(context, [uniform(context, shape)], build);
};

/** mean + scale * (sqrt(-2 log u) * cos(2 pi v)), u in (0, 1], v in [0, 1): Box and Muller, each operation rounded. */
const drawNormal: Draw = (context, shape) => {
  const e = context.expressions;
  const [mean, scale] = [e.float(context.float("mean", 0)), e.float(context.float("scale", 1))];
  const count = elementCount(shape);
  const words = randomWords(context, 2 * count);
  const [u, v] = [
    fractions(context, words.subarray(0, count), shape, 1),
    fractions(context, words.subarray(count), shape, 0),
  ];
  const build = (a: Expr, b: Expr): Expr => {
    const radius = e.sqrt(e.mul(e.float(-2), e.log(a)));
    const angle = e.cos(e.mul(e.float(2 * Math.PI), b));
    return e.add(mean, e.mul(scale, e.mul(radius, angle)));
  };
  return broadcast(context, [u, v], build);
};

const shaped =
  (draw: Draw): Lower =>
  (context) =>
    drawn(context, context.ints("shape") ?? context.fail("shape is missing"), DType.float32, draw);

const like =
  (draw: Draw): Lower =>
  (context) =>
    drawn(context, context.input(0).shape, context.input(0).dtype, draw);

export const randomUniform = shaped(drawUniform);
export const randomUniformLike = like(drawUniform);
export const randomNormal = shaped(drawNormal);
export const randomNormalLike = like(drawNormal);

/** Dropout in training: y = (scale * x) * mask, scale = RN(1 / RN(1 - ratio)); the mask is u >= ratio. */
export function dropoutInTraining(context: NodeContext, x: LazyTensor, ratio: Expr): LazyTensor[] {
  const e = context.expressions;
  const mask = broadcast(context, [uniform(context, x.shape)], (u) => e.le(ratio, u));
  context.builder.realise(mask);
  const scale = e.div(e.float(1), e.sub(e.float(1), ratio));
  const build = (v: Expr, m: Expr): Expr => e.mul(e.mul(scale, v), e.cast(m, DType.float32));
  return [broadcast(context, [x, mask], build, true), mask];
}

/** Bernoulli: 1 where u < p, u = k / 2^24 in [0, 1). */
export const bernoulli: Lower = (context) => {
  const e = context.expressions;
  const p = context.floatInput();
  const dtype = typeOf(context, p.dtype);
  return [
    broadcast(context, [uniform(context, p.shape), p], (u, v) => e.cast(e.lt(e.cast(u, v.dtype), v), dtype), true),
  ];
};

/**
 * Multinomial: for each draw u the number of classes whose cumulated probability is at most u. Softmax, then exact
 * sums.
 */
export const multinomial: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const [batch = 0, classes = 0] = x.shape;
  const samples = context.int("sample_size", 1);
  const dtype = context.int("dtype", DType.int32);
  if (x.shape.length !== 2 || samples < 1) return context.fail(`${samples} draws from [${x.shape.join()}]`);
  if (dtype !== DType.int32 && dtype !== DType.int64) return context.refuse("dtype", "is neither int32 nor int64");
  const cumulated = cumulate(context, softmaxOver(context, x, [1], false), 1, false, false);
  // Rounding may leave the last sum below 1: the last class takes the rest.
  const bounds = sliced(context, cumulated, [
    wholeRange(batch),
    { start: 0, step: 1, count: Math.max(1, classes - 1) },
  ]);
  builder.realise(bounds);
  const draws = builder.reshape(uniform(context, [batch, samples]), [batch, samples, 1]);
  const passed = broadcast(context, [builder.reshape(bounds, [batch, 1, bounds.shape[1]!]), draws], (c, u) =>
    e.cast(e.le(c, u), dtype),
  );
  if (classes === 1) return [builder.filled(dtype, [batch, samples], 0n)];
  return [dropAxes(builder, reduceAxes(builder, passed, [2], Reduce.sum), [2])];
};
