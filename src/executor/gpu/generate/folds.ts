import { DType, isFloat } from "../../../numerics/dtype.ts";
import { FLOAT64_LIMBS, LIMBS } from "../../../numerics/exactSum.ts";
import { Op } from "../../../program/operations.ts";
import { isDot, isExact, isPartial, isTotal, limbsOf } from "../../../program/reduction.ts";
import { Reduce, type Step } from "../../../program/types.ts";
import { GROUP } from "../wgsl/library.ts";
import { TERMS_BETWEEN_CARRIES } from "../wgsl/sums.ts";
import { operationText } from "./operation.ts";
import { formatOf, slotType } from "./slots.ts";

/** The texts of a loop's variables: whether a term is the first, its number, and how many terms were before. */
type Place = { first: string; number: string; before: string };

/** All terms in one loop, by `r`. */
const IN_ORDER: Place = { first: "r == 0u", number: "r", before: "r" };

/** What stands before a loop over terms, in the loop, and behind it. */
type Fold = { before: string; each: string; after: string };

/** Whether a step's exact sum has the limbs of float64. */
const isDouble = (step: Step): boolean => limbsOf(step) !== LIMBS;

/**
 * Folds terms into the accumulators.
 * @param a The text of the term's first result.
 * @param b The text of the second result.
 */
export function foldOf(step: Step, a: string, b: string, place: Place = IN_ORDER): Fold {
  const { reduce } = step;
  const dtype = step.reduceType!;
  if (isExact(step)) return sumFold(step, a, b, place);
  const type = slotType(dtype);
  const operation = (op: Op, x: string, y: string): string => operationText({ op, dtype, a: 0, b: 0, c: 0 }, [x, y]);
  const zero = type === "u32" ? "0u" : `${type}()`;
  switch (reduce) {
    case Reduce.sum:
    case Reduce.dot: {
      const value = reduce === Reduce.dot ? operation(Op.mul, a, b) : a;
      return { before: `var acc0 = ${zero};`, each: `acc0 = ${operation(Op.add, "acc0", value)};`, after: "" };
    }
    case Reduce.max:
    case Reduce.min: {
      const best = operation(reduce === Reduce.max ? Op.max : Op.min, "acc0", a);
      return { before: `var acc0 = ${zero};`, each: `acc0 = select(${best}, ${a}, ${place.first});`, after: "" };
    }
    case Reduce.last: {
      const set = `if (${a} != 0u) { acc0 = ${b}; acc1 = 1u; }`;
      return { before: `var acc0 = ${zero}; var acc1 = 0u;`, each: set, after: "" };
    }
    default:
      return positionFold(step, type, a, place);
  }
}

function positionFold({ reduce, reduceType }: Step, type: string, a: string, { first, number }: Place): Fold {
  const dtype = reduceType!;
  const greatest = reduce === Reduce.argmax || reduce === Reduce.argmaxLast;
  const isFirst = reduce === Reduce.argmax || reduce === Reduce.argmin;
  const suffix = dtype === DType.float64 ? "d" : "f";
  const before = (x: string, y: string): string => {
    const [low, high] = greatest ? [y, x] : [x, y];
    const less = `${operationText({ op: Op.lt, dtype, a: 0, b: 0, c: 0 }, [low, high])} == 1u`;
    return isFloat(dtype) ? `(isNaN${suffix}(${x}) && !isNaN${suffix}(${y})) || ${less}` : less;
  };
  const wins = isFirst ? before(a, "best") : `!(${before("best", a)})`;
  return {
    before: `var acc0 = vec2u(0u); var best = ${type}();`,
    each: `if (${first} || (${wins})) { best = ${a}; acc0 = vec2u(${number}, 0u); }`,
    after: "",
  };
}

/** Exact sums: rounded, or a word of them by the element's last digit. */
function sumFold(step: Step, a: string, b: string, { number, before }: Place): Fold {
  const { reduce, outDigits } = step;
  const words = limbsOf(step);
  const d = isDouble(step) ? "d" : "";
  const one = d === "" ? "0x3f800000u" : "vec2u(0u, 0x3ff00000u)";
  const add = isTotal(reduce)
    ? `sumWord${d}(${number} % ${words}u, ${a});`
    : `sumProduct${d}(${a}, ${isDot(reduce) ? b : one});`;
  const carry = `if (${before} % ${TERMS_BETWEEN_CARRIES}u == ${TERMS_BETWEEN_CARRIES - 1}u) { sumCarry${d}(); }`;
  const isWord = isPartial(reduce) || reduce === Reduce.partialTotal;
  const rounded = d === "" ? `sumRounded(${formatOf(step.reduceType!)})` : "sumRoundedd()";
  const result = isWord ? `sumLimb${d}(u32(o${outDigits.length - 1}))` : rounded;
  return { before: `sumClear${d}();`, each: `${add} ${carry}`, after: `let acc0 = ${result};` };
}

