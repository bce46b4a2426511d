import { parseEventLogs, type Address, type Hex, type TransactionReceipt } from "viem";
import { jobMarketAbi } from "../abi/jobMarket.ts";
import { calldataOf } from "../call.ts";
import type {
  Claim,
  ClaimProof,
  Delivery,
  DeploymentFacts,
  InputPart,
  Job,
  JobRequest,
  JobStatus,
  ProgramFacts,
  Terms,
} from "../structs.ts";
import { translateError } from "../translateError.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof jobMarketAbi };

/** A job's state in the market's records. */
export type JobState = {
  status: JobStatus;
  /** Who has claimed it, while it is claimed. */
  worker: Address;
  /** Until when that worker may submit, or the end of the claim's window (unix seconds). */
  until: bigint;
  /** Parts of the job's inputs not yet published. */
  missingParts: bigint;
};

/** The market for jobs, as anybody reads it. */
export class JobMarketReader {
  readonly #publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.contract = { address, abi: jobMarketAbi };
  }

  /** The deployment: its semantics, contracts and parameters. */
  deployment(): Promise<DeploymentFacts> {
    return this.#publicClient.readContract({ ...this.contract, functionName: "deployment" });
  }

  /**
   * Reads a job's state. The status is `none` for an unknown id.
   * @param blockNumber The block to read at; the latest block if absent.
   */
  async jobOf(jobId: Hex, blockNumber?: bigint): Promise<JobState> {
    const [status, worker, until, missingParts] = await this.#publicClient.readContract({
      ...this.contract,
      functionName: "jobOf",
      args: [jobId],
      ...(blockNumber !== undefined && { blockNumber }),
    });
    return { status: status as JobStatus, worker, until, missingParts };
  }

  /**
   * Returns the part of a job's fee that went back to the requester, in smallest units; undefined before the return.
   */
  async refundOf(job: Job): Promise<bigint | undefined> {
    const [returned, amount] = await this.#publicClient.readContract({
      ...this.contract,
      functionName: "refundOf",
      args: [job],
    });
    return returned ? amount : undefined;
  }
}

/**
 * The market for jobs, for requesters and workers. Functions reserved for the dispute game are left out. Calls bring
 * jobs and claims along: their content names them.
 */
export class JobMarket extends JobMarketReader {
  readonly #sender: Access["sender"];
  readonly #publicClient: Access["publicClient"];

