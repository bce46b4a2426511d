import { hexToBytes, size, zeroAddress, zeroHash, type Hex } from "viem";
import { postedJob } from "../../chain/clients/jobMarket.ts";
import { ContractRevertError } from "../../chain/errors.ts";
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
import { FeeTooLowError, JobIncompleteError, JobInputError } from "./errors.ts";
import {
  isPostedWhole,
  PART_BYTES,
  requireAnswerable,
  requireDeliverable,
  requireServed,
  requireTerms,
  requireWindow,
} from "./jobLimits.ts";
import { bytesPerElement } from "./typedArrays.ts";

/** What is rarely asked for; what is left out asks for nothing. `collateral` is at least the deployment's. */
export type RareTerms = Pick<Terms, "collateral"> & Partial<Terms>;

/** What a requester asks for and pays. Amounts in the smallest unit of the stake asset, times in seconds. */
export type JobTerms = {
  /** How often the program is executed: a run of 1 to 65,536 items, 1 if it is left out. */
  items?: number;
  /** What an input that is the index reads in the first item, 0 if it is left out. */
  firstItem?: number;
  /** More than 0. Workers ask for what the job's gas costs them (`coveringFee` in src/dispute/jobCost.ts), and more. */
  fee: bigint;
  /** In which watchers may dispute; the deployment has a minimum, see `minWindow`. */
  window: number;
  /** That a worker has from claim to submission. */
  claimSeconds: number;
  /** Unix time by which a submission must be due. */
  deadline: bigint;
  /** Gas for `onResult` on the requester if it is a contract; 0 for no callback. */
  callbackGas?: number;
  /** Outputs up to this size are delivered on chain, bytes: 65,536 if it is left out, and at most. */
  maxOutputBytes?: number;
  /**
   * Whether workers submit the roots of the outputs alone, and owe what leads to them only in a dispute; false if it is
   * left out. See {@link requireAnswerable}.
   */
  answer?: boolean;
  /**
   * Where the inputs lie, if they are not to be put on chain: `https://...`, `ipfs://CID`, `s3://BUCKET/KEY`. Each
   * place must give the bytes of `packInputs` until all disputes are over. Such a job protects only those who have
   * fetched them, or still can: if nobody can, nobody refutes a wrong claim.
   */
  references?: readonly string[];
  salt?: Hex;
  /** What is rarely asked for: collateral above the least, or who may claim. Nothing of it if left out. */
  rare?: RareTerms;
};

/** Of refuted claims and missed deadlines: the largest number that is counted. */
const ANY_NUMBER = 65_535;

/** How often a part is tried while what fails may pass, and the pause between. */
const MAX_TRIES = 4;
const PAUSE_MS = 1_000;

/** Levels under a full part of an input: 128 chunks of 512 bytes. */
const PART_LEVELS = 7;

/** The terms that a requester may leave out: one item, no callback, and every output that can be delivered is. */
export const DEFAULT_TERMS = { ...ONE_ITEM, callbackGas: 0, maxOutputBytes: PART_BYTES, answer: false } as const;

/** Of how many output roots the claims on a job consist: all in answer form, none in trace form. */
export const answersOf = ({ answer = false }: Pick<JobTerms, "answer">, outputs: number): number =>
  answer ? outputs : 0;

/** The shortest window that a deployment takes for a program. @param items Of the run. */
export const minWindow = (
  { deployment: { parameters } }: Pick<Session, "deployment">,
  { work }: Pick<ProgramDescription, "work">,
  items = 1,
): number => parameters.baseWindow + workSeconds(runWork(items, BigInt(work)), parameters.rate);

/** What workers spare beside an execution: waiting for blocks, other claims, a restart. */
const SPARE_SECONDS = 1_800;

/** The seconds from claim to submission that leave a worker time to spare. @param items Of the run. */
export const usualClaimSeconds = (
  { deployment: { parameters } }: Pick<Session, "deployment">,
  { work }: Pick<ProgramDescription, "work">,
  items = 1,
): number => SPARE_SECONDS + workSeconds(runWork(items, BigInt(work)), parameters.rate);

/** Called with the parts of the inputs that are on chain, and how many there are. */
type PartsProgress = (done: number, total: number) => void;

/**
 * Checks a job as far as can be without paying for it: its program, inputs and terms, and whether the market would take
 * it now, but for the fee.
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
 * Posts a job; the fee is taken from the sender's credit in the vault. Inputs of up to 64 KiB together go with the
 * post, larger ones in parts after it; the job opens when all bytes are on chain. Of inputs that lie elsewhere
 * (`references`) only the roots go there, and the job opens at once.
 * @param inputs The inputs in the program's order, as `encodeInputs` gives them: little-endian, row-major; of an input
 *   of which each item has its own tensor, those of all items in order; of the index no bytes. State that is carried
 *   and begins with zeros is not posted, whatever its size.
 * @param progress Called after each part.
 * @throws JobInputError, DescriptionError, JobProgramError, JobTermsError, FeeTooLowError, ContractRevertError; once
 *   the job is posted, JobIncompleteError
 */
export async function postJob(
  session: Session,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: JobTerms,
  progress?: PartsProgress,
): Promise<{ jobId: Hex; job: Job }> {
  checkLocally(session, program, inputs, terms);
  const run = runInputs(program, inputs, terms);
  const suffix = terms.references && referenceSuffix(terms.references);
  const { jobId, job } = postedJob(await session.market.post(requestOf(program, run, terms), suffix));
  if (job.rootOnly || goTogether(postedOf(program, run))) return { jobId, job };
  await publishParts(session, program, run, job, progress).catch((cause: unknown) => {
    throw new JobIncompleteError(
      `job ${jobId} is posted, but its input is not all on chain (${(cause as Error).message}): ` +
        `cancel the job, and its fee comes back`,
      { cause },
    );
  });
  return { jobId, job };
}

/**
 * Publishes the inputs of a job that is posted and waits for some of them, as after a kill between its parts. What is
 * there already costs nothing.
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
 * Checks all of a job that needs no node.
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
  if (terms.answer === true) requireAnswerable(facts, items);
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

/** What is posted of each input. */
const postedOf = ({ inputs }: ProgramDescription, run: RunInputs): (readonly Uint8Array[])[] =>
  inputs.map((_, input) => run.posted(input));

/** Whether all that is posted of the inputs fits into the transaction that posts the job. */
const goTogether = (posted: readonly (readonly Uint8Array[])[]): boolean =>
  isPostedWhole(
    posted.flat().length,
    posted.flat().reduce((sum, { length }) => sum + length, 0),
  );

/**
 * What a contract that asks the market needs of a job: with the inputs if they fit into the transaction. Nothing is
 * checked here; `postJob` checks for accounts that ask themselves.
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

/** The inputs as the items of a job take them. */
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
 * Has a part published, by whomever. Anybody may publish it, so that a copy of the transaction may come first, and make
 * it fail before it is sent or in its block; and the fee is paid already, so that a passing trouble is not the end.
 * @throws What fails otherwise, or `MAX_TRIES` times
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

/** What the failure of a part says of the job, and whether it may pass. */
function refusalOf(error: unknown): { status?: number; mayPass: boolean } {
  if (!(error instanceof ContractRevertError)) return { mayPass: error instanceof RefuteError && error.retryable };
  // The part is there, as if the job waited no more.
  if (error.errorName === "PartAlreadyPublished") return { status: JobStatus.open, mayPass: false };
  if (error.errorName !== "WrongJobStatus") return { mayPass: false };
  const status = error.args[1] as number;
  // A node that lags does not know the job yet.
  return { status, mayPass: status === JobStatus.none };
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
