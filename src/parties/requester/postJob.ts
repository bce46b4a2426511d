import { formatEther, hexToBytes, size, zeroAddress, zeroHash, type Hex } from "viem";
import { postedJob } from "../../chain/clients/jobMarket.ts";
import { ContractRevertError, ShortOfFundsError } from "../../chain/errors.ts";
import { pause } from "../../chain/pause.ts";
import { workSeconds } from "../../chain/market/clock.ts";
import { inputFile } from "../../chain/market/inputFile.ts";
import { referenceSuffix } from "../../chain/market/references.ts";
import type { Session } from "../../chain/market/session.ts";
import { JobStatus, type Job, type JobRequest, type Terms } from "../../chain/structs.ts";
import { RefuteError } from "../../base/errors.ts";
import { toHex } from "../../program/merkle/hash.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { tensorTree } from "../../program/merkle/tensor.ts";
import { readHeader, type HeaderFacts } from "../../program/header.ts";
import { ONE_ITEM, runWork } from "../../program/run.ts";
import { RunInputs, tensorsOf } from "../../program/trace/runInputs.ts";
import { elementsOf, factsOf, requireGenuine, type ProgramDescription } from "./description.ts";
import { FeeTooLowError, JobIncompleteError, JobInputError, JobTermsError } from "./errors.ts";
import {
  isPostedWhole,
  PART_BYTES,
  requireAnswerable,
  requireDeliverable,
  requireDelivered,
  requireProvable,
  requireServed,
  requireTerms,
  requireWindow,
} from "./jobLimits.ts";
import { bytesPerElement } from "./typedArrays.ts";

/** Rare terms; an omitted term requires nothing. `collateral` is at least the deployment's minimum. */
export type RareTerms = Pick<Terms, "collateral"> & Partial<Terms>;

/** A requester's demands and payment. Amounts in the smallest unit of the stake asset, times in seconds. */
export type JobTerms = {
  /** Number of executions of the program: a run of 1 to 65,536 items, default 1. */
  items?: number;
  /** The first item's value for an index input, default 0. */
  firstItem?: number;
  /** More than 0. Workers ask for what the job's gas costs them (`coveringFee` in src/dispute/jobCost.ts), and more. */
  fee: bigint;
  /** In which watchers may dispute; the deployment has a minimum, see `minWindow`. */
  window: number;
  /** That a worker has from claim to submission. */
  claimSeconds: number;
  /** Unix time by which a submission must be due. */
  deadline: bigint;
  /** Gas for `onResult` on a requester contract; 0 for no callback. */
  callbackGas?: number;
  /** Outputs up to this size are delivered on chain, bytes: 65,536 if it is left out, and at most. */
  maxOutputBytes?: number;
  /**
   * True if workers submit only the outputs' roots, and reveal the path to the outputs only in a dispute; false by
   * default. See {@link requireAnswerable}.
   */
  answer?: boolean;
  /**
   * Locations of the inputs, if the inputs stay off chain: `https://...`, `ipfs://CID`, `s3://BUCKET/KEY`. Each place
   * must return the bytes of `packInputs` until all disputes are over. Such a job protects only parties that have
   * fetched the inputs, or still can: if nobody can, nobody refutes a wrong claim.
   */
  references?: readonly string[];
  salt?: Hex;
  /** Rare terms: collateral above the minimum, or a limit on who may claim. None by default. */
  rare?: RareTerms;
};

/** The largest counted number for refuted claims and missed deadlines. */
const ANY_NUMBER = 65_535;

/** How often a part is tried while what fails may pass, and the pause between. */
const MAX_TRIES = 4;
const PAUSE_MS = 1_000;

/** Levels under a full part of an input: 128 chunks of 512 bytes. */
const PART_LEVELS = 7;

/** Defaults for a requester's optional terms: one item, no callback, and every deliverable output delivered. */
export const DEFAULT_TERMS = { ...ONE_ITEM, callbackGas: 0, maxOutputBytes: PART_BYTES, answer: false } as const;

