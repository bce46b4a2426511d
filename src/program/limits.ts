/** Limits of the encoding; the verifier decodes under the same ones. */
export const LIMITS = { inputs: 16, digits: 12, constants: 64, reads: 16, axes: 8, instructions: 64 } as const;

/**
 * The maximum levels of a program's lists. Bonds are sized for disputes with at most this length
 * (contracts/game/GasSchedule.sol). A program's own step list has the levels of the checkpoint list plus the levels of
 * a range.
 */
export const MAX_LEVELS = { trace: 12, interior: 12, tensor: 20, steps: 24 } as const;

/** Header sizes: the longest served header (contracts/game/GasSchedule.sol), the fixed fields, and each input. */
export const HEADER_BYTES = { max: 2_048, fixed: 30, input: 14 } as const;

/** A tensor has fewer elements than this. */
export const MAX_COUNT = 2 ** 32;

/** A proof of one element must fit a transaction with 2^24 gas (EIP-7825), leaving room for a repricing. */
export const MAX_STEP_GAS = 12_000_000;

/** The pools of Ethereum's clients accept no larger transaction. */
export const MAX_STEP_BYTES = 131_072;

/** The limit for programs that shall move between networks: below the 95,000 of large rollups' sequencers. */
export const DEFAULT_STEP_BYTES = 90_000;
