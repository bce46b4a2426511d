import type * as Mcl from "mcl-wasm";
import { inverse, powers, rootOfOne } from "../field.ts";
import type { Curve } from "./curve.ts";

/**
 * The discrete Fourier transform over a group, as `transform` over the field.
 * @param points 2^n points
 * @param root A primitive 2^n-th root; the inverse root gives the inverse transform times 2^n.
 */
export function transformPoints<P extends Mcl.G1 | Mcl.G2>(curve: Curve, points: readonly P[], root: bigint): P[] {
  const count = points.length;
  const bits = Math.log2(count);
  const reversed = (i: number): number =>
    Array.from({ length: bits }, (_, k) => ((i >> k) & 1) << (bits - 1 - k)).reduce((sum, bit) => sum + bit, 0);
  const result = points.map((_, i) => points[reversed(i)]!);
  const roots = powers(root, count >> 1);
  for (let half = 1; half < count; half <<= 1) {
    const stride = count / (2 * half);
    for (let k = 0; k < half; k++) {
      for (let i = k; i < count; i += 2 * half) {
        const low = result[i]!;
        const high = k === 0 ? result[i + half]! : curve.times(result[i + half]!, roots[k * stride]!);
        result[i] = curve.add(low, high);
        result[i + half] = curve.subtract(low, high);
      }
    }
  }
  return result;
}

/** The Lagrange polynomials over 2^log roots of unity at tau, from the powers of tau. */
export function basisOf<P extends Mcl.G1 | Mcl.G2>(curve: Curve, tau: readonly P[], log: number): P[] {
  const count = 2 ** log;
  const byCount = inverse(BigInt(count));
  const basis = transformPoints(curve, tau.slice(0, count), inverse(rootOfOne(log)));
  return basis.map((point) => curve.times(point, byCount));
}
