import { MARGIN_FACTOR } from "../../../src/native/calibration.ts";
import { elementCount } from "../../../src/model/onnx/model.ts";
import { UsageError } from "../../options.ts";
import { boxOf, bytesOf, CALIBRATED, calibratedErrors, inputsOf, programOf, seenOf } from "./measured.ts";
import type { Subject } from "./subjects.ts";
import { NO_COUNTS, withSeen, type Tally } from "./tally.ts";

/** A tally is handed on after so many milliseconds. */
const SAVE_MS = 10_000;

/** What is counted. */
type CountOptions = {
  /** Answers, those of an earlier count among them. */
  count: number;
  seed: number;
  /** Inputs that the calibration's search may take. */
  search: number;
  /** What an earlier count of the model found. */
  before: Tally | undefined;
  save: (tally: Tally) => void;
};

/**
 * Counts what native execution decides otherwise than exact execution, and how much of that the margin rule accepts.
 * The calibration is made first, or taken from the earlier count.
 * @throws UsageError if the earlier count is of another runtime or seed
 */
export async function countDecisions(subject: Subject, { count, seed, search, before, save }: CountOptions) {
  const opened = await subject.open();
  try {
    const { compiled, native } = opened;
    if (before !== undefined && before.runtime !== native.name)
      throw new UsageError(`${subject.name} was counted on ${before.runtime}, this is ${native.name}: begin anew`);
    if (before !== undefined && before.seed !== seed)
      throw new UsageError(`${subject.name} was counted with --seed ${before.seed}: go on with it, or begin anew`);
    const box = boxOf(subject, compiled);
    let tally: Tally = before ?? {
      ...{ model: subject.name, ...NO_COUNTS, seed, runtime: native.name },
      decisions: compiled.outputs.reduce((sum, { shape }) => sum + elementCount(shape), 0),
      calibrated: 2 * CALIBRATED + search,
      errors: await calibratedErrors(subject, opened, search, seed),
    };
    const program = programOf(opened, box, tally.errors, MARGIN_FACTOR);
    let saved = performance.now();
    while (tally.answers < count) {
      const inputs = inputsOf(subject, compiled, box, seed, tally.answers);
      tally = withSeen(tally, await seenOf(program, opened, bytesOf(inputs, compiled)));
      if (performance.now() - saved < SAVE_MS) continue;
      save(tally);
      saved = performance.now();
    }
    save(tally);
    return tally;
  } finally {
    await opened.close();
  }
}
