/** How long a sender waits for what. */
export type Patience = {
  /** Pause between two looks for a receipt. */
  pollingMs: number;
  /**
   * A transaction that waits this long although its fee covers the base fee is sent again with a higher one. One of an
   * earlier process is replaced after this time.
   */
  slowMs: number;
  /**
   * A transaction that waits longer is given up, so that its action is considered anew. Its nonce is used again. For as
   * long, no node is offered a transaction larger than one that was refused for its size.
   */
  longestMs: number;
};

/** The usual one. */
export const PATIENCE: Patience = { pollingMs: 500, slowMs: 45_000, longestMs: 180_000 };
/**
 * The same bytes are sent again as long as no node knows the transaction: after a part of the pause between two looks,
 * then after pauses that double, up to a part of the time after which a transaction counts as slow. A pool may forget
 * what it took, so that they are sent again after the longest pause in any case. With the usual patience: after 0.25 s,
 * 0.5 s, ... 8 s, then every 15 s.
 */
export const FIRST_RESEND_PART = 2;
export const LONGEST_RESEND_PART = 3;
/** A call that passed so long ago is tried again, for free, before it is sent again: a part of the same time (5 s). */
export const PASSED_PART = 9;
/** Transactions that a reorganisation may take back. */
export const RECENT = 64;
/** Pause between two looks for a nonce that no transaction has: a part of the same time (5 s). */
export const GAP_PART = 9;
/**
 * So often in a row nodes may refuse a transaction that none of them knows, or say that it would fail. Then it counts
 * as dropped, by a reorganisation or because its action was made. A node that lags may say so once or twice.
 */
export const MAX_REFUSALS = 4;
/** How often the nonce is asked for if a node names one that is taken, and the pause before. */
export const NONCE_LOOKS = 3;
export const NONCE_PAUSE_MS = 200;
/** Maximum tip of a transaction that waits although its fee covers the base fee, in multiples of the usual tip. */
export const MAX_TIP_FACTOR = 4n;
/**
 * How often a fee is raised at once, by an eighth each time, to replace a transaction whose fee is not known. 12 times
 * make it four times the usual one.
 */
export const MAX_RAISES = 12;
