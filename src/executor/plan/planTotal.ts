import { arithmeticOf } from "../../numerics/arithmetic.ts";
import { DType, dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { ExactSum, LIMBS } from "../../numerics/exactSum.ts";
import type { Step } from "../../program/types.ts";
import { splitDigits } from "../../program/view.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { roundLanes } from "../product/roundLanes.ts";
import { coordinate, wholeCoordinate, type Coordinate } from "../coordinates.ts";
import { digitStrides } from "../splitStep.ts";
import { planEpilogue } from "./planEpilogue.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";

/** The 32-bit lanes of a limb: sums of a plain total's few terms are exact in float64. */
const LANES = 8;
const LANE_BITS = 32n;

/** Plans a total of limbs, lane by lane; for steps that {@link isPlainTotal} accepts. */
export function planTotal(resources: PlanResources, step: Step, out: Region): StepPlan {
  const view = step.termReads[step.term.outA]!;
  const { input } = view;
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const { moves, start } = coordinate(step, wholeCoordinate(step, view)!, new Float64Array(terms));
  const source = resources.allSources(step)[input]!;
  const dtype = step.reduceType!;
  const accumulators = resources.scratch(step.count * dtypeBytes(dtype));
  const digits = step.outDigits.map((radix, digit): LoopDigit => ({ digit, radix }));
  const epilogue = planEpilogue(resources, step, digitStrides(step.outDigits), { digits, ranged: 0 }, out);
  return {
    shared: false,
    bind(machine) {
      const { views, clock } = machine;
      const lanes = views.uint32(source.address, step.inputs[input]!.count * LANES);
      const unsigned = dtype === DType.float32 ? DType.uint32 : DType.uint16;
      const bits = views.elements(accumulators.address, unsigned, step.count);
      const total = totalOf(dtype, lanes, moves);
      const finish = epilogue.bind(machine);
      return () => {
        clock.enter("products");
        for (let i = 0; i < step.count; i++) bits[i] = total(start(splitDigits(i, step.outDigits)));
        finish([accumulators.address], 0, step.outDigits[0]!);
      };
    },
  };
}

/** Returns a function that adds the limbs of an element and rounds the sum. */
function totalOf(dtype: DTypeCode, lanes: Uint32Array, termOffsets: Coordinate["moves"]): (start: number) => number {
  const sums = new Float64Array(LANES * (LIMBS - 1));
  return (start) => {
    sums.fill(0);
    let flags = 0;
    for (let r = 0; r < termOffsets.length; r++) {
      const from = (start + termOffsets[r]!) * LANES;
      const word = r % LIMBS;
      if (word === LIMBS - 1) flags |= lanes[from]!;
      else for (let lane = 0; lane < LANES; lane++) sums[word * LANES + lane]! += lanes[from + lane]!;
    }
    if (dtype === DType.float32 && flags === 0) return roundLanes(sums);
    const sum = new ExactSum(arithmeticOf(dtype));
    sum.addLimb(LIMBS - 1, BigInt(flags));
    sums.forEach((value, lane) => (sum.value += BigInt(value) << (LANE_BITS * BigInt(lane))));
    return Number(sum.wrapped().round());
  };
}
