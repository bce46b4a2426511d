import { bytesToHex, keccak256, type Hex } from "viem";
import type { Hash } from "../program/merkle/hash.ts";
import type { ProgramCircuit } from "./compileCircuit.ts";
import type { Linear } from "./linear.ts";

/**
 * A circuit's name: a hash over program root, domains, assumed unit and all constraints. Every machine gets the same
 * hash for a program.
 */
export function circuitHash(programRoot: Hash, { circuit, inputs, outputs, finest }: ProgramCircuit): Hex {
  const parts = [
    JSON.stringify(["refute circuit 1", programRoot, inputs, outputs, finest ?? null, circuit.publicCount]),
    ...circuit.constraints.map(({ a, b, c }) => [a, b, c].map(linearText).join("|")),
  ];
  return keccak256(bytesToHex(new TextEncoder().encode(parts.join("\n"))));
}

const linearText = (combination: Linear): string =>
  [...combination]
    .sort(([a], [b]) => a - b)
    .map(([wire, coefficient]) => `${wire}:${coefficient}`)
    .join();