  constructor(address: Address, access: Access) {
    super(address, access);
    [this.#sender, this.#publicClient] = [access.sender, access.publicClient];
  }

  /**
   * Posts a job; the fee is taken from the sender's credit. `postedJob` reads the job from the receipt.
   * @throws ContractRevertError `InsufficientCredit`, `JobExists`, `WindowOutOfRange`, `DeadlineTooSoon`,
   *   `DeadlineTooFar`, `TooMuchWork`, `StepProofTooLarge`, `StepProofTooLong`, `HeaderTooLong`, `TooManyOutputs`,
   *   `OutputLimitTooHigh`, `CallbackGasTooHigh`, `WrongInputCount`, `WrongInputLength`, `WrongInputRoot`,
   *   `RootOnlyWithBytes`, `ZeroClaimSeconds`, `ItemsOutOfRange`, `TooManyParts`,
   *   `TooManyAnswers`, `AnswerOfCarriedItems`
   * @param dataSuffix Bytes behind the request, which the market does not read: `referenceSuffix` makes some.
   */
  post(request: JobRequest, dataSuffix: Hex = "0x"): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "post", args: [request], dataSuffix });
  }

  /** Has the chain judge a post, for free. @throws as `post`, RpcUnavailableError */
  checkPost(request: JobRequest): Promise<void> {
    return this.#sender.check({ ...this.contract, functionName: "post", args: [request] });
  }

  /**
   * Publishes a part of an input not posted with the job. Anyone may call.
   * @throws ContractRevertError `PartAlreadyPublished`, `NoSuchPart`, `WrongInputLength`, `WrongInputRoot`,
   *   `WrongProgram`
   */
  publishInput(job: Job, program: ProgramFacts, part: InputPart): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "publishInput", args: [job, program, part] });
  }

  /**
   * Cancels an unclaimed job of the sender.
   * @throws ContractRevertError `NotRequester`, `WrongJobStatus`
   */
  cancel(job: Job): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "cancel", args: [job] });
  }

  /**
   * Takes an open job and locks the collateral: the sender must submit within the job's `claimSeconds`.
   * @param terms The job's terms, if it has any.
   * @param maxGas Limit of the gas of a job with terms: the contract of classes is the requester's.
   * @throws ContractRevertError `WrongJobStatus`, `DeadlineTooSoon`, `NotLive`, `InsufficientFreeStake`; of a job with
   *   terms also `ReservedForAnother`, `GroupTaken`, `NotItsTurn`, `RecordTooPoor`, `OtherManufacturer`,
   *   `ClassNotHeld`, and without a name if `maxGas` is too low
   */
  claim(job: Job, terms?: Terms, maxGas?: bigint): Promise<TransactionReceipt> {
    if (terms === undefined) return this.#sender.send({ ...this.contract, functionName: "claim", args: [job] });
    return this.#sender.send(this.#claimOnTerms(job, terms, maxGas));
  }

  /** Has the chain judge whether the sender may claim a job that has terms, for free. @throws as `claim` */
  checkClaim(job: Job, terms: Terms, maxGas?: bigint): Promise<void> {
    return this.#sender.check(this.#claimOnTerms(job, terms, maxGas));
  }

  /**
   * Estimates the gas of a transaction with the bytes of a claim on terms, and without execution: on some rollups the
   * gas includes a fee for the bytes.
   * @throws RpcUnavailableError
   */
  async claimBytesGas(job: Job, terms: Terms): Promise<bigint> {
    const { address } = this.#sender;
    const data = calldataOf(this.#claimOnTerms(job, terms));
    return this.#publicClient.estimateGas({ account: address, to: address, data }).catch((error: unknown) => {
      throw translateError(error, "claimOnTerms");
    });
  }

  #claimOnTerms(job: Job, terms: Terms, maxGas?: bigint) {
    const limit = maxGas === undefined ? {} : { maxGas };
    return { ...this.contract, functionName: "claimOnTerms", args: [job, terms], ...limit } as const;
  }

  /**
   * Claims and submits a job reserved for the sender.
   * @param by The job's deadline, unix seconds.
   * @throws ContractRevertError the errors of `claim` and `submit`
   */
  claimAndSubmit(job: Job, terms: Terms, nodes: Hex, by?: number): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "claimAndSubmit", args: [job, terms, nodes] }, by);
  }

  /**
   * Accepts a claim on a job of the sender before the claim's window is over. An early accepted claim never becomes
   * final.
   * @throws ContractRevertError `NoEarlyAccept`, `NotRequester`, `WrongClaimStatus`, `GamesOpen`
   */
  acceptEarly(claim: Claim, terms: Terms): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "acceptEarly", args: [claim, terms] });
  }

  /**
   * Ends a claim in its window by a proof under the key of the job's terms.
   * @throws ContractRevertError `WrongTerms`, `WrongClaimStatus`, `GamesOpen`, `WrongKey`, `KnownSecrets`, `FlawedKey`,
   *   `KeyOfAnotherProgram`, `NotProven`, and the errors for tensors of other sizes or roots
   */
  finaliseByProof(claim: Claim, terms: Terms, proof: ClaimProof): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "finaliseByProof", args: [claim, terms, proof] });
  }

  /**
   * Claims a job (unless the sender has), submits, and ends the claim by a proof that names the sender.
   * @param nodes As for `submit`.
   * @param by When the claimed time is over, unix seconds.
   * @throws ContractRevertError the errors of `claim`, `submit` and `finaliseByProof`
   */
  claimAndProve(job: Job, terms: Terms, nodes: Hex, proof: ClaimProof, by?: number): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "claimAndProve", args: [job, terms, nodes, proof] }, by);
  }

  /**
   * Submits the execution of the sender's claimed job.
   * @param nodes The `2^hop` nodes that a reveal at the claim's root would show, 32 bytes each, concatenated. In
   *   answer form: the outputs' roots.
   * @param terms The job's terms, if any.
   * @param by When the claimed time is over, unix seconds.
   * @throws ContractRevertError `NotWorker`, `TimeIsUp`, `ClaimExists`, `WrongJobStatus`, `WrongDataLength`,
   *   `PaddingNotZero`, `ZeroClaimRoot`
   */
  submit(job: Job, nodes: Hex, terms?: Terms, by?: number): Promise<TransactionReceipt> {
    if (terms === undefined)
      return this.#sender.send({ ...this.contract, functionName: "submit", args: [job, nodes] }, by);
    return this.#sender.send({ ...this.contract, functionName: "submitOnTerms", args: [job, terms, nodes] }, by);
  }

  /**
   * Commits to the execution of the sender's claimed job. The job's submissions must be sealed.
   * @param seal `sealOf` in src/chain/market/ids.ts.
   * @param by When the claimed time is over, unix seconds.
   * @throws ContractRevertError `NotWorker`, `TimeIsUp`, `WrongJobStatus`, `NotSealed`
   */
  seal(job: Job, terms: Terms, seal: Hex, by?: number): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "seal", args: [job, terms, seal] }, by);
  }

  /**
   * Opens a worker's seal, which makes its claim. Anyone with the salt may.
   * @param nodes As for `submit`.
   * @param by When the seal can be broken, unix seconds.
   * @throws ContractRevertError `WrongJobStatus`, `WrongSeal`, `TimeNotUp`, `TimeIsUp`, `WrongDataLength`,
   *   `PaddingNotZero`
   */
  openSeal(job: Job, terms: Terms, worker: Address, salt: Hex, nodes: Hex, by?: number): Promise<TransactionReceipt> {
    const args = [job, terms, worker, salt, nodes] as const;
    return this.#sender.send({ ...this.contract, functionName: "openSeal", args }, by);
  }

  /**
   * Closes a job after the worker failed to open the seal in time. The worker loses the whole collateral. Anyone may
   * call, and the caller earns a payment.
   * @throws ContractRevertError `WrongJobStatus`, `WrongSeal`, `TimeNotUp`
   */
  breakSeal(job: Job, terms: Terms, worker: Address, seal: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "breakSeal", args: [job, terms, worker, seal] });
  }

  /**
   * Reopens a job whose worker missed its time, or closes a job whose deadline leaves no time for a claim. Anyone may
   * call.
   * @param terms The job's terms, if any, for a claimed job.
   * @throws ContractRevertError `TimeNotUp`, `WrongJobStatus`
   */
  expire(job: Job, terms?: Terms): Promise<TransactionReceipt> {
    if (terms !== undefined)
      return this.#sender.send({ ...this.contract, functionName: "expireOnTerms", args: [job, terms] });
    return this.#sender.send({ ...this.contract, functionName: "expire", args: [job] });
  }

  /**
   * Finalises a claim after its window, if no open game disputes the claim. Anyone may call.
   * @throws ContractRevertError `WindowOpen`, `GamesOpen`, `WrongClaimStatus`
   */
  finalise(claim: Claim): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "finalise", args: [claim] });
  }

  /**
   * Delivers an output of a final claim. If the claim can become final now, the same call finalises it. Anyone may
   * call.
   * @throws ContractRevertError `NotDeliverable`, `AlreadyDelivered`, `WrongOutputLength`, `OutputNotInClaim`,
   *   `WrongProgram`, `TooLittleGas` for the callback, and the errors of `finalise`
   */
  deliver(claim: Claim, delivery: Delivery): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "deliver", args: [claim, delivery] });
  }

  /**
   * Releases the fee of a final claim on a job of the sender, without delivery on chain.
   * @throws ContractRevertError `NotRequester`, `AlreadyPaid`, `WrongClaimStatus`
   */
  accept(claim: Claim): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "accept", args: [claim] });
  }

  /**
   * Returns a final claim's fee to the requester, if not all outputs were delivered within a week after the claim
   * became final. Anyone may call.
   * @throws ContractRevertError `TimeNotUp`, `NothingToDeliver`, `AlreadyPaid`, `WrongClaimStatus`
   */
  reclaim(claim: Claim): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "reclaim", args: [claim] });
  }
}

/** The job that was posted, and its id. @param receipt Of `post`. */
export function postedJob({ logs }: TransactionReceipt): { jobId: Hex; job: Job } {
  const [posted] = parseEventLogs({ abi: jobMarketAbi, logs, eventName: "JobPosted" });
  const { jobId, job } = posted!.args;
  return { jobId, job };
}
