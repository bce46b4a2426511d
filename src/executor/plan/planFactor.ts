import { dtypeBytes, DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import type { Step } from "../../program/types.ts";
import { digitStrides } from "../splitStep.ts";
import type { LoopDigit, LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";
import { isConstantFactor, isPackedFactor, sizeOf, termExpression } from "./productLayout.ts";

/** The gathered vectors for one factor in a product. */
export type Factor = {
  /** Bytes for each value of the first digit. */
  bytesPerValue: number;
  firstRadix: number;
  /** The region for a constant, unpacked factor, gathered once as a whole. */
  region: Region | undefined;
  prepare: ((machine: Machine) => void) | undefined;
  /** Returns a function that gathers vectors to an address, for values `start .. end - 1` of the first digit. */
  bind(machine: Machine): (address: number, start: number, end: number) => void;
};

/**
 * Plans how to gather a factor.
 * @param digits The group, vector and term digits, in this order.
 */
export function planFactor(
  resources: PlanResources,
  step: Step,
  slot: number,
  digits: readonly LoopDigit[],
  options: {
    /** Whether float32 elements are stored as float64. */
    isWidened: boolean;
    /** Data made from a constant factor and kept instead of the vectors. */
    replacement?: { name: string; bytes: number; make: (machine: Machine, from: number, to: number) => void };
    /** Further data made from a constant factor, stored in this many bytes after the factor. */
    afterwards?: { name: string; bytes: number; make: (machine: Machine, address: number) => void } | undefined;
  },
): Factor {
  const { isWidened, afterwards } = options;
  const dtype: DTypeCode = step.reduceType ?? DType.float32;
  const spec: LoopSpec = {
    ...termExpression(step),
    digits,
    sourceTypes: step.inputs.map(({ dtype }) => dtype),
    outs: [slot],
    outStrides: digitStrides(digits.map(({ radix }) => radix)),
    ...(isWidened ? { widened: [0] } : {}),
  };
  const firstRadix = digits[0]?.radix ?? 1;
  const bytesPerValue = (sizeOf(digits) / firstRadix) * (isWidened ? 8 : dtypeBytes(dtype));
  const gatherBy =
    (loop: number) =>
    ({ loops }: Machine, sources: readonly number[], address: number, start: number, end: number): void =>
      loops[loop]!(sources, [address - start * bytesPerValue], start, end);

  if (isConstantFactor(step, slot) && !isPackedFactor(step, slot, resources.options)) {
    const gather = gatherBy(resources.loop(spec));
    const whole = firstRadix * bytesPerValue;
    const { replacement } = options;
    const { region, prepare } = resources.prepared(step, spec, {
      key: replacement?.name ?? `vectors, ${afterwards?.name}`,
      bytes: replacement?.bytes ?? whole + (afterwards?.bytes ?? 0),
      temporary: replacement === undefined ? 0 : whole,
      fill(machine, target, sources, temporary) {
        const to = replacement === undefined ? target : temporary;
        gather(machine, sources, to.address, 0, firstRadix);
        replacement?.make(machine, temporary.address, target.address);
        afterwards?.make(machine, target.address);
      },
    });
    return { bytesPerValue, firstRadix, region, prepare, bind: () => () => undefined };
  }
  const { loop, sources } = resources.loopOver(step, spec);
  const gather = gatherBy(loop);
  return {
    bytesPerValue,
    firstRadix,
    region: undefined,
    prepare: undefined,
    bind(machine) {
      const addresses = sources.map((region) => region?.address ?? 0);
      return (address, start, end) => {
        machine.clock.enter("loops");
        gather(machine, addresses, address, start, end);
      };
    },
  };
}
