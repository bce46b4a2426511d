import { ORDER } from "../field.ts";
import type { Curve } from "./curve.ts";
import { flawOf, type Proof, type VerifyingKey } from "./keys.ts";

/**
 * Whether a proof holds under a key. Like the contract, refuses flawed keys, wrong numbers of public values, values
 * from the field's order on, and coordinates off the curve or outside the group.
 */
export function verify(curve: Curve, key: VerifyingKey, publics: readonly bigint[], proof: Proof): boolean {
  if (publics.length + 1 !== key.publics.length || flawOf(key) !== undefined) return false;
  if (publics.some((value) => value < 0n || value >= ORDER)) return false;
  const [a, c, alpha] = [proof.a, proof.c, key.alpha].map(curve.point1);
  const [b, beta, gamma, delta] = [proof.b, key.beta, key.gamma, key.delta].map(curve.point2);
  const bases = key.publics.map(curve.point1);
  if (!a || !c || !alpha || !b || !beta || !gamma || !delta) return false;
  if (!bases.every((base) => base !== undefined)) return false;
  const combined = curve.product1(bases, [1n, ...publics]);
  const minusOne = ORDER - 1n;
  const negated = curve.product1([a], [minusOne]);
  return curve.pairsToOne([
    [negated, b],
    [alpha, beta],
    [combined, gamma],
    [c, delta],
  ]);
}
