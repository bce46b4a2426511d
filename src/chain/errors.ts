import type { Address, Hex } from "viem";
import { errorWithCode, RefuteError } from "../base/errors.ts";
import { revertText } from "./revertText.ts";

/** A node did not answer: the node is down, unreachable, too busy or too slow. */
export class RpcUnavailableError extends errorWithCode("RPC_UNAVAILABLE", { retryable: true }) {}

/** A node never answers such a request: it lacks the method, or takes no such parameters. Another node may answer. */
export class NodeRefusalError extends RpcUnavailableError {}

/** The chain has no base fee (EIP-1559). No transaction of Refute can be sent there. */
export class NoBaseFeeError extends errorWithCode("NO_BASE_FEE") {
  constructor(options?: ErrorOptions) {
    super("the chain has no base fee (EIP-1559), and Refute needs one: use another chain", options);
  }
}

/** No node is named that could be asked. */
export class NoNodeError extends errorWithCode("NO_NODE") {}

/** A chain that has no blobs (EIP-4844). */
export class NoBlobsError extends errorWithCode("NO_BLOBS") {}

/** Blobs now cost more than the sender may offer for them. Nothing more was sent. */
export class BlobsTooDearError extends errorWithCode("BLOBS_TOO_DEAR", { retryable: true }) {}

/** An endpoint serves another chain than the expected chain. */
export class WrongChainError extends errorWithCode("WRONG_CHAIN") {}

/** An expected contract is missing: the addresses are wrong, or Refute is not deployed on the chain. */
export class NotDeployedError extends errorWithCode("NOT_DEPLOYED") {}

/** A deployment's programs follow other semantics than this Refute release. */
export class OtherSemanticsError extends RefuteError {
  readonly code = "OTHER_SEMANTICS";
  readonly market: Address;
  readonly semantics: bigint;
  readonly known: number;

  constructor(market: Address, semantics: bigint, known: number) {
    super(
      `the market at ${market} has semantics version ${semantics}, this release of Refute plays version ${known}: ` +
        `use a release for that version`,
    );
    [this.market, this.semantics, this.known] = [market, semantics, known];
  }
}

/** A contract refused a call. `errorName` is the contract's own error. */
export class ContractRevertError extends RefuteError {
  readonly code = "CONTRACT_REVERT";
  readonly functionName: string;
  readonly errorName: string;
  readonly args: readonly unknown[];

  constructor(functionName: string, errorName: string, args: readonly unknown[], options?: ErrorOptions) {
    super(`${functionName} is refused: ${revertText(errorName, args)}`, options);
    [this.functionName, this.errorName, this.args] = [functionName, errorName, args];
  }
}

/** Errors of contracts that say: not yet. */
const TOO_EARLY = new Set(["WindowOpen", "ClockRunning", "TimeNotUp", "ClaimNotFinal", "WithdrawalNotReady"]);

/** Whether a contract refuses a call because of the time: also a due call, on a node lagging by a block. */
export const isTooEarly = (error: unknown): boolean =>
  error instanceof ContractRevertError && TOO_EARLY.has(error.errorName);

/** Errors of contracts that say: there already. */
const DONE = new Set(["AlreadyDelivered", "AlreadyPaid", "ClaimExists", "GameExists", "NothingEarned"]);

/** Calls that end a job's status: the job has any other status afterwards. After other calls the number is higher. */
const ENDING = new Set(["expire", "expireOnTerms", "openSeal", "breakSeal"]);

/**
 * Whether a contract refuses a call because the call's effect is there already: an earlier transaction, which seemed
 * lost, was mined after all, or somebody else was faster.
 */
export function isDone(error: unknown): boolean {
  if (!(error instanceof ContractRevertError)) return false;
  const { functionName, errorName, args } = error;
  if (DONE.has(errorName)) return true;
  if (errorName !== "WrongClaimStatus" && errorName !== "WrongJobStatus") return false;
  return ENDING.has(functionName) || Number(args[1]) > Number(args[2]);
}

/** A transaction that had no effect: what it does may be tried again. */
abstract class TransactionError extends RefuteError {
  override readonly retryable = true;
  readonly functionName: string;
  readonly transactionHash: Hex;

