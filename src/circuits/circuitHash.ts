import { bytesToHex, encodeAbiParameters, keccak256, parseAbiParameters, zeroHash, type Hex } from "viem";
import type { Hash } from "../program/merkle/hash.ts";
import type { ProgramCircuit, PublicTensor } from "./compileCircuit.ts";
import type { KeySubject } from "./groth16/keys.ts";
import type { Linear } from "./linear.ts";

/**
 * A circuit's name: a hash over program root, domains, assumed unit and all constraints. Every machine gets the same
 * hash for a program.
 */
function circuitHash(programRoot: Hash, { circuit, inputs, outputs, finest }: ProgramCircuit): Hex {
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

/** The hash over types and lengths of tensors, as `layoutOf` of the contract ProofVerifier. */
const layoutHash = (tensors: readonly Pick<PublicTensor, "dtype" | "count">[]): Hex =>
  tensors.reduce<Hex>(
    (before, { dtype, count }) => keccak256(encodeAbiParameters(LAYOUT, [before, BigInt(dtype), BigInt(count)])),
    zeroHash,
  );

const LAYOUT = parseAbiParameters("bytes32, uint256, uint256");

/** What a key for a program's circuit says. */
export const subjectOf = (program: Hash, circuit: ProgramCircuit): KeySubject => ({
  circuit: circuitHash(program, circuit),
  program,
  layout: layoutHash([...circuit.inputs, ...circuit.outputs]),
});

/** Why a key is not for a program's circuit; undefined if it is. */
export function otherSubject(key: KeySubject, expected: KeySubject): string | undefined {
  if (key.circuit !== expected.circuit) return "the key is for another circuit: another model, or other domains";
  if (key.program !== expected.program) return `the key names another program: ${key.program}`;
  return key.layout === expected.layout ? undefined : "the key names tensors of other types or lengths";
}
