import { setTimeout as sleep } from "node:timers/promises";
import { TransactionNotFoundError } from "viem";
import type { Abi, Account, Address, Chain, ContractFunctionArgs, ContractFunctionName } from "viem";
import type { Hash, PublicClient, TransactionReceipt, Transport, WalletClient } from "viem";
import { TransactionDroppedError, TransactionRevertedError } from "./errors.ts";
import { translateError } from "./translateError.ts";

type Writable = "nonpayable" | "payable";

/** A call of a contract's function. */
export type Call<
  A extends Abi = Abi,
  Name extends ContractFunctionName<A, Writable> = ContractFunctionName<A, Writable>,
> = {
  address: Address;
  abi: A;
  functionName: Name;
  args: ContractFunctionArgs<A, Writable, Name>;
  /** Ether to send along, wei. */
  value?: bigint;
};

/** EIP-7825: no transaction may have more gas. */
const MAX_TRANSACTION_GAS = 16_777_216n;

const POLLING_MS = 500;
/** Polls in a row in which the node does not know a transaction that it took: a reorganisation, or a full pool, dropped it. */
const MISSES = 6;
/** A transaction that waits longer is given up, so that its action is looked at again. */
const LONGEST_WAIT_MS = 180_000;

/**
 * Sends one account's transactions, one after the other, and waits for each to be mined. Several may wait together: a block takes
 * the moves of many games, where one move a block would let many sham games run an honest player's clocks out.
 */
export class Sender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #walletClient: WalletClient<Transport, Chain, Account>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(publicClient: PublicClient<Transport, Chain>, walletClient: WalletClient<Transport, Chain, Account>) {
    this.#publicClient = publicClient;
    this.#walletClient = walletClient;
  }

  get address(): Address {
    return this.#walletClient.account.address;
  }

  /**
   * Sends a call and waits for its receipt. A call that would revert is refused before anything is sent.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, InsufficientGasFundsError, RpcUnavailableError
   */
  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt> {
    const sent = this.#last.then(() => this.#submit(call as unknown as Call));
    this.#last = sent.catch(() => undefined);
    try {
      const hash = await sent;
      const receipt = await this.#mined(call.functionName, hash);
      if (receipt.status === "reverted") throw new TransactionRevertedError(call.functionName, receipt.transactionHash);
      return receipt;
    } catch (error) {
      throw translateError(error, call.functionName);
    }
  }

  /**
   * Asks the chain, for free, whether a call would pass.
   * @throws ContractRevertError if it would not, RpcUnavailableError
   */
  async check<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(call: Call<A, Name>): Promise<void> {
    const request = { ...(call as unknown as Call), account: this.#walletClient.account, gas: MAX_TRANSACTION_GAS };
    await this.#publicClient.simulateContract(request).catch((error: unknown) => {
      throw translateError(error, call.functionName);
    });
  }

  /** The receipt, once there is one. A clock may be running: a transaction that no node has any more is not waited for. */
  async #mined(functionName: string, hash: Hash): Promise<TransactionReceipt> {
    let misses = 0;
    for (const end = Date.now() + LONGEST_WAIT_MS; misses < MISSES && Date.now() < end; await sleep(POLLING_MS)) {
      // A node that does not answer now may answer later.
      const receipt = await this.#publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
      if (receipt !== undefined) return receipt;
      const isKnown = await this.#publicClient
        .getTransaction({ hash })
        .then(() => true)
        .catch((error: unknown) => !(error instanceof TransactionNotFoundError));
      misses = isKnown ? 0 : misses + 1;
    }
    throw new TransactionDroppedError(functionName, hash);
  }

  async #submit(call: Call): Promise<Hash> {
    const { account } = this.#walletClient;
    const estimate = await this.#publicClient.estimateContractGas({ ...call, account });
    return this.#walletClient.writeContract({ ...call, gas: withMargin(estimate) });
  }
}

/** 15 % over the estimate, because the state may change before the transaction is mined. */
function withMargin(estimate: bigint): bigint {
  const gas = (estimate * 115n) / 100n;
  return gas < MAX_TRANSACTION_GAS ? gas : MAX_TRANSACTION_GAS;
}
