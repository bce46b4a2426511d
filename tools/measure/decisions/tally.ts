import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod/v4";
import type { TensorError } from "../../../src/native/calibrationErrors.ts";
import { UsageError } from "../../options.ts";
import { upperBound } from "./bounds.ts";

/** Native execution's outcome for an answer, and whether the outputs equal exact execution's outputs. */
export type Seen = {
  kind: "native" | "thin" | "outside" | "failed";
  /** False where there are no native outputs. */
  differs: boolean;
};

const count = z.number().int().nonnegative();
const countsSchema = z.object({ answers: count, thin: count, unanswered: count, differing: count, accepted: count });

/**
 * How many answers there were; of these thin ones, ones without native outputs (outside the box, or failed), ones that
 * differ from exact execution, and differing ones that the margin rule accepted.
 */
export type Counts = z.infer<typeof countsSchema>;

const tallySchema = countsSchema.extend({
  model: z.string(),
  /** Decisions of an answer: the elements of its outputs. */
  decisions: count,
  /** The seed for the drawn inputs and the calibration. */
  seed: count,
  /** The runtime's own name of itself. */
  runtime: z.string(),
  /** Inputs that the calibration was made on. */
  calibrated: count,
  errors: z.array(
    z.object({
      name: z.string(),
      dtype: z.number().int(),
      shape: z.array(count),
      relative: z.number().nonnegative(),
      absolute: z.number().nonnegative(),
    }),
  ),
});

/** A model's counts, which a later count continues. */
export type Tally = Omit<z.infer<typeof tallySchema>, "errors"> & { errors: readonly TensorError[] };

export const NO_COUNTS: Counts = { answers: 0, thin: 0, unanswered: 0, differing: 0, accepted: 0 };

export function withSeen<T extends Counts>(counts: T, { kind, differs }: Seen): T {
  return {
    ...counts,
    answers: counts.answers + 1,
    thin: counts.thin + Number(kind === "thin"),
    unanswered: counts.unanswered + Number(kind === "outside" || kind === "failed"),
    differing: counts.differing + Number(differs),
    accepted: counts.accepted + Number(differs && kind === "native"),
  };
}

/** Returns the 95 % upper bounds for the rates of thin answers, differing answers, and accepted differing answers. */
export const boundsOf = ({ answers, thin, differing, accepted }: Counts) => ({
  thin: upperBound(thin, answers),
  differing: upperBound(differing, answers),
  accepted: upperBound(accepted, answers),
});

/**
 * The tallies of a file; none if there is no such file.
 * @throws Error that names the file and the field if it holds anything else
 */
export function readTallies(path: string): Tally[] {
  if (!existsSync(path)) return [];
  const result = z.array(tallySchema).safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (result.success) return result.data as Tally[];
  const [issue] = result.error.issues;
  throw new UsageError(`${path} holds no tallies of this command: ${issue!.path.join(".")}: ${issue!.message}`);
}

/** Writes tallies: a kill leaves either the old file or the new file. */
export function writeTallies(path: string, tallies: readonly Tally[]): void {
  writeFileSync(`${path}.part`, `${JSON.stringify(tallies, null, 2)}\n`);
  renameSync(`${path}.part`, path);
}
