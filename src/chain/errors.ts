import type { Hex } from "viem";
import { RefuteError } from "../errors.ts";

/** No answer from a node: it is down, unreachable, too busy or too slow. */
export class RpcUnavailableError extends RefuteError {
  readonly code = "RPC_UNAVAILABLE";
  override readonly retryable = true;
}

/** An endpoint serves another chain than the one that was asked for. */
export class WrongChainError extends RefuteError {
  readonly code = "WRONG_CHAIN";
}

/** No contract where one should be: wrong addresses, or a chain on which Refute is not deployed. */
export class NotDeployedError extends RefuteError {
  readonly code = "NOT_DEPLOYED";
}

/** A contract refused a call. `errorName` is the contract's own error. */
export class ContractRevertError extends RefuteError {
  readonly code = "CONTRACT_REVERT";

  constructor(
    readonly functionName: string,
    readonly errorName: string,
    readonly args: readonly unknown[],
    options?: ErrorOptions,
  ) {
    super(`${functionName} is refused: ${errorName}(${args.map(String).join(", ")})`, options);
  }
}

/** A transaction was mined and reverted although its simulation had passed: the state changed in between. */
export class TransactionRevertedError extends RefuteError {
  readonly code = "TRANSACTION_REVERTED";
  override readonly retryable = true;

  constructor(
    readonly functionName: string,
    readonly transactionHash: Hex,
  ) {
    super(`${functionName}: transaction ${transactionHash} reverted; the state changed after its simulation`);
  }
}

/**
 * A transaction that was sent is in no block and, it seems, in no pool: a reorganisation took it back, or its fee is
 * too low.
 */
export class TransactionDroppedError extends RefuteError {
  readonly code = "TRANSACTION_DROPPED";
  override readonly retryable = true;

  constructor(
    readonly functionName: string,
    readonly transactionHash: Hex,
  ) {
    super(`${functionName}: transaction ${transactionHash} was dropped or is not mined in time; it is tried again`);
  }
}

/**
 * Another transaction of the same account came first: a reorganisation put an old one back, or another process uses the
 * same key.
 */
export class NonceTakenError extends RefuteError {
  readonly code = "NONCE_TAKEN";
  override readonly retryable = true;
}

/** The sender cannot pay for the transaction's gas. */
export class InsufficientGasFundsError extends RefuteError {
  readonly code = "INSUFFICIENT_GAS_FUNDS";
}
