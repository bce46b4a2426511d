import json5 from "json5";
import { isHex, type Hex } from "viem";
import { z } from "zod/v4";
import type { ExamClass } from "../../chain/structs.ts";
import { FileError, readRegularFile } from "../../base/regularFile.ts";
import { DeployParametersError } from "../../chain/market/errors.ts";
import { packageFile } from "../../chain/market/packageFiles.ts";

/** More than a zoo of 16 classes needs. */
const MAX_BYTES = 2 ** 16;

/**
 * The measured times, in seconds, behind a class that only a GPU can hold. Without them the class says nothing: it is
 * not calibrated.
 */
type Calibration = {
  /** Model and driver. */
  gpu: string;
  /** The slowest GPU that should hold the class. */
  gpuSeconds: number;
  /** The fastest machine without a GPU. */
  cpuSeconds: number;
  /** The slowest machine that watches. */
  watcherSeconds: number;
  /** The time of a block on the chain. */
  blockSeconds: number;
};

type PlannedClass = ExamClass & { gpu?: Calibration | "not calibrated" | undefined };

/** The plan for an exams deployment. */
export type ExamPlan = {
  classes: readonly PlannedClass[];
  /** One in `odds` grid blocks is an exam. */
  odds: number;
  /** The least distance of two exams, blocks. */
  spacing: number;
};

/** The zoo that comes with the package: models of npm packages. */
export const OWN_EXAM_PLAN = packageFile("ignition", "examClasses", "classes.json5");

const seconds = z.number().positive();
const calibration = z
  .object({
    gpu: z.string().min(1),
    ...{ gpuSeconds: seconds, cpuSeconds: seconds, watcherSeconds: seconds, blockSeconds: seconds },
  })
  .strict();
const root = z.custom<Hex>((value) => isHex(value) && value.length === 66, "expected a program root: 32 bytes");
const schema = z
  .object({
    odds: z.number().int().min(1).max(65_536),
    spacing: z.number().int().min(256).max(1_048_576),
    classes: z
      .array(
        z
          .object({
            programRoot: root,
            blocks: z.number().int().min(1).max(256),
            gpu: z.union([z.literal("not calibrated"), calibration]).optional(),
          })
          .strict(),
      )
      .min(1)
      .max(16),
  })
  .strict();

/** Reads a zoo file: JSON5, `{ odds, spacing, classes: [{ programRoot, blocks }] }`. @throws DeployParametersError */
export function readExamPlan(path: string): ExamPlan {
  let json: unknown;
  try {
    json = json5.parse(new TextDecoder().decode(readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    const what = cause instanceof FileError ? cause.message : "is not JSON5";
    throw new DeployParametersError(`the zoo file ${path} ${what}`, { cause });
  }
  const result = schema.safeParse(json);
  if (result.success) {
    result.data.classes.forEach((each, k) => requireCalibrated(each, k, result.data.spacing, path));
    return result.data;
  }
  const [issue] = result.error.issues;
  throw new DeployParametersError(
    `the zoo file ${path} has ${issue!.path.join(".") || "the whole"}: ${issue!.message}`,
  );
}

/** A GPU's task may take this part of T, as "What exams catch" of docs/provisioning.md measures. */
const MOST_OF_T = 0.75;
/** A machine without a GPU must need this much of T. */
const LEAST_OF_T = 2;
const DAY = 86_400;
/** The exams after which a result cannot be challenged any more. */
const MEMORY = 16;

/** @throws DeployParametersError if a class for GPUs is not calibrated, or its times show nothing */
function requireCalibrated({ blocks, gpu }: PlannedClass, k: number, spacing: number, path: string): void {
  const refuse = (what: string): never => {
    throw new DeployParametersError(`the zoo file ${path} has classes.${k}, which ${what}`);
  };
  if (gpu === undefined) return;
  if (gpu === "not calibrated")
    return refuse("is for GPUs and not calibrated: measure it (npm run measure -- gpu), or leave it out");
  const time = blocks * gpu.blockSeconds;
  const challenge = Math.min(DAY, MEMORY * spacing * gpu.blockSeconds);
  if (gpu.gpuSeconds > MOST_OF_T * time)
    refuse(`gives ${time} s, and ${gpu.gpu} takes ${gpu.gpuSeconds} s of them: give more blocks, or a smaller task`);
  if (gpu.cpuSeconds < LEAST_OF_T * time)
    refuse(`gives ${time} s, and without a GPU it takes ${gpu.cpuSeconds} s: give fewer blocks, or a larger task`);
  if (2 * gpu.watcherSeconds > challenge)
    refuse(
      `a watcher executes in ${gpu.watcherSeconds} s, and results can be challenged for ${challenge} s: take a ` +
        "smaller task, of at most half of this time",
    );
}
