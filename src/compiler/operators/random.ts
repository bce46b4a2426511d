import { DType, isDType, isFloat } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { JobSeed } from "../steps/builder.ts";
import { drawnWords, lowWord } from "./drawnWords.ts";
import { philox } from "./philox.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { floatWord } from "../../numerics/numbers.ts";
import { cumulate, dropAxes, reduceAxes, softmaxOver } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { sliced, slicedAlong, wholeRange } from "../lowering/slices.ts";

/** The maximum number of random words per node: the words become program constants, or steps. */
const MAX_WORDS = 2 ** 22;

/** The last two words of a node's counters. */
type Stream = readonly [number, number];

/** The bits of a node's own seed, a float or, for Dropout, an integer. */
function ownSeed(context: NodeContext): number | undefined {
  const seed = context.node.attributes.get("seed");
  context.ignore("seed");
  if (seed?.kind === "int") return Number(BigInt.asUintN(32, seed.value));
  return seed?.kind === "float" ? Number(floatWord(seed.value)) : undefined;
}

/**
 * Gives exact float32 tensors with numbers k / 2^24, k from `first` on, below `first + 2^24`. Each number uses one word
 * from the node's stream, starting at `from`.
 */
type Fractions = (shape: readonly number[], first: 0 | 1, from?: number) => LazyTensor;

/**
 * Returns a node's stream. The key is the seed, given to the compiler or to the job. The counter holds the block, the
 * item's number in a run with seeds (else 0), then the bits of the node's `seed` if given, else the node's number among
 * the graph's random nodes. A job's seed therefore draws the same numbers as an equal compiler seed.
 */
function fractionsOf(context: NodeContext, count: number): Fractions {
  const { builder } = context;
  if (count > MAX_WORDS) context.refuse(undefined, `it draws ${count} random words, at most ${MAX_WORDS} are drawn`);
  const own = ownSeed(context);
  const number = builder.randomNodes++;
  const { seed } = builder;
  const stream = [own ?? number, own === undefined ? 0 : 1] as const;
  // ONNX names no generator: a node's own seed alone does not determine the drawn numbers.
  if (seed === undefined)
    return context.refuse(
      "seed",
      "of the job is not given: compile with a seed, or with one as an input (--seed-input)",
    );
  return typeof seed === "bigint"
    ? knownFractions(context, seed, stream, count)
    : seededFractions(context, seed, stream, count);
}

/** Constants of the program. */
function knownFractions({ builder }: NodeContext, seed: bigint, stream: Stream, count: number): Fractions {
  const key = [Number(seed & 0xffffffffn), Number((seed >> 32n) & 0xffffffffn)];
  const words = new Uint32Array(Math.ceil(count / 4) * 4);
  for (let block = 0; block < words.length / 4; block++) words.set(philox([block, 0, ...stream], key), 4 * block);
  return (shape, first, from = 0) => {
    const part = words.subarray(from, from + elementCount(shape));
    return builder.constant(
      floatTensor(
        Array.from(part, (word) => ((word >>> 8) + first) / 2 ** 24),
        shape,
      ),
    );
  };
}

/** Computed from the job's seed. */
function seededFractions(context: NodeContext, { key, item }: JobSeed, stream: Stream, count: number): Fractions {
  const { builder, expressions: e } = context;
  const word = (value: number): LazyTensor => builder.filled(DType.uint32, [1], BigInt(value));
  const number = item === undefined ? word(0) : broadcast(context, [item], (x) => lowWord(context, x));
  const words = drawnWords(context, key, [number, word(stream[0]), word(stream[1])], count);
  return (shape, first, from = 0) => {
    const part = builder.reshape(slicedAlong(context, words, 0, from, elementCount(shape)), shape);
    return broadcast(context, [part], (x) => {
      const high = e.shr(x, e.constant(DType.uint32, 8n));
      const whole = first === 0 ? high : e.add(high, e.constant(DType.uint32, 1n));
      return e.mul(e.cast(whole, DType.float32), e.float(2 ** -24));
    });
  };
}

function uniform(context: NodeContext, shape: readonly number[]): LazyTensor {
  return fractionsOf(context, elementCount(shape))(shape, 0);
}

/** Returns the element type for a result drawn in float32. */
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
  const fractions = fractionsOf(context, 2 * count);
  const [u, v] = [fractions(shape, 1), fractions(shape, 0, count)];
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
 * Multinomial: for each draw u, counts the classes with a cumulated probability at most u. Softmax, then exact sums.
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
