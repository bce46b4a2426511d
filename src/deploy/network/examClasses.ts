import json5 from "json5";
import { isHex, type Hex } from "viem";
import { z } from "zod/v4";
import type { ExamClass } from "../../chain/structs.ts";
import { FileError, readRegularFile } from "../../base/regularFile.ts";
import { DeployParametersError } from "../../chain/market/errors.ts";
import { packageFile } from "../../chain/market/packageFiles.ts";

/** More than a zoo of 16 classes needs. */
const MAX_BYTES = 2 ** 16;

/** The plan for an exams deployment. */
export type ExamPlan = {
  classes: readonly ExamClass[];
  /** One in `odds` grid blocks is an exam. */
  odds: number;
  /** The least distance of two exams, blocks. */
  spacing: number;
};

/** The zoo that comes with the package: models of npm packages. */
export const OWN_EXAM_PLAN = packageFile("ignition", "examClasses", "classes.json5");

const root = z.custom<Hex>((value) => isHex(value) && value.length === 66, "expected a program root: 32 bytes");
const schema = z
  .object({
    odds: z.number().int().min(1).max(65_536),
    spacing: z.number().int().min(256).max(1_048_576),
    classes: z
      .array(z.object({ programRoot: root, blocks: z.number().int().min(1).max(256) }).strict())
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
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new DeployParametersError(
    `the zoo file ${path} has ${issue!.path.join(".") || "the whole"}: ${issue!.message}`,
  );
}
