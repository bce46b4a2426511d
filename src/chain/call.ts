import { concatHex, encodeFunctionData, type Abi, type Address, type Hex, type TransactionReceipt } from "viem";
import type { ContractFunctionArgs, ContractFunctionName } from "viem";

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
  /** Bytes behind the arguments, which the contract does not read. */
  dataSuffix?: Hex;
  /** Limit of the estimated gas, for a call into code of strangers. A dearer call fails. */
  maxGas?: bigint;
};

/** The bytes that are sent for a call. */
export const calldataOf = ({ abi, functionName, args, dataSuffix = "0x" }: Call): Hex =>
  concatHex([encodeFunctionData({ abi, functionName, args }), dataSuffix]);

/** Sends one account's transactions. */
export type TransactionSender = {
  readonly address: Address;
  /**
   * Sends a call and waits for its receipt. A reverting call fails before anything is sent.
   * @param by When the call must be mined, unix seconds: a key of this process sends the most urgent call first, and
   *   calls without a deadline last.
   * @throws ContractRevertError, TransactionRevertedError, TransactionDroppedError, InsufficientGasFundsError,
   *   RpcUnavailableError; NonceTakenError, TransactionTooLargeError, TransactionRefusedError for a key of this
   *   process, WrongChainError and WalletRefusedError for a wallet
   */
  send<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(
    call: Call<A, Name>,
    by?: number,
  ): Promise<TransactionReceipt>;
  /**
   * Tells the sender the chain's time: calls that can no more be in time come after calls that can.
   * @param now Of a recent block, unix seconds.
   */
  learnTime?(now: number): void;
  /**
   * Asks the chain, for free, whether a call would pass.
   * @throws ContractRevertError if it would not, RpcUnavailableError
   */
  check<const A extends Abi, Name extends ContractFunctionName<A, Writable>>(call: Call<A, Name>): Promise<void>;
};
