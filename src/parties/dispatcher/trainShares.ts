import { concatHex, keccak256, stringToHex, type Hex } from "viem";
import { Database } from "../../base/database/database.ts";
import { TRAINING } from "../../compiler/wraps/wrapTraining.ts";
import { DType, dtypeBytes, dtypeName } from "../../numerics/dtype.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { sha256, toHex } from "../../program/merkle/hash.ts";
import { product } from "../../program/sums.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { cutBatch, type Batch } from "./batch.ts";
import { costsOf } from "./costs.ts";
import { dispatch } from "./dispatcher.ts";
import { DispatchInputError } from "./errors.ts";
import type { DispatchOptions, DispatchTerms } from "./options.ts";
import { DispatchStore, MAX_OUTPUT_BYTES } from "./store.ts";
import type { TrainedStep, TrainingStore } from "./trainingStore.ts";

/** A training whose steps are computed by many workers. */
export type ShareTraining = {
  /** The run's id: every dispatcher derives the same id. */
  id: Hex;
  /** A share's program, and the joining program. */
  part: KnownProgram;
  join: KnownProgram;
  /** Shares per batch: a step's jobs, besides the joining job. */
  shares: number;
  steps: number;
  /**
   * Tensors by input names. Inputs with examples hold all steps' batches, one after the other; the weights and the
   * optimiser's state are the initial values. Feedbacks are not given: each begins with zeros.
   */
  inputs: ReadonlyMap<string, Uint8Array>;
};

/**
 * Describes a training over shares of each batch.
 * @throws DispatchInputError if programs, shares and inputs do not fit each other
 */
export function shareTraining(given: Omit<ShareTraining, "id">): ShareTraining {
  const { part, join, shares, steps, inputs } = given;
  requireJoin(given);
  for (const { name, dtype, shape } of [...part.model.outputs, ...join.model.outputs]) {
    const bytes = product(shape) * dtypeBytes(dtype);
    if (bytes > MAX_OUTPUT_BYTES)
      throw new DispatchInputError(
        `the output "${name}" has ${bytes} bytes, at most ${MAX_OUTPUT_BYTES}: train a smaller model`,
      );
  }
  const own = feedbacks(part);
  const requireInput = (name: string, expected: number): void => {
    const length = inputs.get(name)?.length;
    if (length !== expected)
      throw new DispatchInputError(
        `the input "${name}" has ${length ?? "no"} bytes, expected ${expected} for ${steps} steps of ${shares} shares`,
      );
  };
  part.model.inputs.forEach(({ name }, k) => {
    const input = part.model.program.inputs[k]!;
    if (!own.has(name)) requireInput(name, bytesOf(input) * (input.source?.kind === "each" ? shares * steps : 1));
  });
  join.model.inputs.forEach(({ name }, k) => {
    const input = join.model.program.inputs[k]!;
    if (!["each", "index"].includes(input.source?.kind ?? "shared")) requireInput(name, bytesOf(input));
  });
  const hashes = [...inputs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => toHex(sha256(bytes)));
  const roots = [part.model.programRoot, join.model.programRoot];
  return { ...given, id: keccak256(concatHex([...roots, stringToHex(`${shares} ${steps}`), ...hashes])) };
}

/**
 * Checks that a joining program takes the sums and scales of shares as the shares' program gives these.
 * @throws DispatchInputError naming the first input that does not fit
 */
function requireJoin({ part, join, shares }: Omit<ShareTraining, "id">): void {
  const refuse = (what: string): never => {
    throw new DispatchInputError(
      `the joining program is not one of ${shares} shares of these parts: ${what}: compile both anew, with one form ` +
        "of sums",
    );
  };
  const { inputs, program } = join.model;
  const text = ({ dtype, shape }: TensorInfo): string => `${dtypeName(dtype)} [${shape.join(", ")}]`;
  const after = new Set([...feedbacks(part).keys()].map((name) => TRAINING.next(name)));
  const outputs = new Map(part.model.outputs.map((output) => [output.name, output]));
  const taken = inputs.filter((_, k) => program.inputs[k]!.source?.kind === "each").map(({ name }) => name);
  if (taken.length === 0) refuse("no input takes sums of shares");
  for (const name of new Set([...taken, ...[...outputs.keys()].filter((name) => !after.has(name))])) {
    const [output, k] = [outputs.get(name), inputs.findIndex((input) => input.name === name)];
    if (output === undefined) return refuse(`the parts give no "${name}"`);
    if (k === -1) return refuse(`no input takes "${name}" of the parts`);
    const [has, expected] = [text(inputs[k]!), text({ ...output, shape: [shares, ...output.shape] })];
    if (has !== expected) refuse(`"${name}" is ${has}, the parts give ${expected}`);
    const [parts, joined] = [groupInPart(part, name), groupInJoin(join, k)];
    if (parts !== undefined && joined !== undefined && parts !== joined)
      refuse(`"${name}" has groups of ${joined} neighbours, the parts give groups of ${parts}`);
  }
}

/** The size of groups for the form `top=K`, from the feedback of a sum; undefined for other forms. */
function groupInPart({ model }: KnownProgram, sum: string): number | undefined {
  const elements = (name: string): number | undefined => {
    const output = model.outputs.find((each) => each.name === name && each.dtype === DType.float32);
    return output && product(output.shape);
  };
  const kept = elements(TRAINING.next(sum.replace("sum", "feedback")));
  const groups = elements(sum);
  return kept === undefined || groups === undefined ? undefined : kept / groups;
}

