import type { CompiledModel } from "../program/compiled.ts";
import { dtypeName } from "../numerics/dtype.ts";
import type { Circuit } from "./circuit.ts";
import { compileCircuit } from "./compileCircuit.ts";
import { CircuitRefusalError } from "./errors.ts";
import { logRows } from "./groth16/rows.ts";
import type { Domain } from "./words.ts";

/** The price of a program's proof. */
export type CircuitReport = {
  programRoot: string;
  constraints: number;
  publicValues: number;
  /** Rows, the constraints filled up to a power of two. */
  rows: number;
  /** Estimates: a core's seconds, the proving key's bytes, the verifying call's gas. */
  seconds: number;
  keyBytes: number;
  gas: number;
  /** The inputs that have a proof. */
  inputs: string[];
  /** Why some have none; undefined if all have proofs. */
  unit: string | undefined;
};

/** Measured with circuits from 3,000 to 60,000 constraints; 408,000 took 42 seconds, a tenth less. */
const SECONDS_A_ROW = 9e-5;
/** Measured with `ProofVerifier`: a whole transaction, and more for each public value with the words in calldata. */
const BASE_GAS = 228_000;
const GAS_A_VALUE = 8_900;

/**
 * Makes a program's circuit, and estimates a proof's price.
 * @throws CircuitRefusalError that names the step and why
 */
export function circuitReport(model: CompiledModel, domains: readonly (Domain | undefined)[]): CircuitReport {
  const { circuit, inputs, finest } = compileCircuit(model, domains);
  const rows = 2 ** logRows(circuit);
  return {
    programRoot: model.programRoot,
    constraints: circuit.constraints.length,
    publicValues: circuit.publicCount,
    rows,
    seconds: Number((SECONDS_A_ROW * rows).toPrecision(2)),
    keyBytes: keyBytes(circuit, rows),
    gas: BASE_GAS + GAS_A_VALUE * circuit.publicCount,
    inputs: inputs.map(
      ({ name, dtype, domain }) => `${name}: ${domain === undefined ? `any ${dtypeName(dtype)}` : domainText(domain)}`,
    ),
    unit:
      finest === undefined
        ? undefined
        : `exact sums span too many bits, so values on the way are multiples of 2^${finest} or have their lowest bit ` +
          "there or above: rare inputs have no proof",
  };
}

const domainText = ({ lowest, highest, signed }: Domain): string =>
  `0, or from 2^${lowest} on and below 2^${highest}${signed ? ", of either sign" : ""}; others have no proof`;

/** Bytes for a proving key's finite points. */
function keyBytes(circuit: Circuit, rows: number): number {
  const [a, b] = [new Set<number>(), new Set<number>()];
  for (const constraint of circuit.constraints) {
    for (const wire of constraint.a.keys()) a.add(wire);
    for (const wire of constraint.b.keys()) b.add(wire);
  }
  for (let k = 0; k <= circuit.publicCount; k++) a.add(k);
  const privates = circuit.wireCount - 1 - circuit.publicCount;
  return 64 * (a.size + b.size + privates + rows) + 128 * b.size;
}

/**
 * The numbers of a range as a domain.
 * @param binades Powers of two between the largest magnitude and the smallest.
 * @throws CircuitRefusalError for a range of zero alone
 */
export function domainOf({ low, high }: { low: number; high: number }, binades: number): Domain {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (largest === 0) throw new CircuitRefusalError("a range of 0 alone: give the least and the largest value");
  const highest = Math.floor(Math.log2(Math.fround(largest))) + 1;
  return { lowest: highest - binades, highest, signed: low < 0 };
}
