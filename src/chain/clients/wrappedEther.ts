import type { Address, TransactionReceipt } from "viem";
import { wrappedEtherAbi } from "../abi/wrappedEther.ts";
import type { Access } from "./access.ts";

/** A stake asset wrapping the chain's own coin, such as WETH. */
export class WrappedEther {
  readonly #sender: Access["sender"];
  readonly #contract: { address: Address; abi: typeof wrappedEtherAbi };

  constructor(address: Address, { sender }: Pick<Access, "sender">) {
    this.#sender = sender;
    this.#contract = { address, abi: wrappedEtherAbi };
  }

  /** Wraps coins of the sender. @param value wei */
  deposit(value: bigint): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.#contract, functionName: "deposit", args: [], value });
  }
}