/**
 * A reduction by lanes: each lane of an element folds some terms, and the first lane folds what the lanes found. A
 * workgroup has the lanes of several elements; `slot` is the element's number there.
 */
type SharedFold = {
  /** Declarations: the workgroup's memory, and `share`, which puts a lane's fold there. */
  declarations: string;
  /** The loop over a lane's terms, with `r` as a term's number; the fold lies around the loop. */
  loop: string;
  fold: Fold;
  /** What the first lane does after all lanes: it declares the accumulator. */
  gather: string;
  /** Empties the workgroup's memory for another element. */
  clear: string;
};

/** Whether lanes can share a step's reduction. */
export const isShareable = ({ reduce, reduceType }: Step): boolean =>
  reduceType !== undefined && reduce !== Reduce.none && reduce !== Reduce.last;

/**
 * Folds a step's terms by lanes. Exact sums have no order: lanes take every term after so many. Other
 * reductions keep the order: a lane takes consecutive terms.
 * @param lanes The lanes of an element: a divisor of a workgroup's.
 * @param terms The text of the number of terms.
 * @param each The text for the number of terms in a lane.
 */
export function sharedFold(step: Step, a: string, b: string, lanes: number, terms: string, each: string): SharedFold {
  if (!isExact(step)) return orderedFold(step, a, b, lanes, terms, each);
  const d = isDouble(step) ? "d" : "";
  // The last word has the flags.
  const limbs = 16 * ((d === "" ? LIMBS : FLOAT64_LIMBS) - 1);
  const { after, ...fold } = sumFold(step, a, b, { ...IN_ORDER, before: `(r / ${lanes}u)` });
  return {
    declarations: `
var<private> slot: u32;
var<workgroup> pool: array<atomic<i32>, ${(limbs * GROUP) / lanes}>;
var<workgroup> poolFlags: array<atomic<u32>, ${GROUP / lanes}>;
fn share() {
  sumCarry${d}(); let first = ${limbs}u * slot;
  for (var i = 0u; i < ${limbs}u; i++) { let v = limbs${d}[i]; if (v != 0) { atomicAdd(&pool[first + i], v); } }
  if (flags != 0u) { atomicOr(&poolFlags[slot], flags); }
}
fn gather() {
  for (var i = 0u; i < ${limbs}u; i++) { limbs${d}[i] = atomicLoad(&pool[${limbs}u * slot + i]); }
  flags = atomicLoad(&poolFlags[slot]);
}
fn clear(lane: u32) {
  for (var i = lane; i < ${limbs}u; i += ${lanes}u) { atomicStore(&pool[${limbs}u * slot + i], 0); }
  if (lane == 0u) { atomicStore(&poolFlags[slot], 0u); }
}`,
    loop: `for (var r = lane; r < ${terms}; r += ${lanes}u)`,
    fold: { ...fold, after: "share();" },
    gather: `gather(); ${after}`,
    clear: "clear(lane);",
  };
}

function orderedFold(step: Step, a: string, b: string, lanes: number, terms: string, each: string): SharedFold {
  const isPosition = step.reduce >= Reduce.argmax && step.reduce <= Reduce.argminLast;
  const fold = foldOf(step, a, b, { ...IN_ORDER, first: `r == lane * ${each}` });
  const place = (lane: string): string => `[${lanes}u * slot + ${lane}]`;
  const found = { first: "l == 0u", number: `poolAt${place("l")}`, before: "l" };
  const sum = step.reduce === Reduce.dot ? { ...step, reduce: Reduce.sum } : step;
  const last = foldOf(sum, `poolBest${place("l")}`, "", found);
  const own = place("lane");
  const put = isPosition ? `poolBest${own} = best; poolAt${own} = acc0.x;` : `poolBest${own} = acc0;`;
  const at = isPosition ? `var<workgroup> poolAt: array<u32, ${GROUP}>;` : "";
  return {
    declarations: `var<private> slot: u32;
var<workgroup> poolBest: array<${slotType(step.reduceType!)}, ${GROUP}>; ${at}`,
    loop: `for (var r = lane * ${each}; r < min(${terms}, (lane + 1u) * ${each}); r++)`,
    fold: { ...fold, after: put },
    gather: `${last.before} for (var l = 0u; l * ${each} < ${terms}; l++) { ${last.each} }`,
    clear: "",
  };
}
