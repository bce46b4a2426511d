/** Random float32 bit patterns, many at the format's edges. */
import { Prng } from "../random/prng.ts";

const POSITIVE_EDGES = [
  0x00000000, // 0
  0x00000001, // smallest subnormal
  0x00000002,
  0x00000003,
  0x003fffff,
  0x00400000,
  0x007fffff, // largest subnormal
  0x00800000, // smallest normal, 2^-126
  0x00800001,
  0x01000000,
  0x1f800000, // 2^-64
  0x33000000, // 2^-25
  0x33800000, // 2^-24, half an ulp of 1
  0x34000000, // 2^-23
  0x3effffff,
  0x3f000000, // 0.5
  0x3f000001,
  0x3f7fffff, // just below 1
  0x3f800000, // 1
  0x3f800001, // just above 1
  0x3fc00000, // 1.5
  0x40000000, // 2
  0x40200000, // 2.5
  0x40400000, // 3
  0x42fe0000, // 127
  0x42ff0000, // 127.5
  0x43000000, // 128
  0x437f0000, // 255
  0x437f8000, // 255.5
  0x43800000, // 256
  0x46fffe00, // 32767
  0x477fff00, // 65535
  0x4affffff, // 2^23 - 0.5
  0x4b000000, // 2^23
  0x4b7fffff, // 2^24 - 1
  0x4b800000, // 2^24
  0x4effffff, // largest below 2^31
  0x4f000000, // 2^31
  0x4f7fffff, // largest below 2^32
  0x4f800000, // 2^32
  0x5effffff, // largest below 2^63
  0x5f000000, // 2^63
  0x5f7fffff, // largest below 2^64
  0x5f800000, // 2^64
  0x7e800000, // 2^126
  0x7effffff,
  0x7f000000, // 2^127
  0x7f7ffffe,
  0x7f7fffff, // largest finite
  0x7f800000, // Infinity
  0x7f800001, // signalling NaN
  0x7fc00000, // the NaN
  0x7fffffff,
] as const;

/** Edge bit patterns with both signs, including -0 and non-canonical NaNs. */
export const EDGE_BITS: readonly number[] = [
  ...POSITIVE_EDGES,
  ...POSITIVE_EDGES.map((bits) => (bits | 0x80000000) >>> 0),
];

const clampExponent = (exponent: number): number => Math.max(0, Math.min(254, exponent));

function mantissaBits(prng: Prng): number {
  switch (prng.below(4)) {
    case 0: // few high bits: products, quotients and roots that are exact or ties
      return (prng.below(256) << 15) & 0x7fffff;
    case 1: // runs of zeros or ones: carries
      return prng.below(2) === 0 ? (1 << prng.below(23)) - 1 : 0x7fffff & ~((1 << prng.below(24)) - 1);
    default:
      return prng.uint32() & 0x7fffff;
  }
}

/** One float32 bit pattern: any bits, edges and their neighbours, subnormals, large, and numbers of ordinary size. */
export function float32Bits(prng: Prng): number {
  const sign = prng.below(2) << 31;
  switch (prng.below(8)) {
    case 0:
      return prng.uint32();
    case 1:
      return prng.pick(EDGE_BITS);
    case 2:
      return (prng.pick(EDGE_BITS) + prng.below(5) - 2) >>> 0;
    case 3: // subnormals and the first binades
      return (sign | (prng.below(3) << 23) | mantissaBits(prng)) >>> 0;
    case 4: // the last binades
      return (sign | ((252 + prng.below(3)) << 23) | mantissaBits(prng)) >>> 0;
    default: // 2^-27 .. 2^36
      return (sign | ((100 + prng.below(64)) << 23) | mantissaBits(prng)) >>> 0;
  }
}

/**
 * Two bit patterns. Half the time the second is related to the first, so that sums cancel or tie, products and
 * quotients fall at the overflow and underflow edges, and comparisons meet equals.
 */
export function float32BitsPair(prng: Prng): [number, number] {
  const first = float32Bits(prng);
  const sign = (prng.below(2) << 31) >>> 0;
  const exponent = (first >>> 23) & 0xff;
  switch (prng.below(10)) {
    case 0: // equal or opposite, up to a few ulps
      return [first, ((first ^ sign) + prng.below(3) - 1) >>> 0];
    case 1: // 20 to 30 binades below, few bits: ties of sums
      return [first, (sign | (clampExponent(exponent - 20 - prng.below(11)) << 23) | mantissaBits(prng)) >>> 0];
    case 2: // product near the overflow edge
      return [first, (sign | (clampExponent(380 - exponent + prng.below(4)) << 23) | mantissaBits(prng)) >>> 0];
    case 3: // product near the underflow edge
      return [first, (sign | (clampExponent(127 - exponent - prng.below(28)) << 23) | mantissaBits(prng)) >>> 0];
    case 4: // quotient near an edge
      return [
        first,
        (sign |
          (clampExponent(prng.below(2) === 0 ? exponent - 127 - prng.below(3) : exponent + 125 + prng.below(28)) <<
            23) |
          mantissaBits(prng)) >>>
          0,
      ];
    default:
      return [first, float32Bits(prng)];
  }
}

/** `count` edge-weighted float32 words (as bigint) from a seed; not canonicalised. */
export function float32Words(seed: number, count: number): bigint[] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, () => BigInt(float32Bits(prng)));
}

/** `count` edge-weighted pairs of float32 words from a seed; not canonicalised. */
export function float32WordPairs(seed: number, count: number): [bigint, bigint][] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, () => {
    const [first, second] = float32BitsPair(prng);
    return [BigInt(first), BigInt(second)];
  });
}
