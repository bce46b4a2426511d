import type { Step } from "../../program/types.ts";
import type { LoopDigit } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import type { Machine } from "../machine.ts";
import { planFactor } from "./planFactor.ts";
import { both } from "./planFloatProduct.ts";
import type { PlanResources } from "./planResources.ts";
import { partOf, ranges } from "./ranges.ts";
import type { StepPlan } from "./stepPlan.ts";

const FLOAT32_BYTES = 4;
const ONE_BITS = 0x3f800000;
/** The most products that are gathered at a time, by all threads together: 32 MiB of each factor. */
const MAX_GATHERED = 2 ** 23;

/** Adds products: `count` sums with `terms` products each, written from `out` on; `bStep` is 0 for a single factor. */
type Add = (machine: Machine, a: number, b: number, bStep: number, terms: number, count: number, out: number) => void;

type Gathered = {
  slots: readonly number[];
  without: ReadonlySet<number>;
  sumBytes: number;
  add: Add;
  /** Whether threads may write parts of the sums at the same time. */
  mayShare: boolean;
};

/**
 * Plans sums of products whose float32 factors are gathered side by side, sum after sum.
 * @param out Takes the sums in the order of the out digits that are not left out.
 * @param slots The factors' slots, one or two, in a term with float32 as reduction type.
 * @param without Out digits that are left out: no factor depends on them.
 * @param sumBytes Bytes of a sum.
 */
export function planGathered(
  resources: PlanResources,
  step: Step,
  out: Region,
  { slots, without, sumBytes, add, mayShare }: Gathered,
): Omit<StepPlan, "bind"> & { bind(machine: Machine): () => void } {
  const digits = [...step.outDigits, ...step.redDigits]
    .map((radix, digit): LoopDigit => ({ digit, radix }))
    .filter(({ digit }) => !without.has(digit));
  const firstRadix = digits[0]!.radix;
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const perValue = digits.reduce((product, { radix }) => product * radix, 1) / firstRadix;
  // If all out digits are left out, the first digit belongs to the terms and is not cut.
  const isCut = without.size < step.outDigits.length;
  const max = Math.max(1, Math.floor(resources.options.chunkElements / perValue));
  const length = isCut ? Math.min(firstRadix, max) : firstRadix;
  const factors = slots.map((slot) => planFactor(resources, step, slot, digits, { isWidened: false }));
  // Work that lacks memory for a copy per thread runs on one thread.
  const shared = mayShare && isCut && length * perValue * resources.options.threads <= MAX_GATHERED;
  const makeBuffers = () => ({
    pieces: factors.map((factor) => resources.scratch(length * factor.bytesPerValue)),
    one: factors.length === 1 ? resources.scratch(FLOAT32_BYTES) : undefined,
  });
  const buffers = shared ? resources.perThread(makeBuffers) : [makeBuffers()];
  return {
    shared,
    prepare: factors.map(({ prepare }) => prepare).reduce(both),
    bind(machine) {
      const { views, clock } = machine;
      const gathers = factors.map((factor) => factor.bind(machine));
      const { pieces, one } = buffers[shared ? machine.thread : 0]!;
      const [first, last] = shared ? partOf(firstRadix, machine) : [0, firstRadix];
      return () => {
        if (one !== undefined) views.uint32(one.address, 1)[0] = ONE_BITS;
        for (const [start, end] of ranges(first, last, length)) {
          gathers.forEach((gather, n) => gather(pieces[n]!.address, start, end));
          clock.enter("products");
          const [a, b] = factors.map(({ region, bytesPerValue }, n) =>
            region === undefined ? pieces[n]!.address : region.address + start * bytesPerValue,
          );
          const at = out.address + ((start * perValue) / terms) * sumBytes;
          const count = ((end - start) * perValue) / terms;
          add(machine, a!, b ?? one!.address, b === undefined ? 0 : FLOAT32_BYTES, terms, count, at);
        }
      };
    },
  };
}
