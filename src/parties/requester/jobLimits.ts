import type { Parameters, Terms } from "../../chain/structs.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { HeaderFacts } from "../../program/header.ts";
import { HEADER_BYTES } from "../../program/limits.ts";
import { carriesState, MAX_ITEMS, runWork } from "../../program/run.ts";
import { JobProgramError, JobTermsError } from "./errors.ts";

/** Outputs of a program, at most (contracts/market/MarketParameters.sol). */
const MAX_OUTPUTS = 64;
/** Maximum bytes in an output delivered on chain, and in a part of an input (contracts/market/Inputs.sol). */
export const PART_BYTES = 65_536;
/**
 * Maximum number of tensors posted in one transaction: each tensor takes about 2,700 gas for the tree and the place in
 * the lists. Tensors and bytes together stay below 12,000,000 gas.
 */
const MAX_POSTED_TENSORS = 4_000;

/** Returns true if all posted inputs of a job fit into the transaction that posts the job. */
export const isPostedWhole = (tensors: number, bytes: number): boolean =>
  tensors <= MAX_POSTED_TENSORS && bytes <= PART_BYTES;

type Limits = Pick<Parameters, "maxStepGas" | "maxStepBytes" | "maxWork">;

/**
 * Checks, like the market, that a deployment accepts jobs for a program.
 * @param header Bytes of the program's header.
 * @param items Number of items in the run.
 * @throws JobProgramError that names the oversized value, both figures, and the remedy
 */
export function requireServed(
  { maxStepGas, maxStepBytes, maxWork }: Limits,
  program: HeaderFacts,
  header: number,
  items = 1,
): void {
  if (program.maxStepBytes > maxStepBytes)
    throw new JobProgramError(
      `the program's largest step proof is a transaction of up to ${program.maxStepBytes} bytes, ` +
        `this deployment takes up to ${maxStepBytes}: compile with --step-bytes ${maxStepBytes} (stepByteLimit)`,
    );
  if (program.maxStepGas > maxStepGas)
    throw new JobProgramError(
      `the program's largest step proof takes ${program.maxStepGas} gas, this deployment takes up to ${maxStepGas}: ` +
        `compile with stepGasLimit ${maxStepGas}`,
    );
  const work = runWork(items, program.work);
  if (work > maxWork)
    throw new JobProgramError(
      items === 1
        ? `the program's work is ${work} units, this deployment takes up to ${maxWork}: compile for smaller shapes`
        : `the work of ${items} items is ${work} units, this deployment takes up to ${maxWork}: ask for fewer items`,
    );
  if (program.outputs.length > MAX_OUTPUTS)
    throw new JobProgramError(
      `the program has ${program.outputs.length} outputs, a market takes up to ${MAX_OUTPUTS}: ` +
        "leave some out of the graph",
    );
  if (header > HEADER_BYTES.max)
    throw new JobProgramError(
      `the program's header has ${header} bytes, a market takes up to ${HEADER_BYTES.max}: ` +
        "give the model fewer inputs and outputs",
    );
}

/** Outputs of a program whose claims are answers, at most (contracts/market/MarketParameters.sol). */
const MAX_ANSWERS = 16;

/**
 * Checks that claims on a program's jobs can be answers: the program has at most 16 outputs, and if items carry state,
 * every output belongs to the last item. Otherwise nobody could show an output's item in the run.
 * @param items Number of items in the run.
 * @throws JobProgramError
 */
export function requireAnswerable({ inputs, outputs }: HeaderFacts, items: number): void {
  if (outputs.length > MAX_ANSWERS)
    throw new JobProgramError(
      `the program has ${outputs.length} outputs, and an answer up to ${MAX_ANSWERS}: ` +
        "leave some out of the graph, or leave out answer (--answer)",
    );
  const each = outputs.findIndex((output) => output.each);
  if (items > 1 && each !== -1 && carriesState(inputs))
    throw new JobProgramError(
      `output ${each} is one that each item has, and items carry state: an answer needs outputs of the last item; ` +
        "leave out answer (--answer)",
    );
}

