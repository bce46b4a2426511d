import { randomInt } from "node:crypto";
import { keccak256, type Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { ContractRevertError, RpcUnavailableError } from "../../chain/errors.ts";
import { postedJob } from "../../chain/clients/jobMarket.ts";
import { ensureCredit } from "../../chain/market/deposit.ts";
import { jobIdOf } from "../../chain/market/ids.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Job } from "../../chain/structs.ts";
import { toHex } from "../../program/merkle/hash.ts";
import type { ProgramDescription } from "./description.ts";
import { JobIncompleteError } from "./errors.ts";
import { throughOutages, type OutageOptions } from "./outages.ts";
import { postJob, publishInputs, type JobTerms } from "./postJob.ts";

/** Draws inputs for canaries, each only once: everybody sees roots that come again, and knows the job for a canary. */
export class CanaryDraw<T> {
  readonly #left: T[];
  readonly #seen = new Set<Hex>();

  constructor(all: readonly T[]) {
    this.#left = [...all];
  }

  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  /**
   * Draws one of the rest.
   * @param read Gives the content of what was drawn.
   * @returns undefined without a rest; what has the content of something drawn before is left out
   */
  async next<C>(
    read: (drawn: T) => Promise<C>,
    bytesOf: (content: C) => readonly Uint8Array[],
  ): Promise<C | undefined> {
    while (this.#left.length > 0) {
      const [drawn] = this.#left.splice(randomInt(this.#left.length), 1);
      const content = await read(drawn!);
      const key = keccak256(Buffer.concat(bytesOf(content)));
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      return content;
    }
    return undefined;
  }
}

/**
 * Posts a job, and waits out outages of the nodes at any point. Each try has the same salt: the market takes the job
 * once.
 * @param termsNow Gives the terms at the time of the post.
 * @returns the job's id
 * @throws as `postJob`; ShortOfFundsError
 */
export async function postThroughOutages(
  session: Session,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  termsNow: () => Promise<JobTerms>,
  outages: OutageOptions,
): Promise<Hex> {
  const salt = toHex(crypto.getRandomValues(new Uint8Array(32)));
  const { publicClient, deployment } = session;
  const fromBlock = await throughOutages(() => publicClient.getBlockNumber(), outages);
  const terms = { ...(await throughOutages(termsNow, outages)), salt };
  const post = async (): Promise<Hex> => {
    await ensureCredit(session, terms.fee, terms.fee);
    return (await postJob(session, program, inputs, terms)).jobId;
  };
  /** Publishes what an outage left out. */
  const publish = async (jobId: Hex, jobNow: () => Promise<Job>): Promise<Hex> => {
    await throughOutages(async () => publishInputs(session, program, inputs, await jobNow()), outages);
    return jobId;
  };
  try {
    return await throughOutages(post, outages);
  } catch (error) {
    const { chainId, market } = deployment;
    if (error instanceof JobIncompleteError)
      return publish(jobIdOf(error.job, chainId, market), () => Promise.resolve(error.job));
    if (!(error instanceof ContractRevertError) || error.errorName !== "JobExists") throw error;
    // A try without an answer had reached the chain.
    const jobId = error.args[0] as Hex;
    const query = { address: market, abi: jobMarketAbi, eventName: "JobPosted", args: { jobId }, fromBlock } as const;
    return publish(jobId, async () => {
      const [posted] = await publicClient.getContractEvents(query);
      if (posted === undefined) throw new RpcUnavailableError(`the node lags: it does not show job ${jobId}`);
      return postedJob(await publicClient.getTransactionReceipt({ hash: posted.transactionHash })).job;
    });
  }
}
