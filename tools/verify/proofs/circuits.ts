/** Constraints of the circuits' rounding as vectors: the model's, and the compiler's. */
import { Circuit } from "../../../src/circuits/circuit.ts";
import type { Linear } from "../../../src/circuits/linear.ts";
import { roundToFloat32 } from "../../../src/circuits/rounding.ts";
import type { Vectors } from "./compared.ts";

/**
 * Bounds of numbers in units of 2^-149, with the numbers' length in bits. Results are in units of 2^(coarser - 149); a
 * finer small number has no proof.
 */
const ROUNDINGS = [
  // The lowest bits are none, one, or many; no, one or many places to move.
  { low: 0n, high: (1n << 25n) - 1n, length: 25, coarser: 0 },
  { low: -(1n << 24n), high: 5n, length: 25, coarser: 0 },
  { low: -1n, high: 1n << 24n, length: 25, coarser: 1 },
  { low: 0n, high: 1n << 25n, length: 26, coarser: 2 },
  { low: -(1n << 25n), high: 0n, length: 26, coarser: 1 },
  { low: 0n, high: 1n << 29n, length: 30, coarser: 6 },
  { low: -3n, high: 1n << 40n, length: 41, coarser: 3 },
  { low: -(1n << 59n), high: 1n << 59n, length: 60, coarser: 0 },
  // The longest without and with a coarser unit.
  { low: -(1n << 137n), high: 1n << 137n, length: 138, coarser: 0 },
  { low: 0n, high: 1n << 224n, length: 225, coarser: 174 },
] as const;

const UNIT = -149;
/** The rounded number: a combination of the first two wires. */
const VALUE: Linear = new Map([
  [1, 3n],
  [2, -5n],
]);

/** A combination as numbers: the count of its wires, then each wire with its coefficient, by the wire's number. */
function flat(linear: Linear): bigint[] {
  const items = [...linear].sort(([a], [b]) => a - b);
  return [BigInt(items.length), ...items.flatMap(([wire, coefficient]) => [BigInt(wire), coefficient])];
}

/** Definitions of Coq for the terms. */
export const CIRCUIT_DEFINITIONS: readonly string[] = [
  `Fixpoint insert (w c : Z) (l : linear) : linear :=
  match l with
  | [] => [(w, c)]
  | (v, d) :: rest =>
    if w <? v then (w, c) :: l else if w =? v then (v, c + d) :: rest else (v, d) :: insert w c rest
  end.`,
  `Definition flat (l : linear) : list Z :=
  let normal := filter (fun '(_, c) => negb (c =? 0)) (fold_right (fun '(w, c) sum => insert w c sum) [] l) in
  Z.of_nat (length normal) :: flat_map (fun '(w, c) => [w; c]) normal.`,
];

/** The result, the bit of a sign and the constraints, by the compared gadget. */
export const CIRCUIT_VECTORS: readonly (readonly [string, Vectors])[] = ROUNDINGS.map(
  ({ low, high, length, coarser }) => [
    `circuits/rounding of ${length} bits${low < 0n ? " and a sign" : ""}, ${coarser} coarser`,
    {
      term:
        `let '(result, constraints, _) := gadget ${length} 24 ${coarser} ${low < 0n} [(1, 3); (2, -5)] 3 in ` +
        `flat result ++ ${low < 0n ? "flat (wire 3) ++ " : ""}` +
        "flat_map (fun '(a, b, c) => flat a ++ flat b ++ flat c) constraints",
      play: () => {
        const circuit = new Circuit(0);
        for (let k = 0; k < 2; k++) circuit.wire(() => 0n);
        const value = { linear: VALUE, unit: UNIT, low, high };
        const { linear, negative } = roundToFloat32(circuit, value, coarser === 0 ? undefined : UNIT + coarser);
        const constraints = circuit.constraints.flatMap(({ a, b, c }) => [a, b, c].flatMap(flat));
        return Promise.resolve([...flat(linear), ...(negative === undefined ? [] : flat(negative)), ...constraints]);
      },
    },
  ],
);
