/** Receives what is forfeited and owed to nobody, if nothing else is said: an account without a key. */
export const DEFAULT_SINK = "0x000000000000000000000000000000000000dEaD";
/** How long a nonce for a report holds, seconds. */
export const DEFAULT_NONCE_LIFETIME = 3_600;
/** How long a report holds at most, seconds. */
export const DEFAULT_REPORT_LIFETIME = 7 * 86_400;
