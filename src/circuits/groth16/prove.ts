import { KeyFileError, NoProofError } from "../errors.ts";
import type { Circuit } from "../circuit.ts";
import { inverse, ORDER, powers, residue, rootOfOne, transform } from "../field.ts";
import type { Curve } from "./curve.ts";
import type { Proof, ProvingKey } from "./keys.ts";
import { randomScalar } from "./randomScalar.ts";
import { rowValues, sizeFault } from "./rows.ts";

/**
 * Proves a circuit satisfied, and reveals nothing else about private wires: each proof has fresh randomness.
 * @param values Of all wires, as `witnessOf` gives.
 * @throws NoProofError if a constraint is violated; KeyFileError for a key with other numbers of points
 */
export function prove(curve: Curve, key: ProvingKey, circuit: Circuit, values: readonly bigint[]): Proof {
  const size = sizeFault(circuit, key);
  if (size !== undefined) throw new KeyFileError(`${size}; give the circuit's own key`);
  if (circuit.violated(values).length > 0) throw new NoProofError("values violate the circuit: no proof");
  return proveUnchecked(curve, key, circuit, values);
}

/** Proves without a check, for tests: no verifier takes the result for violating values. */
export function proveUnchecked(curve: Curve, key: ProvingKey, circuit: Circuit, values: readonly bigint[]): Proof {
  const [r, s] = [randomScalar(), randomScalar()];
  const { product1, product2 } = curve;
  const withBlinding = <P>(base: P, delta: P, points: readonly P[]): P[] => [...points, base, delta];
  const a = product1(withBlinding(key.alpha1, key.delta1, key.a), [...values, 1n, r]);
  const b1 = product1(withBlinding(key.beta1, key.delta1, key.b1), [...values, 1n, s]);
  const b2 = product2(withBlinding(key.beta2, key.delta2, key.b2), [...values, 1n, s]);
  const quotient = quotientValues(circuit, values, key.log);
  const privates = values.slice(1 + circuit.publicCount);
  const c = product1(
    [...key.c, ...key.h, a, b1, key.delta1],
    [...privates, ...quotient, s, r, residue(-((r * s) % ORDER))],
  );
  return { a: curve.coordinates1(a), b: curve.coordinates2(b2), c: curve.coordinates1(c) };
}

/** A B - C at the odd roots. */
function quotientValues(circuit: Circuit, values: readonly bigint[], log: number): bigint[] {
  const { a, b, c } = rowValues(circuit, values);
  const shifts = powers(rootOfOne(log + 1), 2 ** log);
  for (const row of [a, b, c]) toOddRoots(row, log, shifts);
  return a.map((value, k) => residue(value * b[k]! - c[k]!));
}

/** Moves a polynomial's values from the roots to the odd roots with twice the order, in place. */
function toOddRoots(row: bigint[], log: number, shifts: readonly bigint[]): void {
  const root = rootOfOne(log);
  const byCount = inverse(BigInt(row.length));
  transform(row, inverse(root));
  row.forEach((coefficient, k) => (row[k] = (((coefficient * byCount) % ORDER) * shifts[k]!) % ORDER));
  transform(row, root);
}
