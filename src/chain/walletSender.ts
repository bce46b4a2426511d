import { WaitForTransactionReceiptTimeoutError } from "viem";
import type { Abi, Address, Chain, ContractFunctionName } from "viem";
import type { Hex, PublicClient, ReplacementReason, TransactionReceipt, Transport } from "viem";
import { calldataOf, type Call, type TransactionSender, type Writable } from "./call.ts";
import { TransactionDroppedError, TransactionRevertedError, WalletRefusedError, WrongChainError } from "./errors.ts";
import { RefuteError } from "../base/errors.ts";
import { checkCall, estimateCall } from "./checkCall.ts";
import { withMargin } from "./gasLimit.ts";
import { inTurn } from "../base/inTurn.ts";
import { translateError } from "./translateError.ts";
import { walletWords, type Wallet } from "./wallet.ts";

/** Pause between two looks for a receipt, and how long one is waited for: a person may have chosen a low fee. */
const PATIENCE = { pollingMs: 500, longestMs: 600_000 };

/** Sends an account's transactions in turn, through a wallet that signs and sends by itself. */
export class WalletSender implements TransactionSender {
  readonly #publicClient: PublicClient<Transport, Chain>;
  readonly #wallet: Wallet;
  readonly #patience: typeof PATIENCE;
  readonly #inTurn = inTurn();

  constructor(publicClient: PublicClient<Transport, Chain>, wallet: Wallet, patience: Partial<typeof PATIENCE> = {}) {
    this.#publicClient = publicClient;
    this.#wallet = wallet;
    this.#patience = { ...PATIENCE, ...patience };
  }

  get address(): Address {
    return this.#wallet.address;
  }

  async send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt> {
    try {
      const sent = await this.#inTurn(() => this.#submit(call as unknown as Call));
      return await this.#mined(sent, call.functionName);
    } catch (error) {
      throw translateError(error, call.functionName);
    }
  }

  async check<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(call: Call<A, Name>): Promise<void> {
    await checkCall(this.#publicClient, this.address, call);
  }

  async #submit(call: Call): Promise<Hex> {
    const { address, functionName, value = 0n } = call;
    const gas = withMargin(await estimateCall(this.#publicClient, this.address, call));
    const data = calldataOf(call);
    try {
      // The user may have switched the wallet to another chain.
      const [chainId, wanted] = [await this.#wallet.chainId(), this.#publicClient.chain.id];
      if (chainId !== wanted)
        throw new WrongChainError(`the wallet is on chain ${chainId}, the deployment on chain ${wanted}: switch it`);
      return await this.#wallet.send({ to: address, data, value, gas });
    } catch (cause) {
      const error = translateError(cause, functionName);
      if (error instanceof RefuteError) throw error;
      throw new WalletRefusedError(`${functionName}: the wallet did not send it: ${walletWords(cause)}`, { cause });
    }
  }

  /** Returns the receipt of a transaction, or of the user's replacement with other fees. */
  async #mined(hash: Hex, functionName: string): Promise<TransactionReceipt> {
    const { pollingMs, longestMs } = this.#patience;
    let replaced: ReplacementReason = "repriced";
    const receipt = await this.#publicClient
      .waitForTransactionReceipt({
        hash,
        pollingInterval: pollingMs,
        timeout: longestMs,
        onReplaced: ({ reason }) => (replaced = reason),
      })
      .catch((error: unknown) => {
        if (error instanceof WaitForTransactionReceiptTimeoutError)
          throw new TransactionDroppedError(functionName, hash);
        throw error;
      });
    if (replaced !== "repriced") throw new TransactionDroppedError(functionName, hash);
    if (receipt.status === "reverted") throw new TransactionRevertedError(functionName, receipt.transactionHash);
    return receipt;
  }
}
