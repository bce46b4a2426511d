import type { Hex } from "viem";
import { postedJob } from "../chain/clients/jobMarket.ts";
import { inputsList, programFacts, type KnownProgram } from "../player/execution.ts";
import type { Session } from "../market/session.ts";
import type { Job } from "../chain/structs.ts";
import { toHex } from "../merkle/hash.ts";
import { tensorTree } from "../merkle/tensor.ts";
import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import { JobInputError } from "./errors.ts";

/** What a requester asks for and pays. Amounts in the smallest unit of the stake asset, times in seconds. */
export type JobTerms = {
  fee: bigint;
  /** In which watchers may dispute; the deployment has a minimum, see `minWindow`. */
  window: number;
  /** That a worker has from claim to submission. */
  claimSeconds: number;
  /** Unix time by which a submission must be due. */
  deadline: bigint;
  /** Gas for `onResult` on the requester if it is a contract; 0 for no callback. */
  callbackGas?: number;
  /** Outputs up to this size are delivered on chain. */
  maxOutputBytes?: number;
  salt?: Hex;
};

/** Bytes of a full part of an input (contracts/market/Inputs.sol): 256 chunks of 512. */
const PART_BYTES = 65_536;
/** Levels under a full part. */
const PART_LEVELS = 7;

/** The shortest window that a deployment takes for a program. */
export const minWindow = ({ deployment: { parameters } }: Session, work: bigint): number =>
  parameters.baseWindow + Number(work / parameters.rate);

/**
 * Posts a job; the fee is taken from the sender's credit in the vault. Inputs of up to 64 KiB together go with the
 * post, larger ones in parts after it; the job opens when all bytes are on chain.
 * @param inputs The input tensors in the program's order: little-endian, row-major.
 * @throws JobInputError, ContractRevertError
 */
export async function postJob(
  session: Session,
  program: KnownProgram,
  inputs: readonly Uint8Array[],
  terms: JobTerms,
): Promise<{ jobId: Hex; job: Job }> {
  checkInputs(program, inputs);
  const trees = inputs.map((bytes) => tensorTree(bytes));
  const together = inputs.reduce((sum, { length }) => sum + length, 0) <= PART_BYTES;
  const request = {
    callbackGas: 0,
    maxOutputBytes: PART_BYTES,
    salt: toHex(crypto.getRandomValues(new Uint8Array(32))),
    rootOnly: false,
    ...terms,
    program: programFacts(program.commitment),
    inputRoots: trees.map(({ root }) => root),
    inputs: together ? inputs.map(toHex) : [],
  };
  const { jobId, job } = postedJob(await session.market.post(request));
  if (!together) await publishParts(session, program, inputs, job);
  return { jobId, job };
}

async function publishParts(
  { market }: Session,
  program: KnownProgram,
  inputs: readonly Uint8Array[],
  job: Job,
): Promise<void> {
  const facts = programFacts(program.commitment);
  const list = inputsList(inputs);
  for (const [input, bytes] of inputs.entries()) {
    const tree = tensorTree(bytes);
    for (let part = 0; part * PART_BYTES < bytes.length; part++) {
      const published = {
        input,
        part,
        data: toHex(bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)),
        siblings: tree.path(part, Math.min(tree.depth, PART_LEVELS)),
        inputRoot: tree.root,
        inputSiblings: list.path(input),
      };
      await market.publishInput(job, facts, published);
    }
  }
}

function checkInputs({ model }: KnownProgram, inputs: readonly Uint8Array[]): void {
  const expected = model.program.inputs;
  if (inputs.length !== expected.length) {
    throw new JobInputError(`the program takes ${expected.length} inputs, got ${inputs.length}`);
  }
  expected.forEach(({ dtype, count }, k) => {
    const bytes = count * dtypeBytes(dtype);
    if (inputs[k]!.length !== bytes) {
      const what = `input "${model.inputs[k]!.name}"`;
      throw new JobInputError(
        `${what} has ${inputs[k]!.length} bytes, expected ${bytes} (${count} x ${dtypeName(dtype)})`,
      );
    }
  });
}
