import { MARGIN_FACTOR } from "../../../src/native/calibration.ts";
import { changedInputs, drawInputs, type InputNumbers } from "../../../src/native/drawnInputs.ts";
import { errorOf, judge, marginOf, neededMargin, type TensorError } from "../../../src/native/calibrationErrors.ts";
import { apart } from "../../../src/native/tensorErrors.ts";
import { Prng } from "../../../src/base/prng.ts";
import type { OpenedModel } from "../../../testkit/native/openedModel.ts";
import { atBoundary } from "./boundary.ts";
import { areDifferent, boxOf, bytesOf } from "./measured.ts";
import type { Subject } from "./subjects.ts";

/** Maximum random inputs tried for finding an input with another decision. */
const TRIES = 200;
/** A climb without a worse find for this many inputs begins anew. */
const PATIENCE = 32;

/** The result of an attack inside the box. Errors and factors are multiples of the calibrated error. */
export type InsideAttack = {
  /** Inputs executed both ways; each pair came from some tens of exact executions. */
  inputs: number;
  /** The largest error of a tensor that decides. The margin rule accepts nothing wrong at a factor above it. */
  error: number;
  /**
   * The number of differently decided inputs; the largest factor at which the margin rule accepts such an input; the
   * number accepted at a worker's factor.
   */
  differing: number;
  defeated: number;
  accepted: number;
  seconds: number;
};

/**
 * Searches inside the box for wrong native decisions with the largest margin. The search goes to a boundary between
 * inputs with different exact decisions, and climbs along the boundary. At an exact boundary the native margin equals
 * the native error; at a native boundary the margin would be nothing. The search ends after the given seconds, or the
 * given number of inputs executed both ways.
 */
export async function attackInside(
  subject: Subject,
  opened: OpenedModel,
  errors: readonly TensorError[],
  { seed, seconds = Infinity, inputs = Infinity }: { seed: number; seconds?: number; inputs?: number },
): Promise<InsideAttack> {
  const { compiled, native, exact, outputs } = opened;
  const box = boxOf(subject, compiled);
  const prng = new Prng(seed);
  const start = performance.now();
  const known = new Map(errors.map((error) => [error.name, error]));
  const decisions = outputs.flatMap((output) => output.decisions);
  const found = { inputs: 0, error: 0, differing: 0, defeated: 0, accepted: 0 };

  while (!isOver()) {
    const ends = await decidedOtherwise();
    if (ends === undefined) break;
    let best = ends[0];
    let reached = -1;
    for (let idle = 0; idle < PATIENCE && !isOver(); idle++) {
      const [near, far] = await boundary(reached < 0 ? best : changedInputs(best, box, prng), ends);
      const worst = Math.max(await look(near), await look(far));
      if (worst <= reached) continue;
      [best, reached, idle] = [near, worst, 0];
    }
  }
  return { ...found, seconds: (performance.now() - start) / 1_000 };

  function isOver(): boolean {
    return found.inputs >= inputs || performance.now() - start > 1_000 * seconds;
  }

  async function decided(numbers: InputNumbers): Promise<readonly Uint8Array[]> {
    return (await exact.run(bytesOf(numbers, compiled))).outputs;
  }

  function draw(): InputNumbers {
    return prng.below(2) === 0 ? drawInputs(compiled.inputs, box, prng) : subject.real(prng);
  }

  /** Two inputs that are decided otherwise; undefined if none were found. */
  async function decidedOtherwise(): Promise<[InputNumbers, InputNumbers] | undefined> {
    const first = draw();
    const side = await decided(first);
    for (let n = 0; n < TRIES; n++) {
      const second = draw();
      if (areDifferent(await decided(second), side)) return [first, second];
    }
    return undefined;
  }

  /** Returns inputs at a boundary on the way to the differently decided end. */
  async function boundary(from: InputNumbers, [a, b]: [InputNumbers, InputNumbers]) {
    const side = await decided(from);
    const end = areDifferent(await decided(a), side) ? a : b;
    return atBoundary(from, end, compiled.inputs, async (each) => areDifferent(await decided(each), side));
  }

  /**
   * Executes inputs both ways.
   * @returns the largest factor that accepts a wrong native decision, 0 without a wrong decision
   */
  async function look(numbers: InputNumbers): Promise<number> {
    const bytes = bytesOf(numbers, compiled);
    const [own, other] = [await exact.run(bytes), await native.run(bytes)];
    const error = Math.max(
      ...errors.map(
        ({ name, relative }) =>
          (apart(name, other.deciding.get(name)!, own.deciding.get(name)!)?.relative ?? 0) / relative,
      ),
    );
    found.inputs++;
    found.error = Math.max(found.error, error);
    if (!areDifferent(own.outputs, other.outputs)) return 0;
    found.differing++;
    // Wrong outputs are accepted up to the thinnest decision's factor.
    const factors = decisions.map((each) => {
      const { margin, scale } = marginOf(each, other.deciding);
      return margin === 0 ? 0 : margin / neededMargin(errorOf(each, known), scale, 1);
    });
    const defeated = Math.min(...factors);
    found.defeated = Math.max(found.defeated, defeated);
    if (judge(outputs, errors, other.deciding, MARGIN_FACTOR).kind === "thick") found.accepted++;
    return defeated;
  }
}
