/** Receives what is forfeited and owed to nobody, if nothing else is said: an account without a key. */
export const DEFAULT_SINK = "0x000000000000000000000000000000000000dEaD";
/** Every so many blocks, the hash of one is in the nonces of reports: some six minutes on L1. */
export const DEFAULT_GRID_BLOCKS = 32;
/** The widest grid that a deployment takes. */
export const MAX_GRID_BLOCKS = 128;
/** How long a report holds, seconds. */
export const DEFAULT_REPORT_LIFETIME = 7 * 86_400;
/**
 * How long a lower number of Intel's documents counts after a higher one was first brought, seconds: 180 days. In June
 * 2025 Intel had three numbers at once; machines need new firmware to be current under a new one.
 */
export const DEFAULT_TDX_GRACE = 180 * 86_400;

/** Seconds after it was issued in which a signed claim can be put on chain: 75 blocks of L1. */
export const DEFAULT_CLAIM_LIFETIME = 900;
/** Seconds between asking for a deposit for tickets back and having it: longer than a ticket about it can be cashed. */
export const DEFAULT_DEPOSIT_DELAY = 86_400;

/** Seconds after a result of an exam in which it can be challenged, if nothing else is said: a day. */
export const DEFAULT_EXAM_LIFETIME = 86_400;