/**
 * Checks that a proof can end claims on a job, if the terms name a key: a proof says nothing about traces, nor about
 * other inputs than the items share.
 * @throws JobTermsError that names the term
 */
export function requireProvable(
  { inputs }: HeaderFacts,
  { items, answer, callbackGas }: { items: number; answer: boolean; callbackGas: number },
  { keyHash, openFrom }: Terms,
): void {
  if (BigInt(keyHash) === 0n) return;
  const unshared = inputs.findIndex(({ source }) => source.kind !== "shared");
  const why = !answer
    ? "a proof shows outputs and no trace: ask for an answer (answer; --answer)"
    : items !== 1
      ? `a proof is about one item, not ${items}: post a job for each`
      : unshared !== -1
        ? `input ${unshared} is not one that items share: compile without the description of a run`
        : openFrom !== 0
          ? "a proof would show what is sealed: leave out openFrom"
          : callbackGas === 0
            ? undefined
            : "contracts take proven results by requireProven: leave out callbackGas (--callback-gas)";
  if (why !== undefined) throw new JobTermsError(`the key ${keyHash} cannot be used: ${why}`);
}

/** The numbers in a job's terms, each with the range allowed by the contracts' types and limits. */
const TERMS = {
  items: [1n, BigInt(MAX_ITEMS)],
  firstItem: [0n, 2n ** 32n - 1n],
  fee: [0n, 2n ** 128n - 1n],
  claimSeconds: [1n, 2n ** 32n - 1n],
  deadline: [0n, 2n ** 64n - 1n],
  // contracts/market/MarketParameters.sol
  callbackGas: [0n, 2_000_000n],
} as const;

/** Checks the numbers of a job's terms, whatever the deployment. @throws JobTermsError that names the one */
export function requireTerms(terms: Record<keyof typeof TERMS, number | bigint>): void {
  for (const name of Object.keys(TERMS) as (keyof typeof TERMS)[]) {
    const [value, [min, max]] = [terms[name], TERMS[name]];
    const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
    if (!isWhole || value < min || value > max)
      throw new JobTermsError(`${name} ${value}: expected a whole number from ${min} to ${max}`);
  }
}

/** Checks a job's limit for outputs that are delivered on chain. @throws JobTermsError */
export function requireDeliverable(maxOutputBytes: number): void {
  if (!Number.isInteger(maxOutputBytes) || maxOutputBytes < 0 || maxOutputBytes > PART_BYTES)
    throw new JobTermsError(
      `maxOutputBytes ${maxOutputBytes}: a market delivers outputs of up to ${PART_BYTES} bytes on chain; ` +
        "larger ones travel off chain",
    );
}

/**
 * Checks that a job whose terms ask for outputs on chain gets any: one with a callback, or with a limit above 0.
 * @throws JobTermsError that names the smallest output
 */
export function requireDelivered(
  { outputs }: HeaderFacts,
  { callbackGas = 0, maxOutputBytes }: { callbackGas?: number; maxOutputBytes?: number },
): void {
  if (callbackGas === 0 && !maxOutputBytes) return;
  const sizes = outputs.map(({ dtype, count, each }) => (each ? Infinity : count * dtypeBytes(dtype)));
  const smallest = Math.min(...sizes);
  if (smallest <= (maxOutputBytes ?? PART_BYTES)) return;
  const why =
    smallest === Infinity
      ? "each item has outputs of its own, and those stay off the chain"
      : `the smallest output has ${smallest} bytes`;
  throw new JobTermsError(
    `maxOutputBytes ${maxOutputBytes ?? PART_BYTES} delivers no output, and no callback comes: ${why}; give at most ` +
      `${PART_BYTES}, or 0 and no callbackGas for outputs off the chain`,
  );
}

/** Checks a job's window against the deployment's bounds for its program, all in seconds. @throws JobTermsError */
export function requireWindow(window: number, min: number, { maxWindow }: Pick<Parameters, "maxWindow">): void {
  if (!Number.isInteger(window) || window < min || window > maxWindow)
    throw new JobTermsError(
      `window (--window) of ${window} s: this deployment takes ${min} to ${maxWindow} s for this program`,
    );
}