  constructor(functionName: string, transactionHash: Hex, what: string) {
    super(`${functionName}: transaction ${transactionHash} ${what}`);
    [this.functionName, this.transactionHash] = [functionName, transactionHash];
  }
}

/** A transaction was mined and reverted although its simulation had passed: the state changed in between. */
export class TransactionRevertedError extends TransactionError {
  readonly code = "TRANSACTION_REVERTED";

  constructor(functionName: string, transactionHash: Hex) {
    super(functionName, transactionHash, "reverted; the state changed after its simulation");
  }
}

/** A sent transaction is in no block and apparently in no pool: removed by a reorganisation, or with too low a fee. */
export class TransactionDroppedError extends TransactionError {
  readonly code = "TRANSACTION_DROPPED";

  constructor(functionName: string, transactionHash: Hex) {
    super(functionName, transactionHash, "was dropped or is not mined in time; it is tried again");
  }
}

/**
 * Another transaction of the same account came first: a reorganisation put an old one back, or another process uses the
 * same key.
 */
export class NonceTakenError extends errorWithCode("NONCE_TAKEN", { retryable: true }) {}

/** No node takes a transaction of this size. The same transaction is refused again. */
export class TransactionTooLargeError extends RefuteError {
  readonly code = "TRANSACTION_TOO_LARGE";
  readonly functionName: string;
  readonly bytes: number;
  readonly limit: number | undefined;

  /**
   * @param bytes Of the signed transaction.
   * @param limit Of the node, bytes; undefined if the node did not name it.
   */
  constructor(functionName: string, bytes: number, limit: number | undefined, options?: ErrorOptions) {
    const max = limit === undefined ? "the node takes" : `the ${limit} bytes that the node takes`;
    super(
      `${functionName}: a transaction of ${bytes} bytes is larger than ${max}; nothing was sent. Use a node with a ` +
        "higher limit, or a program with smaller steps, inputs or outputs",
      options,
    );
    [this.functionName, this.bytes, this.limit] = [functionName, bytes, limit];
  }
}

/** No node takes a transaction. The reason is not the transaction's size, nonce or fees, and not the sender's funds. */
export class TransactionRefusedError extends RefuteError {
  readonly code = "TRANSACTION_REFUSED";
  readonly functionName: string;
  readonly words: string;

  /** @param words The node's own. @param advice What a person may do. */
  constructor(
    functionName: string,
    words: string,
    options?: ErrorOptions,
    advice = "Compare the node's limits with those of the deployment, or use another node",
  ) {
    super(`${functionName}: the node refuses the transaction (${words}); nothing was sent. ${advice}`, options);
    [this.functionName, this.words] = [functionName, words];
  }
}

/** A node takes no transaction that may cost so much, and the base fee demands it. */
export class FeeCapError extends TransactionRefusedError {
  constructor(functionName: string, words: string, options?: ErrorOptions) {
    super(functionName, words, options, "Raise the node's cap (geth: --rpc.txfeecap 0), or use another node");
  }
}

/** The sender cannot pay for the transaction's gas. */
export class InsufficientGasFundsError extends errorWithCode("INSUFFICIENT_GAS_FUNDS") {}

/** An account has too few tokens, or too little credit or stake, for the intended move. Nothing was sent. */
export class ShortOfFundsError extends errorWithCode("SHORT_OF_FUNDS") {}

/** A wallet that does not send a transaction: its user refused, say. */
export class WalletRefusedError extends errorWithCode("WALLET_REFUSED") {}

/** The process that holds the account's key gave no signature: it is down, unreachable, too slow, or refused. */
export class SignerUnavailableError extends errorWithCode("SIGNER_UNAVAILABLE", { retryable: true }) {}

/** Message for accounts whose keys are in another process: no remote signing protocol has transactions with blobs. */
export const SIGNS_NO_BLOBS = "signs no transactions with blobs: use a key of this process";

/** The process that holds keys does not hold the account's, or signed something else. Nothing was sent. */
export class SignerError extends errorWithCode("SIGNER") {}
