import { LIMBS } from "../../numerics/exactSum.ts";
import { limbsOf } from "../../program/reduction.ts";
import { product } from "../../program/sums.ts";
import { Reduce, type Step } from "../../program/types.ts";
import { splitDigits } from "../../program/view.ts";
import { coordinate, wholeCoordinate } from "../coordinates.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { isIdentityEpilogue } from "./planEpilogue.ts";
import type { PlanResources } from "./planResources.ts";
import type { StepPlan } from "./stepPlan.ts";

/** The 32-bit lanes of a limb, and of a sum's finite part. */
const LANES = 8;
const SUM_LANES = LANES * (LIMBS - 1);
const LANE = 2 ** 32;
/** Sums of fewer lanes stay exact in float64, with carries. */
const MAX_TERMS = 2 ** 20;
/** The flags of a sum. */
const FLAGS = 7;

/**
 * Plans a partial total: words of exact sums, added to words again, lane by lane. If all four words have the same
 * terms, each sum is added once.
 * @returns undefined for words of float64 sums, for terms that are not read unchanged and always inside the tensor, and
 *   if the epilogue changes the words
 */
export function planPartialTotal(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const { term, termReads, outDigits, redDigits } = step;
  const terms = product(redDigits);
  const view = termReads[term.outA];
  if (step.reduce !== Reduce.partialTotal || limbsOf(step) !== LIMBS || view === undefined) return undefined;
  if (term.code.length > 0 || terms >= MAX_TERMS || !isIdentityEpilogue(step)) return undefined;
  const whole = wholeCoordinate(step, view);
  if (whole === undefined) return undefined;
  const depends = whole.coeffs.some(({ digit, coeff }) => digit === outDigits.length - 1 && coeff !== 0);
  const given = depends ? 1 : LIMBS;
  const { moves, start } = coordinate(step, whole, new Float64Array(terms));
  const source = resources.allSources(step)[view.input]!;
  return {
    shared: false,
    bind({ views, clock }) {
      const lanes = views.uint32(source.address, step.inputs[view.input]!.count * LANES);
      const words = views.uint32(out.address, step.count * LANES);
      const sums = new Float64Array(SUM_LANES);
      const sum = new Uint32Array(LIMBS * LANES);
      return () => {
        clock.enter("products");
        for (let i = 0; i < step.count; i += given) {
          sum[SUM_LANES] = addWords(lanes, start(splitDigits(i, outDigits)), moves, sums);
          carry(sums, sum);
          const first = (i % LIMBS) * LANES;
          words.set(sum.subarray(first, first + given * LANES), i * LANES);
        }
      };
    },
  };
}

/** Adds the words of all terms into lanes, without carries. @returns the flags */
function addWords(lanes: Uint32Array, from: number, moves: Int32Array | Float64Array, sums: Float64Array): number {
  sums.fill(0);
  let flags = 0;
  for (let r = 0; r < moves.length; r++) {
    const at = (from + moves[r]!) * LANES;
    const word = r % LIMBS;
    if (word === LIMBS - 1) flags |= lanes[at]! & FLAGS;
    else for (let lane = 0; lane < LANES; lane++) sums[word * LANES + lane]! += lanes[at + lane]!;
  }
  return flags;
}

/** Moves carries on from lane to lane, modulo the last lane's end. */
function carry(sums: Float64Array, into: Uint32Array): void {
  let over = 0;
  for (let lane = 0; lane < SUM_LANES; lane++) {
    const value = sums[lane]! + over;
    over = Math.floor(value / LANE);
    into[lane] = value - over * LANE;
  }
}
