import { SLACK } from "../../numerics/kernels/certify.ts";
import type { Machine } from "../machine.ts";
import { compensatedError } from "./compensated.ts";

const FLOAT64 = 8;
/** The one NaN of float32. */
const NAN_BITS = 0x7fc00000;

/** Bytes of the two norms that settling needs. */
export const NORMS_BYTES = 2 * FLOAT64;

/**
 * Makes a function for the bits of an exact sum of products, rounded once. Its arguments are the factors' addresses;
 * factors are float64, side by side. The function uses the same tiers as the engine's products (no rounding at all, a
 * compensated sum, integers) and counts them.
 * @param norms An address with room for NORMS_BYTES.
 */
export function settleTerms(machine: Machine, terms: number, norms: number): (a: number, b: number) => number {
  const { views, kernels, stats, settleScratch } = machine;
  const norm = views.float64(norms, 2);
  const rounded = new Float32Array(1);
  const roundedBits = new Uint32Array(rounded.buffer);
  const round = (value: number): number => {
    rounded[0] = value + 0;
    return roundedBits[0]!;
  };
  const { alwaysExact } = machine;
  return (a, b) => {
    kernels.norms(a, terms, 1, norms);
    kernels.norms(b, terms, 1, norms + FLOAT64);
    const magnitude = norm[0]! * norm[1]! * SLACK;
    // A norm is NaN if a factor is; infinity times 0, if an infinite factor meets a 0. Then a product is NaN.
    if (Number.isNaN(magnitude) && !alwaysExact) {
      stats.ties++;
      return NAN_BITS;
    }
    const sum = kernels.compensatedDot(a, b, terms);
    const isTie = magnitude < 2 ** 53 * (kernels.unit(a, terms) * kernels.unit(b, terms));
    if (isTie && !alwaysExact) {
      stats.ties++;
      return round(sum);
    }
    const error = compensatedError(sum, terms, magnitude);
    const low = Math.fround(sum - error);
    if (low === Math.fround(sum + error) && !alwaysExact) {
      stats.compensated++;
      return round(low);
    }
    stats.exact++;
    return kernels.exactDot(a, b, terms, settleScratch);
  };
}
