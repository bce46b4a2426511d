/** Words of exact sums are added in lanes: 64 bits for each 32 bits of a word, with room for carries. */
export const LANE_BYTES = 8;
export const LANE_BITS = 32;
