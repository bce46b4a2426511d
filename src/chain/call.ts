import type { Abi, Address, ContractFunctionArgs, ContractFunctionName, TransactionReceipt } from "viem";

export type Writable = "nonpayable" | "payable";

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

/** Sends one account's transactions. */
export type TransactionSender = {
  readonly address: Address;
  /**
   * Sends a call and waits for its receipt. A call that would revert is refused before anything is sent.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, InsufficientGasFundsError,
   *   RpcUnavailableError; NonceTakenError, TransactionTooLargeError, TransactionRefusedError for a key of this
   *   process, WrongChainError and WalletRefusedError for a wallet
   */
  send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
  ): Promise<TransactionReceipt>;
  /**
   * Asks the chain, for free, whether a call would pass.
   * @throws ContractRevertError if it would not, RpcUnavailableError
   */
  check<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(call: Call<A, Name>): Promise<void>;
};
