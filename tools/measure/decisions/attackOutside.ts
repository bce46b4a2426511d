import { MARGIN_FACTOR } from "../../../src/native/calibration.ts";
import { judge, type TensorError } from "../../../src/native/calibrationErrors.ts";
import { isFloat } from "../../../src/numerics/dtype.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { OpenedModel } from "../../../testkit/native/openedModel.ts";
import { cancelling } from "./cancelling.ts";
import { areDifferent, bytesOf } from "./measured.ts";
import type { Subject } from "./subjects.ts";

/** The result of an attack beyond the box, for one way and one magnitude. */
export type OutsideAttack = {
  /** Some elements are huge; or elements are added that cancel in the sums of the first layer. */
  way: "huge" | "cancelling";
  /** The largest magnitude of the inputs. */
  magnitude: number;
  tries: number;
  /** How many are decided otherwise, and of these how many a rule without the box accepts. */
  differing: number;
  accepted: number;
  /** Seconds until the first of these; undefined if there is none. */
  seconds: number | undefined;
};

/** The largest elements. */
const MAGNITUDES = [1e1, 1e3, 1e5, 1e7, 1e10, 1e20, 1e30];

/**
 * Tries inputs outside the box for float inputs, with some elements huge. Where the huge elements cancel in sums,
 * native execution leaves rounding errors, at a size unknown to the margin rule.
 * @returns undefined for a model without float inputs
 */
export async function attackOutside(
  subject: Subject,
  opened: OpenedModel,
  errors: readonly TensorError[],
  { tries, seed }: { tries: number; seed: number },
): Promise<OutsideAttack[] | undefined> {
  const { compiled, native, exact, outputs } = opened;
  const floats = compiled.inputs.flatMap(({ dtype }, i) => (isFloat(dtype) ? [i] : []));
  if (floats.length === 0) return undefined;
  const prng = new Prng(seed);
  const rows: OutsideAttack[] = [];
  const layer = subject.firstLayer?.();
  const ways = layer === undefined ? (["huge"] as const) : (["huge", "cancelling"] as const);
  const added = (numbers: Float64Array, way: OutsideAttack["way"], magnitude: number): Float64Array => {
    if (way === "huge") return withHuge(numbers, magnitude, prng);
    const addition = cancelling(layer!, magnitude, prng);
    return numbers.map((value, k) => value + addition[k]!);
  };
  for (const [way, magnitude] of ways.flatMap((each) => MAGNITUDES.map((size) => [each, size] as const))) {
    const row: OutsideAttack = { way, magnitude, tries, differing: 0, accepted: 0, seconds: undefined };
    const start = performance.now();
    for (let n = 0; n < tries; n++) {
      const numbers = subject.real(prng).map((each, i) => (floats.includes(i) ? added(each, way, magnitude) : each));
      const bytes = bytesOf(numbers, compiled);
      const [own, other] = [await exact.run(bytes), await native.run(bytes)];
      if (!areDifferent(own.outputs, other.outputs)) continue;
      row.differing++;
      if (judge(outputs, errors, other.deciding, MARGIN_FACTOR).kind === "thin") continue;
      row.accepted++;
      row.seconds ??= (performance.now() - start) / 1_000;
    }
    rows.push(row);
  }
  return rows;
}

/** Divisors for the number of huge elements: from 1 element to all. */
const PARTS = [Infinity, 1_000, 30, 1] as const;

function withHuge(numbers: Float64Array, magnitude: number, prng: Prng): Float64Array {
  const result = numbers.slice();
  const times = Math.max(1, Math.round(numbers.length / prng.pick(PARTS)));
  for (let n = 0; n < times; n++) result[prng.below(result.length)] = prng.below(2) === 0 ? magnitude : -magnitude;
  return result;
}
