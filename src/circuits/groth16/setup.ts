import { inverse, ORDER, residue } from "../field.ts";
import type { Circuit } from "../circuit.ts";
import type { Curve } from "./curve.ts";
import { Origin, type KeySubject, type ProvingKey } from "./keys.ts";
import { randomScalar } from "./randomScalar.ts";
import { lagrangeBasis, logRows, wirePolynomials } from "./rows.ts";

/** Toxic waste: anybody who knows the numbers can prove anything. */
export type Secrets = Record<"tau" | "alpha" | "beta" | "gamma" | "delta", bigint>;

/**
 * Makes keys from secrets known to the caller, for tests and local chains. Contracts on public chains refuse the
 * key's mark.
 * @param subject As `subjectOf` gives.
 */
export function setUpKnown(curve: Curve, circuit: Circuit, subject: KeySubject, secrets: Secrets): ProvingKey {
  const { tau, alpha, beta, gamma, delta } = secrets;
  const log = logRows(circuit);
  const { a, b, c } = wirePolynomials(circuit, tau);
  const [byGamma, byDelta] = [inverse(gamma), inverse(delta)];
  const combined = a.map((value, wire) => residue(beta * value + alpha * b[wire]! + c[wire]!));
  const first = 1 + circuit.publicCount;
  const over = (values: readonly bigint[], divisor: bigint): bigint[] => values.map((each) => (each * divisor) % ORDER);
  // At odd roots with twice the order, the vanishing polynomial does not vanish.
  const odd = lagrangeBasis(log + 1, tau).filter((_, k) => k % 2 === 1);
  const [alpha1, beta1, delta1] = curve.multiples1([alpha, beta, delta]) as [G1, G1, G1];
  const [beta2, gamma2, delta2] = curve.multiples2([beta, gamma, delta]) as [G2, G2, G2];
  return {
    verifying: {
      origin: Origin.knownSecrets,
      ...subject,
      alpha: curve.coordinates1(alpha1),
      beta: curve.coordinates2(beta2),
      gamma: curve.coordinates2(gamma2),
      delta: curve.coordinates2(delta2),
      publics: curve.multiples1(over(combined.slice(0, first), byGamma)).map(curve.coordinates1),
    },
    log,
    ...{ alpha1, beta1, beta2, delta1, delta2 },
    a: curve.multiples1(a),
    b1: curve.multiples1(b),
    b2: curve.multiples2(b),
    c: curve.multiples1(over(combined.slice(first), byDelta)),
    h: curve.multiples1(over(odd, byDelta)),
  };
}

type G1 = ProvingKey["alpha1"];
type G2 = ProvingKey["beta2"];

/** Draws secrets, for a machine that forgets the numbers; nobody else can know whether the machine did. */
export const drawSecrets = (): Secrets => ({
  tau: randomScalar(),
  alpha: randomScalar(),
  beta: randomScalar(),
  gamma: randomScalar(),
  delta: randomScalar(),
});
