import type { Circuit } from "../circuit.ts";
import { evaluate } from "../circuit.ts";
import { CircuitRefusalError } from "../errors.ts";
import { inverses, MAX_LOG_ROWS, ORDER, power, powers, residue, rootOfOne } from "../field.ts";
import type { Linear } from "../linear.ts";
import type { ProvingKey } from "./keys.ts";

/** log2 of the rows: the constraints, then a row for each public value and the constant. */
export function logRows({ constraints, publicCount }: Circuit): number {
  const log = Math.max(1, Math.ceil(Math.log2(constraints.length + publicCount + 1)));
  if (log + 1 > MAX_LOG_ROWS) throw new CircuitRefusalError(`2^${log} rows`);
  return log;
}

/** Why a key's numbers of points and rows are not a circuit's, in words; undefined if all numbers are. */
export function sizeFault(circuit: Circuit, { verifying, ...key }: ProvingKey): string | undefined {
  const [log, wires, first] = [logRows(circuit), circuit.wireCount, 1 + circuit.publicCount];
  const lengths = [key.a, key.b1, key.b2, key.c, key.h, verifying.publics].map((points) => points.length);
  const isFit = String([key.log, ...lengths]) === String([log, wires, wires, wires, wires - first, 2 ** log, first]);
  return isFit ? undefined : "the key has other numbers of points than the circuit";
}

/**
 * The values of all rows' two factors and product. The last rows hold the public values alone: without these rows,
 * anybody could change an unused public value in a finished proof.
 */
export function rowValues(circuit: Circuit, values: readonly bigint[]): { a: bigint[]; b: bigint[]; c: bigint[] } {
  const [a, b] = [sideSums(circuit, "a", values), sideSums(circuit, "b", values)];
  return { a, b, c: a.map((value, row) => (value * b[row]!) % ORDER) };
}

/** All rows' three combinations of any values; for satisfying values the same as {@link rowValues}. */
export const rowSums = (circuit: Circuit, values: readonly bigint[]): Record<Side, bigint[]> => ({
  a: sideSums(circuit, "a", values),
  b: sideSums(circuit, "b", values),
  c: sideSums(circuit, "c", values),
});

type Side = "a" | "b" | "c";

function sideSums(circuit: Circuit, side: Side, values: readonly bigint[]): bigint[] {
  const sums = new Array<bigint>(2 ** logRows(circuit)).fill(0n);
  const { constraints, publicCount } = circuit;
  constraints.forEach((constraint, row) => (sums[row] = evaluate(constraint[side], values)));
  if (side === "a") for (let k = 0; k <= publicCount; k++) sums[constraints.length + k] = values[k]!;
  return sums;
}

/** Each wire's three polynomials at a point. */
export function wirePolynomials(circuit: Circuit, point: bigint): { a: bigint[]; b: bigint[]; c: bigint[] } {
  const basis = lagrangeBasis(logRows(circuit), point);
  const [a, b, c] = [0, 1, 2].map(() => new Array<bigint>(circuit.wireCount).fill(0n)) as [
    bigint[],
    bigint[],
    bigint[],
  ];
  const add = (sums: bigint[], combination: Linear, weight: bigint): void => {
    for (const [wire, coefficient] of combination) sums[wire] = residue(sums[wire]! + coefficient * weight);
  };
  circuit.constraints.forEach((constraint, row) => {
    add(a, constraint.a, basis[row]!);
    add(b, constraint.b, basis[row]!);
    add(c, constraint.c, basis[row]!);
  });
  for (let k = 0; k <= circuit.publicCount; k++) a[k] = residue(a[k]! + basis[circuit.constraints.length + k]!);
  return { a, b, c };
}

/** The Lagrange polynomials over 2^log roots of unity, at another point. */
export function lagrangeBasis(log: number, point: bigint): bigint[] {
  const count = 2 ** log;
  const roots = powers(rootOfOne(log), count);
  const vanishing = residue(power(point, BigInt(count)) - 1n);
  const differences = inverses(roots.map((root) => residue(BigInt(count) * residue(point - root))));
  return roots.map((root, k) => (((root * vanishing) % ORDER) * differences[k]!) % ORDER);
}