/** Returns the number of output roots in the job's claims: all in answer form, none in trace form. */
export const answersOf = ({ answer = false }: Pick<JobTerms, "answer">, outputs: number): number =>
  answer ? outputs : 0;

/** The shortest window that a deployment takes for a program. @param items Of the run. */
export const minWindow = (
  { deployment: { parameters } }: Pick<Session, "deployment">,
  { work }: Pick<ProgramDescription, "work">,
  items = 1,
): number => parameters.baseWindow + workSeconds(runWork(items, BigInt(work)), parameters.rate);

/** Seconds that workers need besides an execution: for waiting on blocks, other claims, a restart. */
const SPARE_SECONDS = 1_800;

/** The seconds from claim to submission that leave a worker time to spare. @param items Of the run. */
export const usualClaimSeconds = (
  { deployment: { parameters } }: Pick<Session, "deployment">,
  { work }: Pick<ProgramDescription, "work">,
  items = 1,
): number => SPARE_SECONDS + workSeconds(runWork(items, BigInt(work)), parameters.rate);

/** Called with the number of input parts on chain, and the total number of parts. */
type PartsProgress = (done: number, total: number) => void;

/**
 * Checks a job without paying: the program, the inputs, the terms, and whether the market would accept the job now,
 * apart from the fee. A contract's job too: `jobRequest` checks nothing.
 * @throws JobInputError, DescriptionError, JobProgramError, JobTermsError, FeeTooLowError, ContractRevertError
 */
export async function checkJob(
  session: Session,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: JobTerms,
): Promise<void> {
  checkLocally(session, program, inputs, terms);
  // Without a fee, no credit is needed.
  await session.market.checkPost({ ...jobRequest(program, inputs, terms), fee: 0n });
}

/**
 * Posts a job; the fee comes from the sender's credit in the vault. Inputs up to 64 KiB in total go with the post,
 * larger inputs follow in parts; the job opens when all bytes are on chain. For inputs elsewhere (`references`) only
 * the roots go on chain, and the job opens at once.
 * @param inputs The inputs in the program's order, in the format of `encodeInputs`: little-endian, row-major. An
 *   input with a separate tensor per item holds all items' tensors in order; an index input holds no bytes. Carried
 *   state beginning with zeros is not posted, at any size.
 * @param progress Called after each part.
 * @throws JobInputError, DescriptionError, JobProgramError, JobTermsError, FeeTooLowError, ContractRevertError,
 *   ShortOfFundsError if the credit is below the fee (`deposit`); once the job is posted, JobIncompleteError
 */
export async function postJob(
  session: Session,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: JobTerms,
  progress?: PartsProgress,
): Promise<{ jobId: Hex; job: Job }> {
  checkLocally(session, program, inputs, terms);
  await requireCallable(session, terms);
  const run = runInputs(program, inputs, terms);
  const suffix = terms.references && referenceSuffix(terms.references);
  const receipt = await session.market.post(requestOf(program, run, terms), suffix).catch((error: unknown) => {
    throw shortOfCredit(error, session, terms) ?? error;
  });
  const { jobId, job } = postedJob(receipt);
  if (job.rootOnly || goTogether(postedOf(program, run))) return { jobId, job };
  await publishParts(session, program, run, job, progress).catch((cause: unknown) => {
    throw new JobIncompleteError(
      job,
      `job ${jobId} is posted, but its input is not all on chain (${(cause as Error).message}): ` +
        `cancel the job, and its fee comes back`,
      { cause },
    );
  });
  return { jobId, job };
}

/**
 * Publishes the missing inputs of a posted job, for example after the process was killed between parts. Parts already
 * on chain cost nothing.
 * @param inputs As for `postJob`.
 * @throws ContractRevertError, RpcUnavailableError
 */
export const publishInputs = (
  session: Session,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  job: Job,
  progress?: PartsProgress,
): Promise<void> =>
  publishParts(
    session,
    program,
    new RunInputs(readHeader(hexToBytes(program.header)).inputs, job, inputs),
    job,
    progress,
  );

/**
 * Runs all checks on a job that need no node.
 * @throws JobInputError, DescriptionError, JobProgramError, JobTermsError, FeeTooLowError
 */
