import type { Address, TransactionReceipt } from "viem";
import { stakeVaultAbi } from "../abi/stakeVault.ts";
import type { Access, ReadAccess } from "./access.ts";

type Contract = { address: Address; abi: typeof stakeVaultAbi };

/** An account's entries in the vault, in the smallest unit of the stake asset. */
export type Account = {
  credit: bigint;
  staked: bigint;
  /** The part of the stake that backs claims. */
  locked: bigint;
  /** Stake asked back, which becomes credit from `readyAt` on (unix seconds; 0 if nothing is asked back). */
  withdrawing: bigint;
  readyAt: bigint;
};

/** The vault, as anybody reads it. */
export class StakeVaultReader {
  readonly #publicClient: ReadAccess["publicClient"];
  protected readonly contract: Contract;

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.#publicClient = publicClient;
    this.contract = { address, abi: stakeVaultAbi };
  }

  /** An account's entries. */
  async accountOf(owner: Address): Promise<Account> {
    const [credit, staked, locked, withdrawing, readyAt] = await this.#publicClient.readContract({
      ...this.contract,
      functionName: "accountOf",
      args: [owner],
    });
    return { credit, staked, locked, withdrawing, readyAt };
  }

  /** Returns a worker's record: the stake's beginning (unix seconds), refuted claims, and missed deadlines. */
  async recordOf(worker: Address): Promise<{ since: bigint; refuted: number; late: number }> {
    const [since, refuted, late] = await this.#publicClient.readContract({
      ...this.contract,
      functionName: "recordOf",
      args: [worker],
    });
    return { since, refuted: Number(refuted), late: Number(late) };
  }

  /** The token that the vault holds: the stake asset. */
  asset(): Promise<Address> {
    return this.#publicClient.readContract({ ...this.contract, functionName: "asset" });
  }

  /** Returns the attestation registry. The registry decides who may stake. */
  provisioning(): Promise<Address> {
    return this.#publicClient.readContract({ ...this.contract, functionName: "provisioning" });
  }
}

/** The vault, for an account's owner. Functions reserved for the market are left out. */
export class StakeVault extends StakeVaultReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /** Moves the sender's tokens into the vault, credited to `owner`. The sender must have approved the tokens. */
  deposit(owner: Address, amount: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "deposit", args: [owner, amount] });
  }

  /**
   * Turns the sender's credit into stake.
   * @throws ContractRevertError `NotLive` without a live attestation, `InsufficientCredit`
   */
  stake(amount: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "stake", args: [amount] });
  }

  /**
   * Asks the sender's unlocked stake back: it backs no claim from this call on. A second request adds to the first and
   * starts its delay anew.
   * @throws ContractRevertError `InsufficientFreeStake`
   */
  requestWithdraw(amount: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "requestWithdraw", args: [amount] });
  }

  /**
   * Turns the stake that was asked back into credit.
   * @throws ContractRevertError `NothingRequested`, `WithdrawalNotReady`
   */
  unstake(): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "unstake", args: [] });
  }

  /**
   * Sends the sender's credit to an address, as tokens.
   * @throws ContractRevertError `InsufficientCredit`, `ZeroAddress`
   */
  withdraw(amount: bigint, to: Address): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "withdraw", args: [amount, to] });
  }
}
