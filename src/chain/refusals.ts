import { BaseError, parseEther } from "viem";

/** The meaning of a node's refusal. */
export type Refusal =
  /** The pool or the chain has this very transaction. */
  | "known"
  /** Another transaction of the account has the nonce, and the fees are too low to replace it. */
  | "replacement"
  /** The maximum fee is below the base fee. */
  | "baseFee"
  /** The fees are below what the pool asks for. */
  | "underpriced"
  /** The chain already contains a transaction with this nonce. */
  | "nonceTooLow"
  /** Chain and pool lack a transaction with a nonce before. */
  | "nonceGap"
  | "funds"
  | "tooLarge"
  /** The node passes on no transaction that may cost so much. */
  | "feeCap"
  /** The pool may take the transaction when it has room. */
  | "poolFull"
  /** The call was executed, and fails. */
  | "fails"
  /** The node has not, or no longer, the state of an old block. */
  | "pruned"
  /** For good, though the code of the error may mean something else to other makes of nodes. */
  | "refused"
  /** The node cannot answer now. */
  | "busy";

/**
 * The refusal messages of each node implementation, by meaning. Error codes do not suffice: most refusals have -32000,
 * and other codes have several meanings. The first matching line counts. Sources of the messages:
 * - geth: core/error.go, core/txpool/errors.go, core/txpool/validation.go (go-ethereum)
 * - reth: crates/rpc/rpc-eth-types/src/error/mod.rs, crates/transaction-pool/src/error.rs
 * - erigon: txnprovider/txpool/txpoolcfg/txpoolcfg.go
 * - nethermind: src/Nethermind/Nethermind.TxPool/AcceptTxResult.cs and TxPoolErrorMessages; older ones gave the names
 * - besu: RpcErrorType.java (ethereum/api, package jsonrpc.internal.response)
 * - anvil: crates/anvil/src/eth/error.rs (foundry)
 * - hardhat: crates/edr_provider/src/error.rs and mem_pool.rs of crates/edr_evm (edr)
 */
export const WORDS: readonly (readonly [Refusal, RegExp])[] = [
  // geth, reth, erigon, nethermind; AlreadyKnown of older nethermind
  ["known", /already ?known/i],
  // anvil; reth calls it so inside
  ["known", /already imported/i],
  // besu, hardhat
  ["known", /known transaction/i],
  // erigon
  ["known", /same hash/i],
  // geth, reth, erigon, nethermind, besu, hardhat
  ["replacement", /replacement transaction underpriced/i],
  // older nethermind
  ["replacement", /replacement ?not ?allowed/i],
  // anvil, erigon
  ["replacement", /replace existing (transaction|tx)/i],
  // providers that say it as ethers does
  ["replacement", /replacement fee too low|fee too low to replace/i],
  // geth, reth, erigon, anvil; "fee cap" is of older ones
  ["baseFee", /(fee per gas|fee ?cap) less than (the )?block base fee/i],
  // besu
  ["baseFee", /below current base fee/i],
  // hardhat
  ["baseFee", /too low for the next block/i],
  // geth, reth, erigon, nethermind
  ["underpriced", /underpriced/i],
  // erigon; FeeTooLow and FeeTooLowToCompete of older nethermind
  ["underpriced", /fee ?too ?low/i],
  // besu
  ["underpriced", /below configured minimum gas price/i],
  // reth
  ["underpriced", /priority fee below minimum/i],
  // all but the next two
  ["nonceTooLow", /nonce (is )?too low/i],
  // older nethermind
  ["nonceTooLow", /old ?nonce/i],
  // nethermind; hardhat with immediate mining; geth for delegated accounts; others that keep nothing behind a gap
  ["nonceGap", /nonce ?gap|future nonce|nonce (is )?too high|gapped.?nonce|nonce \d+ is behind a gap/i],
  // geth, reth, erigon, nethermind, anvil
  ["funds", /insufficient ?funds/i],
  // hardhat
  ["funds", /enough funds/i],
  // besu
  ["funds", /upfront cost exceeds account balance/i],
  // geth, reth, erigon
  ["tooLarge", /oversized/i],
  // erigon
  ["tooLarge", /rlp ?too ?long/i],
  // rollups; MaxTxSizeExceeded of older nethermind
  ["tooLarge", /(transaction|tx) ?size/i],
  // nethermind, rollups
  ["tooLarge", /transaction (is )?too (large|big)/i],
  // geth, reth, erigon
  ["poolFull", /pool is full/i],
  // geth and its kind
  ["feeCap", /exceeds the configured cap/i],
  // geth, erigon; besu
  ["fails", /invalid (opcode|jump)|out of gas|stack (under|over)flow|write protection/i],
  // geth, reth, erigon
  ["fails", /gas required exceeds/i],
  // nethermind, older ones
  ["fails", /vm execution error/i],
  // geth
  ["pruned", /missing trie node|historical state/i],
  // reth, erigon
  ["pruned", /pruned|pruning/i],
  // besu, whose code -32005 is "too many requests" elsewhere; geth, reth
  ["refused", /exceeds block gas limit/i],
  // geth, reth, erigon, nethermind
  ["refused", /intrinsic gas|gas limit too (high|low)|tx gas limit/i],
  // geth, reth
  ["refused", /transaction type not supported|invalid (sender|chain ?id|signature)|replay-protected/i],
  // besu, whose code -32007 is "too many requests" elsewhere
  ["refused", /not authorized to send/i],
  // geth behind a load balancer, for a block that another node has
  ["busy", /header not found/i],
  // for a block that another node has: besu, erigon; nodes behind a load balancer
  ["busy", /block not found|unknown block|beyond (the )?(current |latest )?head/i],
  // besu
  ["busy", /world state unavailable|sync is still in progress/i],
  // nethermind
  ["busy", /node is syncing/i],
  // providers
  ["busy", /too many requests|rate limit|request limit|per second|throughput|compute units/i],
  [
    "busy",
    /rate exceeded|quota|concurrency|backend|unhealthy|overloaded|try again|retry (in|after)|timed out|timeout/i,
  ],
];

/** Returns the meaning of a node's message; undefined if no line above matches. */
export const refusalOf = (words: string): Refusal | undefined => WORDS.find(([, known]) => known.test(words))?.[0];

/** Returns the cap that a message names, in wei: "tx fee (1.63 ether) exceeds the configured cap (1.00 ether)". */
export function capIn(words: string): bigint | undefined {
  const cap = /cap \(?([\d.]+) ?ether/i.exec(words)?.[1];
  return cap === undefined || Number.isNaN(Number(cap)) ? undefined : parseEther(cap);
}

/** Returns whether a node's message matches. */
export const detailsMatch = (error: unknown, words: RegExp): boolean =>
  error instanceof BaseError && error.walk((e) => e instanceof BaseError && words.test(e.details)) !== null;

/** Returns the meaning of a node's error, from the message that viem attaches. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof BaseError)) return undefined;
  let found: Refusal | undefined;
  error.walk((e) => (found ??= e instanceof BaseError ? refusalOf(e.details) : undefined) !== undefined);
  return found;
}