export function checkLocally(
  session: Pick<Session, "deployment">,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: JobTerms,
): void {
  const { parameters } = session.deployment;
  const { items = 1 } = terms;
  const facts = requireGenuine(program);
  checkFee(terms);
  requireTerms({ ...DEFAULT_TERMS, ...terms });
  requireServed(parameters, facts, size(program.header), items);
  checkInputs(program, facts, inputs, items);
  requireDeliverable(terms.maxOutputBytes ?? PART_BYTES);
  requireDelivered(facts, terms);
  if (terms.answer === true) requireAnswerable(facts, items);
  if (terms.rare !== undefined) requireProvable(facts, { ...DEFAULT_TERMS, ...terms }, completeTerms(terms.rare));
  requireWindow(terms.window, minWindow(session, program, items), parameters);
  if (terms.references !== undefined) referenceSuffix(terms.references);
}

/**
 * The inputs of a job as one file: what its `references` must give.
 * @param inputs As for `postJob`. @param items Of the run.
 * @throws JobInputError, DescriptionError
 */
export function packInputs(program: ProgramDescription, inputs: readonly Uint8Array[], items = 1): Uint8Array {
  checkInputs(program, requireGenuine(program), inputs, items);
  return inputFile(runInputs(program, inputs, { items }));
}

/** Returns the posted tensors of each input. */
const postedOf = ({ inputs }: ProgramDescription, run: RunInputs): (readonly Uint8Array[])[] =>
  inputs.map((_, input) => run.posted(input));

/** Returns true if all posted inputs fit into the transaction that posts the job. */
const goTogether = (posted: readonly (readonly Uint8Array[])[]): boolean =>
  isPostedWhole(
    posted.flat().length,
    posted.flat().reduce((sum, { length }) => sum + length, 0),
  );

/**
 * Returns a job's request for a contract that calls the market: includes the inputs if the transaction has room. The
 * function checks nothing; `postJob` checks for accounts that call the market directly.
 */
export const jobRequest = (program: ProgramDescription, inputs: readonly Uint8Array[], terms: JobTerms): JobRequest =>
  requestOf(program, runInputs(program, inputs, terms), terms);

/** Terms as contracts take them. */
export const completeTerms = (rare: RareTerms): Terms => ({
  reservedFor: zeroAddress,
  group: zeroHash,
  spread: 0,
  openFrom: 0,
  earlyAccept: false,
  since: 0,
  maxRefuted: ANY_NUMBER,
  maxLate: ANY_NUMBER,
  manufacturer: zeroHash,
  classes: zeroAddress,
  class: 0,
  keyHash: zeroHash,
  ...rare,
});

function requestOf(program: ProgramDescription, run: RunInputs, { rare, references, ...given }: JobTerms): JobRequest {
  const posted = postedOf(program, run);
  const rootOnly = references !== undefined;
  return {
    ...DEFAULT_TERMS,
    salt: toHex(crypto.getRandomValues(new Uint8Array(32))),
    rootOnly,
    ...given,
    terms: rare === undefined ? [] : [completeTerms(rare)],
    program: factsOf(program),
    inputRoots: run.roots,
    inputs: !rootOnly && goTogether(posted) ? posted.map((tensors) => toHex(concatenated(tensors))) : [],
  };
}

/** Returns the inputs in the form for a job's items. */
const runInputs = (
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: Pick<JobTerms, "items" | "firstItem">,
): RunInputs => new RunInputs(readHeader(hexToBytes(program.header)).inputs, { ...ONE_ITEM, ...terms }, inputs);

async function publishParts(
  { market }: Session,
  program: ProgramDescription,
  inputs: RunInputs,
  job: Job,
  progress?: PartsProgress,
): Promise<void> {
  const tensors = postedOf(program, inputs);
  const total = tensors.flat().reduce((sum, { length }) => sum + partsOf(length), 0);
  let done = 0;
  const facts = factsOf(program);
  for (const [input, ofItems] of tensors.entries()) {
    for (const [item, bytes] of ofItems.entries()) {
      const tree = tensorTree(bytes);
      for (let part = 0; part < partsOf(bytes.length); part++) {
        const published = {
          input,
          part: item * partsOf(bytes.length) + part,
          data: toHex(bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)),
          siblings: tree.path(part, Math.min(tree.depth, PART_LEVELS)),
          inputRoot: tree.root,
          inputSiblings: inputs.path(input, item),
        };
        await publishPart(() => market.publishInput(job, facts, published));
        progress?.(++done, total);
      }
    }
  }
}