/** The size of groups for the form `top=K`, from the step adding a sum of all shares; undefined for other steps. */
function groupInJoin({ model }: KnownProgram, sum: number): number | undefined {
  const step = model.program.steps.find(({ inputs }) =>
    inputs.some((ref) => ref.kind === "input" && ref.index === sum),
  );
  const [groups, size, ...more] = step?.outDigits ?? [];
  return groups === model.inputs[sum]!.shape[1] && more.length === 0 ? size : undefined;
}

/** A share's feedbacks: the names of the inputs that a share's next step takes from outputs, with each one's bytes. */
export function feedbacks({ model }: KnownProgram): Map<string, number> {
  const outputs = new Set(model.outputs.map(({ name }) => name));
  return new Map(
    model.inputs.flatMap(({ name }, k) =>
      outputs.has(TRAINING.next(name)) ? [[name, bytesOf(model.program.inputs[k]!)] as const] : [],
    ),
  );
}

/** How a training is dispatched: like a batch, but each program's jobs have separate terms. */
export type ShareOptions = Omit<DispatchOptions, "batch" | "store" | "terms" | "openJobs"> & {
  /** Terms for a program's jobs; the budget covers all steps together. */
  termsOf: (program: KnownProgram) => DispatchTerms;
  /** Called after each step, and first for all steps finished by earlier processes. */
  onTrained?: (step: TrainedStep) => void;
};

/**
 * Trains over shares: for each step posts the shares as jobs, gathers their sums, posts the joining job, and goes on
 * with its state. Goes on where an earlier process ended, also in the middle of a step.
 * @returns the state after the last step, by the names of carried inputs, with the feedbacks of all shares
 * @throws DispatchInputError, and as `dispatch` does
 */
export async function trainShares(
  training: ShareTraining,
  store: TrainingStore,
  options: ShareOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const finished = store.steps();
  for (const step of finished) options.onTrained?.(step);
  for (let step = finished.length; step < training.steps; step++) {
    const spent = store.steps().reduce((sum, { fee }) => sum + fee, 0n);
    const trained = await trainStep({ training, store, options, spent }, step);
    // A kill in between leaves unread files.
    for (const kind of ["parts", "join"]) Database.remove(`${store.path}.${step}.${kind}`);
    options.onTrained?.(trained);
  }
  return store.state();
}

type Step = { training: ShareTraining; store: TrainingStore; options: ShareOptions; spent: bigint };

async function trainStep({ training, store, options, spent }: Step, step: number): Promise<TrainedStep> {
  const { part, join, shares, steps, inputs } = training;
  const state = store.state();
  const given = (name: string): Uint8Array => state.get(name) ?? inputs.get(name) ?? new Uint8Array(0);
  const own = feedbacks(part);
  const ofParts = part.model.inputs.map(({ name }, k) => {
    const feedback = own.get(name);
    if (feedback !== undefined) return state.get(name) ?? new Uint8Array(shares * feedback);
    const all = given(name);
    const size = part.model.program.inputs[k]!.source?.kind === "each" ? all.length / steps : all.length;
    return size === all.length ? all : all.subarray(step * size, (step + 1) * size);
  });
  const name = `${training.id} ${step}`;
  const parts = cutBatch({ program: part, inputs: ofParts, items: shares, partItems: 1, name });
  const made = await dispatched(parts, `${store.path}.${step}.parts`, options, spent);
  const ofJoin = join.model.inputs.map((input) => made.outputs.get(input.name) ?? given(input.name));
  const joining = cutBatch({ program: join, inputs: ofJoin, items: 1, partItems: 1, firstItem: step, name });
  const joined = await dispatched(joining, `${store.path}.${step}.join`, options, spent + made.fee);
  const next = new Map(
    [...join.model.inputs, ...part.model.inputs].flatMap(({ name }) => {
      const after = TRAINING.next(name);
      const bytes = joined.outputs.get(after) ?? made.outputs.get(after);
      return bytes === undefined ? [] : [[name, bytes] as const];
    }),
  );
  const sums = join.model.inputs.map(({ name }) => made.outputs.get(name)?.length ?? 0);
  const trained = {
    step,
    loss: new Float32Array(Uint8Array.from(joined.outputs.get(TRAINING.loss)!).buffer)[0]!,
    ...{ fee: made.fee + joined.fee, gas: made.gas + joined.gas, jobs: made.jobs + joined.jobs },
    bytes: sums.reduce((sum, length) => sum + length, 0),
  };
  store.finish(trained, next);
  return trained;
}

/** Results from a program's jobs: outputs by name, all items one after the other. */
type Dispatched = { outputs: ReadonlyMap<string, Uint8Array>; fee: bigint; gas: number; jobs: number };

async function dispatched(batch: Batch, path: string, options: ShareOptions, spent: bigint): Promise<Dispatched> {
  const { session, termsOf } = options;
  const { chainId, market } = session.deployment;
  const store = await DispatchStore.open(path, { batch: batch.id, chainId, market, requester: session.sender.address });
  try {
    const terms = termsOf(batch.program);
    const left = { ...terms, budget: terms.budget - spent };
    await dispatch({ ...options, batch, store, terms: left, openJobs: batch.parts.length });
    options.signal?.throwIfAborted();
    const { fee, gas, parts } = costsOf(batch, store);
    const claims = new Map(store.done().map(({ part, claim }) => [part, claim]));
    const outputs = batch.program.model.outputs.map(({ name }, output): [string, Uint8Array] => [
      name,
      concatenated(batch.parts.map(({ number }) => store.output(number, claims.get(number)!, 0, output)!)),
    ]);
    return { outputs: new Map(outputs), fee, gas, jobs: parts.reduce((sum, { attempts }) => sum + attempts, 0) };
  } finally {
    store.close();
  }
}
