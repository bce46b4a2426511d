import type { Address, Hex, TransactionReceipt } from "viem";
import { pledgedClaimsAbi } from "../abi/pledgedClaims.ts";
import type { ClaimStatus, PledgeStatus } from "../structs.ts";
import type { Access, ReadAccess } from "./access.ts";

/** Not a field of the classes: their declarations would bring the ABI along. */
const contractAt = (address: Address) => ({ address, abi: pledgedClaimsAbi });

/** The contract's record of a worker's pledge. */
type PledgeState = {
  status: PledgeStatus;
  /** Since when it has that status, unix seconds; 0 without a pledge. */
  time: bigint;
  /** Claims in their windows or disputed. */
  claims: bigint;
  /** The remaining pledge of a stopped worker, in smallest units of the stake asset. */
  left: bigint;
};

/**
 * Claims backed by pledges: the reading part of the contract's client. A session reads the contract's market functions.
 */
export class PledgedClaimsReader {
  readonly #publicClient: ReadAccess["publicClient"];
  readonly address: Address;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.address = address;
  }

  /** A worker's pledge. */
  async pledgeOf(worker: Address): Promise<PledgeState> {
    const [status, time, claims, left] = await this.#publicClient.readContract({
      ...contractAt(this.address),
      functionName: "pledgeOf",
      args: [worker],
    });
    return { status: status as PledgeStatus, time, claims, left };
  }

  /** Seconds after it was issued in which a contract can put a claim on chain; 0 for one that may put none there. */
  async lifetimeOf(account: Address): Promise<bigint> {
    return this.#publicClient.readContract({
      ...contractAt(this.address),
      functionName: "lifetimeOf",
      args: [account],
    });
  }

  /**
   * Returns a claim's status. `time` is the end of the claim's window, or when the claim became final (unix seconds).
   */
  async statusOf(claimId: Hex): Promise<{ status: ClaimStatus; time: bigint; worker: Address }> {
    const [status, time, worker] = await this.#publicClient.readContract({
      ...contractAt(this.address),
      functionName: "statusOf",
      args: [claimId],
    });
    return { status: status as ClaimStatus, time, worker };
  }
}

/** The same, as workers use it. */
export class PledgedClaims extends PledgedClaimsReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /**
   * Pledges one collateral of the sender's free stake.
   * @throws ContractRevertError `AlreadyPledged`, `NotLive`, `InsufficientFreeStake`
   */
  pledge(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "pledge", args: [] });
  }

  /** Asks for the sender's pledge back. @throws ContractRevertError `WrongPledgeStatus` */
  requestRelease(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "requestRelease", args: [] });
  }

  /** Unlocks it. @throws ContractRevertError `WrongPledgeStatus`, `NotYet`, `ClaimsOpen` */
  release(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "release", args: [] });
  }

  /** Sends the remaining pledge of a stopped worker to the sink. Anyone may call. */
  sweep(worker: Address): Promise<TransactionReceipt> {
    return this.#sender.send({ ...contractAt(this.address), functionName: "sweep", args: [worker] });
  }
}
