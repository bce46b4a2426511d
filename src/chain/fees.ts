/** The fees offered by a transaction, in wei per gas unit. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };

/** An eighth more, and at least 1 wei: less is no replacement to a node. */
export const raised = (fees: Fees): Fees => ({
  maxFeePerGas: eighthMore(fees.maxFeePerGas),
  maxPriorityFeePerGas: eighthMore(fees.maxPriorityFeePerGas),
});
const eighthMore = (fee: bigint): bigint => fee + fee / 8n + 1n;

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A margin for the two digits that a node prints of its cap, wei. */
const CAP_MARGIN = 5n * 10n ** 15n;

/**
 * Lowers fees until a node with a cap takes them.
 * @param cap Of gas limit times maximum fee, wei, as the node prints it.
 * @param base The base fee.
 * @returns undefined if the fees cannot be lowered: they would not cover the base fee, or do so with no margin already
 */
export function capped(fees: Fees, gas: bigint, cap: bigint | undefined, base: bigint): Fees | undefined {
  const least = base + base / 8n + 1n;
  const named = cap === undefined || cap <= CAP_MARGIN ? 0n : (cap - CAP_MARGIN) / gas;
  const wanted = [named, least, base].find((fee) => fee >= base && fee > 0n && fee < fees.maxFeePerGas);
  if (wanted === undefined) return undefined;
  const { maxPriorityFeePerGas: tip } = fees;
  return { maxFeePerGas: wanted, maxPriorityFeePerGas: tip < wanted ? tip : wanted };
}

/** The higher of each fee. */
export const maxFees = (a: Fees, b: Fees): Fees => ({
  maxFeePerGas: max(a.maxFeePerGas, b.maxFeePerGas),
  maxPriorityFeePerGas: max(a.maxPriorityFeePerGas, b.maxPriorityFeePerGas),
});

/** Raises fees until the maximum covers at least twice the base fee plus the tip. */
export const covering = (fees: Fees, baseFeePerGas: bigint): Fees =>
  maxFees(fees, { ...fees, maxFeePerGas: 2n * baseFeePerGas + fees.maxPriorityFeePerGas });

/** The minimum tip of pools and block builders by default, with a margin: 0.01 gwei. */
const MIN_TIP = 10_000_000n;

/**
 * Returns the first offered fees. The tip does not exceed a quarter of the base fee: a game pays a worker back up to
 * this tip (contracts/game/DisputeGame.sol). When gas is cheap, the usual tip is many times higher, and many sham games
 * would then use up an honest worker's ether. Cheap gas also means room in blocks. If no block takes the lower tip, the
 * usual tip is offered.
 * @param usual The usual fees: the maximum fee is the base fee, plus a fifth of the base fee, plus the tip.
 */
export function refundedFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees {
  const base = ((maxFeePerGas - maxPriorityFeePerGas) * 5n) / 6n;
  const tip = max(base / 4n, MIN_TIP);
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxPriorityFeePerGas ? tip : maxPriorityFeePerGas };
}
