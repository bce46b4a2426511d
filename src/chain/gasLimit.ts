/** EIP-7825: no transaction may have more gas. */
export const MAX_TRANSACTION_GAS = 16_777_216n;

/** Gas for three storage words that were filled at the estimate and are empty when the transaction is mined. */
const EMPTY_WORDS_GAS = 3n * 22_100n;

/**
 * 15 % over the estimate and some words of storage, because the state may change before the transaction is mined. An
 * adversary can change it on purpose: a sham game that ends in between makes the opening of an honest game dearer by a
 * word, again and again, until the window is over.
 */
export function withMargin(estimate: bigint): bigint {
  const gas = (estimate * 115n) / 100n + EMPTY_WORDS_GAS;
  return gas < MAX_TRANSACTION_GAS ? gas : MAX_TRANSACTION_GAS;
}
