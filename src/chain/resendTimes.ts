/** How long a sender waits for what. */
export type Patience = {
  /** Pause between two looks for a receipt. */
  pollingMs: number;
  /**
   * The time until a waiting transaction is sent again with a higher fee, if the present fee covers the base fee. An
   * earlier process's transaction is replaced after the same time.
   */
  slowMs: number;
  /**
   * Maximum waiting time of a transaction. Afterwards the transaction counts as lost: the action is considered anew,
   * and the nonce is reused. For the same time after a refusal for size, no node is offered a larger transaction.
   */
  longestMs: number;
};

/** The usual one. */
export const PATIENCE: Patience = { pollingMs: 500, slowMs: 45_000, longestMs: 180_000 };
/**
 * The sender repeats the same bytes while no node knows the transaction. The first repetition follows after a part of
 * the pause between two looks. Further pauses double, up to a part of `slowMs`. A pool may forget a transaction, and
 * the bytes therefore follow again after the longest pause in any case. With the usual patience: after 0.25 s, 0.5 s,
 * ... 8 s, then every 15 s.
 */
export const FIRST_RESEND_PART = 2;
export const LONGEST_RESEND_PART = 3;
/** While no node answers, the pauses do not double beyond so many pauses between two looks (1 s). */
export const LONGEST_UNANSWERED = 2;
/**
 * All waiting transactions share what was read lately: the account's counts within a part of the pause between two
 * looks, fees and base fee within a multiple (0.45 s and 1 s). A bad node counts requests, and demands pauses.
 */
export const SHARED_PART = 0.9;
export const FEE_PART = 2;
/** A call that passed longer ago is tried again, for free, before the next sending: a part of the same time (5 s). */
export const PASSED_PART = 9;
/**
 * A call refused for want of a transaction before is offered again after the offers under way: a pool may keep nothing
 * behind a gap. The wait for these offers is at most a part of the same time (5 s).
 */
export const TURN_PART = 9;
/** Transactions that a reorganisation may take back. */
export const RECENT = 64;
/** Pause between two looks for a nonce that no transaction has: a part of the same time (5 s). */
export const GAP_PART = 9;
/**
 * How often in a row nodes may refuse an unknown transaction, or report that the transaction would fail. After this,
 * the transaction counts as dropped, by a reorganisation or because another transaction made the same move. A lagging
 * node may refuse once or twice.
 */
export const MAX_REFUSALS = 4;
/** How often the nonce is read if a node names a taken nonce, and the pause before each read. */
export const NONCE_LOOKS = 3;
export const NONCE_PAUSE_MS = 200;
/** Maximum tip, in multiples of the usual tip, for a waiting transaction whose fee already covers the base fee. */
export const MAX_TIP_FACTOR = 4n;
/**
 * How often a fee is raised at once, by an eighth each time, to replace a transaction whose fee is not known. 12 times
 * make it four times the usual one.
 */
export const MAX_RAISES = 12;
