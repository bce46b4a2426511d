import { dtypeBytes } from "../../numerics/dtype.ts";
import type { BytesOfTensor } from "../../program/merkle/changes.ts";
import { handlesLimbs, hasSettledTypes } from "../../program/loops.ts";
import type { Step } from "../../program/types.ts";
import { canCompile } from "../loops/compile.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Machine } from "../machine.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { planEpilogue } from "./planEpilogue.ts";
import type { ChangedRows, PlanResources } from "./planResources.ts";
import type { StepPlan } from "./stepPlan.ts";

/**
 * Plans a step whose place already holds the result except for some rows: only the rows are computed.
 * @returns undefined if no loop computes the step: another plan computes all rows, with the same result
 */
export function planInPlace(
  resources: PlanResources,
  step: Step,
  out: Region,
  { masks, fixed, digit }: ChangedRows,
): StepPlan | undefined {
  const digits = step.outDigits.map((radix, k): LoopDigit => ({ digit: k, radix }));
  const sourceTypes = step.inputs.map(({ dtype }) => dtype);
  const { constants, epilogueReads, epilogue } = step;
  const loop = { digits, reads: epilogueReads, sourceTypes, constants, code: epilogue.code, outs: [epilogue.out] };
  if (!canCompile(loop) || !hasSettledTypes(step) || handlesLimbs(step)) return undefined;
  const rows = planEpilogue(resources, step, [], { digits, ranged: digit }, out);
  const bools = masks.map((ref) => resources.source(ref));
  const count = step.outDigits[digit]!;
  const rowBytes = step.outDigits.slice(digit + 1).reduce((bytes, radix) => bytes * radix, dtypeBytes(step.dtype));
  const changed = ({ views }: Machine): number[] => {
    const found = new Set(fixed);
    for (const { address, bytes } of bools) {
      const all = views.part(address, bytes);
      for (let row = all.indexOf(1); row >= 0; row = all.indexOf(1, row + 1)) found.add(row);
    }
    return [...found].sort((a, b) => a - b);
  };
  return {
    shared: false,
    changes(machine) {
      const ranges: BytesOfTensor[] = [];
      const found = changed(machine);
      for (let at = 0; at < out.bytes; at += count * rowBytes)
        for (const row of found) ranges.push({ from: at + row * rowBytes, to: at + (row + 1) * rowBytes });
      return ranges;
    },
    bind(machine) {
      const compute = rows.bind(machine);
      return () => {
        for (const row of changed(machine)) compute([], row, row + 1);
      };
    },
  };
}
