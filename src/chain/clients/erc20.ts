import { erc20Abi, type Address, type PublicClient, type TransactionReceipt } from "viem";
import type { Access } from "./access.ts";

/** The symbol of a token. @throws viem's errors, also where the token has none */
export const symbolOf = (address: Address, publicClient: PublicClient): Promise<string> =>
  publicClient.readContract({ address, abi: erc20Abi, functionName: "symbol" });

/** A token: the stake asset of a deployment. Amounts are in its smallest unit. */
export class Erc20 {
  readonly #access: Access;
  readonly #contract: { address: Address; abi: typeof erc20Abi };

  constructor(address: Address, access: Access) {
    this.#access = access;
    this.#contract = { address, abi: erc20Abi };
  }

  /** Returns an account's balance. */
  balanceOf(owner: Address): Promise<bigint> {
    return this.#access.publicClient.readContract({
      ...this.#contract,
      functionName: "balanceOf",
      args: [owner],
    });
  }

  /** Allows `spender` to take up to `amount` from the sender. */
  approve(spender: Address, amount: bigint): Promise<TransactionReceipt> {
    return this.#access.sender.send({ ...this.#contract, functionName: "approve", args: [spender, amount] });
  }
}
