import { z } from "zod/v4";
import { dtypeName, DType, isFloat, type DTypeName } from "../numerics/dtype.ts";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import type { Box } from "./inputRange.ts";
import { roundedTo } from "./elements.ts";
import { CalibrationError } from "./errors.ts";
import type { TensorError } from "./calibrationErrors.ts";

/** How many times the largest native error that was found a margin must exceed, if nothing else is asked for. */
export const MARGIN_FACTOR = 16;

/** The measured distance between a program's native and exact execution, with the inputs and the runtime used. */
export type Calibration = {
  programRoot: string;
  /** SHA-256 of the model's file, in hexadecimal digits. */
  modelSha256: string;
  /** The runtime's own name of itself: another one computes otherwise. */
  runtime: string;
  /** The number of onnxruntime threads on this machine; undefined for a runtime reached over HTTP. */
  threads?: number | undefined;
  /** The inputs that it holds for. */
  box: Box;
  /** The deciding tensors, with the largest errors found. */
  tensors: readonly TensorError[];
  /** Which decisions make each output, for people to read. */
  outputs: readonly { name: string; decisions: readonly string[] }[];
  /** How many inputs of each sort were executed both ways. */
  inputs: { given: number; random: number; searched: number };
  /** The seed for random inputs and for the search. */
  seed: number;
  /** How often any output differed, and how often one did although all margins were thick by `factor`: never. */
  differing: { native: number; thick: number };
  /** How often all margins were thick by `factor`. */
  thick: number;
  factor: number;
};

const FORMAT = "refute calibration 1";
const MAX_BYTES = 2 ** 24;

/** Threads that onnxruntime may be given. */
export const MAX_THREADS = 256;

const hex = (digits: number, prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-f]{${digits}}$`), `expected ${prefix}${digits} hexadecimal digits`);
const name = z.string().max(1_000);
const count = z.number().int().nonnegative();
const error = z.number().nonnegative();
const dtype = z.enum(Object.keys(DType) as [DTypeName, ...DTypeName[]]).transform((text) => DType[text]);

const rangeSchema = z
  .object({ name, dtype, low: z.number(), high: z.number() })
  .strict()
  .refine(({ low, high }) => low <= high, "expected low to be at most high")
  .refine(
    ({ dtype: type, low, high }) => [low, high].every((end) => Number.isFinite(end) && roundedTo(end, type) === end),
    "expected numbers of the input's type",
  );

const tensorSchema = z
  .object({
    name,
    dtype: dtype.refine(isFloat, "expected a type of floats"),
    shape: z.array(count).max(64),
    relative: error,
    absolute: error,
  })
  .strict();

const schema = z
  .object({
    format: z.literal(FORMAT),
    programRoot: hex(64, "0x"),
    modelSha256: hex(64, ""),
    runtime: z.string().min(1).max(1_000),
    threads: z.number().int().positive().max(MAX_THREADS).optional(),
    box: z.array(rangeSchema),
    tensors: z.array(tensorSchema),
    outputs: z.array(z.object({ name, decisions: z.array(z.string()) }).strict()),
    inputs: z.object({ given: count, random: count, searched: count }).strict(),
    seed: count,
    differing: z.object({ native: count, thick: z.literal(0, "expected 0: results differ where margins are thick") }),
    thick: count,
    factor: z.number().min(1),
  })
  .strict();

/** A calibration as the text of its file. */
export function calibrationText({ box, tensors, ...rest }: Calibration): string {
  const named = <T extends { dtype: DType }>(part: T) => ({ ...part, dtype: dtypeName(part.dtype) });
  return `${JSON.stringify({ format: FORMAT, ...rest, box: box.map(named), tensors: tensors.map(named) }, null, 2)}\n`;
}

/** Reads a calibration. @throws CalibrationError that names the file and the field */
export function readCalibration(path: string): Calibration {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    const what = cause instanceof FileError ? cause.message : "is not JSON";
    throw new CalibrationError(
      `the calibration ${path} cannot be read: it ${what}; make it by refute model calibrate`,
      {
        cause,
      },
    );
  }
  const result = schema.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const field = issue!.path.join(".") || "the file";
    throw new CalibrationError(
      `the calibration ${path}: ${field}: ${issue!.message}; make it again by refute model calibrate`,
    );
  }
  const calibration: Calibration & { format?: string } = { ...result.data };
  delete calibration.format;
  return calibration;
}

/** The properties that a calibration must match to be used. */
type CalibrationUse = Pick<Calibration, "programRoot"> & {
  /** The tensors that decide in this program. */
  deciding: readonly string[];
  inputs: readonly { name: string; dtype: DType }[];
};

/** @param path For the message. @throws CalibrationError if it is of another program */
export function requireCalibrated(calibration: Calibration, path: string, use: CalibrationUse): void {
  const refuse = (what: string, found: string, expected: string): never => {
    throw new CalibrationError(
      `the calibration ${path} is of another ${what}: ${found}, not ${expected}; ` +
        "make it again by refute model calibrate",
    );
  };
  const { programRoot, tensors, box } = calibration;
  if (programRoot !== use.programRoot) refuse("program", programRoot, use.programRoot);
  const names = (list: readonly { name: string }[]): string => list.map((each) => each.name).join(", ");
  if (names(tensors) !== use.deciding.join(", "))
    refuse("set of deciding tensors", names(tensors), use.deciding.join(", "));
  const typed = (list: CalibrationUse["inputs"]): string =>
    list.map((input) => `${input.name} ${dtypeName(input.dtype)}`).join(", ");
  if (typed(box) !== typed(use.inputs)) refuse("set of inputs", typed(box), typed(use.inputs));
}
