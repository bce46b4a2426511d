/** Executes the programs of the zoo on many nonces, and says whether they are those of the zoo file. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod/v4";
import { compile } from "../../../src/compiler/compile.ts";
import { OWN_EXAM_PLAN, readExamPlan } from "../../../src/deploy/network/examClasses.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { compileOptions, modelSpecOf } from "../../../src/runs/programs/compileOptions.ts";
import { loadModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { readOptions, whole } from "../../options.ts";
import { checkClassProgram } from "./check.ts";

const { nonces } = readOptions({ nonces: whole("nonces of each program", 20) });
const roots = new Set(readExamPlan(OWN_EXAM_PLAN).classes.map(({ programRoot }) => programRoot.toLowerCase()));

const MODELS = "ignition/examClasses/models.json";
const models = z
  .array(z.object({ path: z.string(), ...compileOptions }).strict())
  .parse(JSON.parse(readFileSync(MODELS, "utf8")));
for (const { path, ...options } of models) {
  const spec = modelSpecOf(resolve(dirname(MODELS), path), options);
  const program = knownProgram(compile(loadModel(spec).model, { shapes: spec.shapes }));
  const { roots: traces, results, nans, milliseconds } = await checkClassProgram(program, nonces);
  const isExamClass = roots.has(program.model.programRoot);
  if (!isExamClass || nans > 0 || traces < nonces || results < nonces) process.exitCode = 1;
  const name = spec.path.split("/").at(-1);
  console.log(
    `${name} ${JSON.stringify(spec.drawn)}: ${isExamClass ? "in the zoo" : "NOT IN THE ZOO"}; of ${nonces} nonces ` +
      `${traces} traces, ${results} last checkpoints, ${nans} with NaN; ${milliseconds.toFixed(0)} ms`,
  );
}