/** Parts of a tensor. */
const partsOf = (bytes: number): number => Math.ceil(bytes / PART_BYTES);

/**
 * Waits until any account has published a part. Anybody may publish the part: a copied transaction may come first, and
 * then the own transaction fails before sending or in the block. The fee is already paid, and a passing error should
 * not end the job.
 * @throws any other error, or a passing error after `MAX_TRIES` attempts
 */
async function publishPart(publish: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await publish();
      return;
    } catch (error) {
      const { status, mayPass } = refusalOf(error);
      if (status !== undefined && status > JobStatus.awaitingInput && status !== JobStatus.closed) return;
      if (!mayPass || tries === MAX_TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** Reads a part's error: the job's status, and whether the error may pass. */
function refusalOf(error: unknown): { status?: number; mayPass: boolean } {
  if (!(error instanceof ContractRevertError)) return { mayPass: error instanceof RefuteError && error.retryable };
  // The part is on chain: treat the job as open.
  if (error.errorName === "PartAlreadyPublished") return { status: JobStatus.open, mayPass: false };
  if (error.errorName !== "WrongJobStatus") return { mayPass: false };
  const status = error.args[1] as number;
  // A node that lags does not know the job yet.
  return { status, mayPass: status === JobStatus.none };
}

/** A callback calls whoever posts. @throws JobTermsError if that is no contract */
async function requireCallable({ publicClient, sender: { address } }: Session, { callbackGas = 0 }: JobTerms) {
  if (callbackGas === 0 || (await publicClient.getCode({ address })) !== undefined) return;
  throw new JobTermsError(
    `callbackGas ${callbackGas}: the market calls the account that posts, and ${address} is no contract: leave out ` +
      "callbackGas, or have the contract post what jobRequest gives",
  );
}

/** An account without the credit for a fee; undefined for any other refusal. */
function shortOfCredit(error: unknown, { sender }: Session, { fee }: JobTerms): ShortOfFundsError | undefined {
  if (!(error instanceof ContractRevertError) || error.errorName !== "InsufficientCredit") return undefined;
  return new ShortOfFundsError(
    `the credit of ${sender.address} is below the fee of ${formatEther(fee)}: call deposit(session, fee) first ` +
      "(refute account deposit)",
    { cause: error },
  );
}

function checkFee({ fee }: JobTerms): void {
  if (fee > 0n) return;
  throw new FeeTooLowError(
    `fee is ${fee}: give more than 0, in the smallest unit of the stake asset (a fee that was divided may have been ` +
      `rounded to nothing); no worker takes a job for less than its gas costs`,
  );
}

function checkInputs(
  { inputs: expected }: ProgramDescription,
  facts: HeaderFacts,
  inputs: readonly Uint8Array[],
  items: number,
): void {
  if (inputs.length !== expected.length) {
    throw new JobInputError(`the program takes ${expected.length} inputs, got ${inputs.length}`);
  }
  expected.forEach((input, k) => {
    const { name, dtype } = input;
    const { kind } = facts.inputs[k]!.source;
    const bytes = tensorsOf(facts.inputs[k]!, items) * elementsOf(input) * bytesPerElement(dtype);
    if (inputs[k]!.length !== bytes) {
      const ofItems = kind === "each" ? ` for each of ${items} items` : "";
      throw new JobInputError(
        kind === "index"
          ? `input "${name}" is the number of the item: leave it empty, got ${inputs[k]!.length} bytes`
          : `input "${name}" has ${inputs[k]!.length} bytes, expected ${bytes} ` +
              `(${elementsOf(input)} x ${dtype}${ofItems})`,
      );
    }
  });
}
