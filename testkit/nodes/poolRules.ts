import type { Hex } from "viem";
import type { Offered, Pooled } from "./poolTransaction.ts";

/** A pool's limits. */
export type PoolLimits = {
  /** The maximum size, including the signature. */
  maxBytes: number;
  /** The maximum size of a contract's creation code. */
  maxInitCodeBytes: number;
  maxGas: bigint;
  blockGas: bigint;
  /** Wei for a unit of gas. */
  minTip: bigint;
  /** How far a nonce may be ahead of the account's next nonce, which counts waiting transactions. */
  maxGap: bigint;
};

/**
 * The limits of Ethereum's clients by default:
 * - 131,072 bytes: `txMaxSize` in core/txpool/legacypool/legacypool.go of go-ethereum, `DEFAULT_MAX_TX_INPUT_BYTES` in
 *   crates/transaction-pool/src/validate/constants.rs of reth;
 * - 49,152 bytes of init code: EIP-3860;
 * - 2^24 gas a transaction: EIP-7825; 60 million gas a block is usual on Ethereum;
 * - a tip of 1 wei: `PriceLimit` in legacypool.go;
 * - 64 transactions behind a gap: `AccountQueue` in legacypool.go. Nethermind's pool keeps none.
 */
export const ETHEREUM_LIMITS: PoolLimits = {
  maxBytes: 131_072,
  maxInitCodeBytes: 49_152,
  maxGas: 2n ** 24n,
  blockGas: 60_000_000n,
  minTip: 1n,
  maxGap: 64n,
};

/** The usual `MaxTxDataSize` of a rollup's sequencer: execution/gethexec/sequencer.go of nitro. */
export const ROLLUP_MAX_BYTES = 95_000;

/** Percent by which a replacement must raise both fees: `PriceBump` in legacypool.go, `DEFAULT_PRICE_BUMP` in reth. */
const REPLACEMENT_PERCENT = 10n;

/** A pool's JSON-RPC error. The words match go-ethereum's words, because clients have to tell the errors apart. */
export class PoolRefusal extends Error {
  readonly code = -32_000;
}

function ensure(holds: boolean, words: string): void {
  if (!holds) throw new PoolRefusal(words);
}

/**
 * Makes the checks that need no account, in the order of `ValidateTransaction` in go-ethereum's
 * core/txpool/validation.go.
 * @throws PoolRefusal
 */
export function checkTransaction(offered: Offered, limits: PoolLimits): void {
  const { bytes, gas, maxFee, tip, data, creates } = offered;
  const { maxBytes, maxInitCodeBytes, maxGas, blockGas, minTip } = limits;
  ensure(bytes <= maxBytes, `oversized data: transaction size ${bytes}, limit ${maxBytes}`);
  const initCode = creates ? data.length / 2 - 1 : 0;
  ensure(initCode <= maxInitCodeBytes, `max initcode size exceeded: code size ${initCode}, limit ${maxInitCodeBytes}`);
  ensure(gas <= maxGas, `transaction gas limit too high (cap: ${maxGas}, tx: ${gas})`);
  ensure(gas <= blockGas, "exceeds block gas limit");
  ensure(tip <= maxFee, "max priority fee per gas higher than max fee per gas");
  const { intrinsic, floor } = minimumGas(data, creates);
  ensure(gas >= intrinsic, `intrinsic gas too low: gas ${gas}, minimum needed ${intrinsic}`);
  ensure(gas >= floor, `insufficient gas for floor data gas cost: gas ${gas}, minimum needed ${floor}`);
  ensure(tip >= minTip, `transaction underpriced: gas tip cap ${tip}, minimum needed ${minTip}`);
}

/** An account as the chain has it: its next nonce, and wei. */
type ChainAccount = { nonce: number; balance: bigint };

/** An account's waiting transactions by nonce. */
type Waiting = ReadonlyMap<number, Pooled>;

/**
 * Checks a transaction against its account and the waiting transactions. The checks follow `add` in legacypool.go,
 * `ValidateTransactionWithState` in core/txpool/validation.go and `Add` in core/txpool/legacypool/list.go. A nonce may
 * be too high: such a transaction waits for the transactions with lower nonces.
 * @throws PoolRefusal
 */
export function checkAccount(tx: Pooled, { nonce, balance }: ChainAccount, waiting: Waiting): void {
  const before = waiting.get(tx.nonce);
  ensure(before?.hash !== tx.hash, "already known");
  ensure(tx.nonce >= nonce, `nonce too low: next nonce ${nonce}, tx nonce ${tx.nonce}`);
  let cost = costOf(tx);
  for (const other of waiting.values()) if (other.nonce !== tx.nonce) cost += costOf(other);
  const overshot = cost - balance;
  ensure(
    overshot <= 0n,
    `insufficient funds for gas * price + value: balance ${balance}, tx cost ${cost}, overshot ${overshot}`,
  );
  if (before === undefined) return;
  const isRaised = raises(tx.maxFee, before.maxFee) && raises(tx.tip, before.tip);
  ensure(isRaised, "replacement transaction underpriced");
}

/**
 * Refuses a nonce too far ahead, in the words of Nethermind.
 * @param next The account's next nonce, counting waiting transactions.
 * @throws PoolRefusal
 */
export function checkGap({ nonce }: Pooled, next: number, { maxGap }: PoolLimits): void {
  ensure(BigInt(nonce - next) <= maxGap, `NonceGap, Future nonce. Expected nonce: ${next}`);
}

/** The next nonce, counting those that wait: none behind a gap. */
export function pendingNonce(nonce: number, waiting: Waiting): number {
  return waiting.has(nonce) ? pendingNonce(nonce + 1, waiting) : nonce;
}

const costOf = ({ gas, maxFee, value }: Pooled): bigint => gas * maxFee + value;

const raises = (offered: bigint, before: bigint): boolean =>
  offered > before && offered * 100n >= before * (100n + REPLACEMENT_PERCENT);

/** Gas for a transaction and for each byte of data (EIP-2028), for creating a contract, and for the contract's code. */
const TRANSACTION = 21_000n;
const ZERO_BYTE = 4n;
const BYTE = 16n;
const CREATION = 32_000n;
const INIT_CODE_WORD = 2n;

/**
 * The minimum gas for a zero data byte in a transaction (EIP-7623). Any other data byte costs at least four times as
 * much.
 */
const FLOOR_TOKEN = 10n;

/** Without access lists and authorisations: the protocol's clients send none. */
function minimumGas(data: Hex, creates: boolean): { intrinsic: bigint; floor: bigint } {
  let zeros = 0n;
  for (let k = 2; k < data.length; k += 2) if (data[k] === "0" && data[k + 1] === "0") zeros++;
  const bytes = BigInt(data.length / 2 - 1);
  const others = bytes - zeros;
  const creation = creates ? CREATION + INIT_CODE_WORD * ((bytes + 31n) / 32n) : 0n;
  return {
    intrinsic: TRANSACTION + ZERO_BYTE * zeros + BYTE * others + creation,
    floor: TRANSACTION + FLOOR_TOKEN * (zeros + 4n * others),
  };
}
