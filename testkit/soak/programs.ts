import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { estimateStepProof } from "../../src/program/gas.ts";
import { DEFAULT_STEP_BYTES } from "../../src/program/limits.ts";
import { readHeader } from "../../src/program/header.ts";
import { programRoot } from "../../src/program/root.ts";
import type { Checkpoint, Program, Step } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { JobProgramError } from "../../src/parties/requester/errors.ts";
import { requireAnswerable } from "../../src/parties/requester/jobLimits.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Prng } from "../random/prng.ts";
import { randomProgram } from "../programs/randomProgram.ts";
import { randomSums, sumsInput } from "../programs/randomSums.ts";
import { runInputBytes, runProgram } from "../programs/runProgram.ts";
import { executedRun } from "./executedRun.ts";
import { jobBytes, randomLength, wired } from "./wiring.ts";

/** A one-item program, with inputs and the tensors by definition. */
export type DrawnProgram = { known: KnownProgram; inputs: readonly Uint8Array[]; tensors: readonly Uint8Array[] };

/** A job: a program with the inputs for all items, the form of claims, and the right execution by definition. */
export type SoakProgram = { known: KnownProgram; inputs: RunInputs; form: ClaimForm; right: RunExecution };

/** The maximum gas of a step's proof: larger ones only make games slower. */
const MAX_STEP_GAS = 2_500_000;
/** The maximum size of inputs posted with a job, bytes. Larger inputs would not fit one transaction. */
const MAX_INPUT_BYTES = 30_000;

/**
 * Draws a random program with random checkpoints. Half the programs add integers in chains with deep lists. The other
 * half have random steps of every kind.
 */
export function drawProgram(prng: Prng): DrawnProgram {
  for (;;) {
    const drawn =
      prng.below(2) === 0 ? sumsProgram(prng) : withCheckpoints(prng, randomProgram(prng, 1 + prng.below(5)));
    const { steps } = drawn.model.program;
    const proofs = steps.map(estimateStepProof);
    const maxStepGas = Math.max(...proofs.map(({ gas }) => gas));
    const maxStepBytes = Math.max(...proofs.map((proof) => proof.bytes));
    const bytes = drawn.inputs.reduce((sum, input) => sum + input.length, 0);
    const provable = maxStepGas <= MAX_STEP_GAS && maxStepBytes <= DEFAULT_STEP_BYTES;
    if (!provable || bytes > MAX_INPUT_BYTES || drawn.inputs.length === 0) continue;
    const model = withProgram(drawn.model, { ...drawn.model.program, maxStepGas, maxStepBytes });
    return { known: knownProgram(model), inputs: drawn.inputs, tensors: executeReference(model, drawn.inputs) };
  }
}

/**
 * Draws a run with random length and wiring, from a random program or from the program whose steps read every kind of
 * source. If answers are possible, half of the claims are answers.
 */
export function soakProgram(prng: Prng): SoakProgram {
  for (;;) {
    const length = randomLength(prng);
    const { items } = length;
    const inputs = prng.below(4) === 0 ? wholeRun(prng, items) : wiredRun(prng, items);
    const { known, bytes } = inputs;
    if (bytes.reduce((sum, { length }) => sum + length, 0) > MAX_INPUT_BYTES) continue;
    const run = new RunInputs(known.model.program.inputs, length, bytes);
    const form = prng.below(2) === 0 && isAnswerable(known, items) ? "answer" : "trace";
    return { known, inputs: run, form, right: executedRun({ known, inputs: run, form }) };
  }
}

/** Returns true if a market takes answer jobs for a run: see `requireAnswerable`. */
function isAnswerable({ commitment }: KnownProgram, items: number): boolean {
  try {
    requireAnswerable(readHeader(commitment.header), items);
    return true;
  } catch (error) {
    if (error instanceof JobProgramError) return false;
    throw error;
  }
}

/** A program with the input bytes for all items. */
type Job = { known: KnownProgram; bytes: readonly Uint8Array[] };

/** Returns a job for the program whose steps read every kind of source. */
const wholeRun = (prng: Prng, items: number): Job => ({
  known: runProgram(prng.pick(["two", "one", "step"])),
  bytes: runInputBytes(items),
});

/** Returns a job with a random program and random sources. */
function wiredRun(prng: Prng, items: number): Job {
  const { known, inputs } = drawProgram(prng);
  const program = wired(prng, known.model.program);
  validateProgram(program);
  const model = withProgram(known.model, program);
  return {
    known: knownProgram(model),
    bytes: program.inputs.map((input, k) => jobBytes(prng, input, items, inputs[k]!)),
  };
}

function sumsProgram(prng: Prng): { model: CompiledModel; inputs: Uint8Array[] } {
  const model = randomSums(prng, 1 + prng.below(16));
  return { model, inputs: [sumsInput(prng, model)] };
}

/**
 * Marks random tensors, always including the last tensor, as checkpoints. Gives each checkpoint a range closed under
 * reads.
 */
function withCheckpoints(
  prng: Prng,
  { model, inputs }: { model: CompiledModel; inputs: Uint8Array[] },
): { model: CompiledModel; inputs: Uint8Array[] } {
  const { steps } = model.program;
  // Words of exact sums cannot be an output.
  const last = steps.findLastIndex(({ dtype }) => dtype !== DType.limb);
  if (last === -1) return { model, inputs: [] };
  const marked = steps.flatMap((_, s) => (s === last || prng.below(3) === 0 ? [s] : []));
  const checkpoints = marked.map((step): Checkpoint => ({ first: firstOf(prng, steps, marked, step), step }));
  const outputs = [marked.indexOf(last)];
  const program: Program = { ...model.program, checkpoints, outputs };
  validateProgram(program);
  const output = { name: "output", dtype: steps[last]!.dtype, shape: [steps[last]!.count] };
  return { model: withProgram({ ...model, outputs: [output] }, program), inputs };
}

/** Returns the first step of a checkpoint's range: the latest step that the reads allow, or any earlier step. */
function firstOf(prng: Prng, steps: readonly Step[], marked: readonly number[], step: number): number {
  let first = prng.below(3) === 0 ? prng.below(step + 1) : step;
  for (let s = step; s >= first; s--) {
    for (const ref of steps[s]!.inputs) {
      if (ref.kind === "step" && ref.index < first && !marked.includes(ref.index)) first = ref.index;
    }
  }
  return first;
}

const withProgram = (model: CompiledModel, program: Program): CompiledModel => ({
  ...model,
  program,
  programRoot: programRoot(program),
});
