import { DType, dtypeBytes } from "../numerics/dtype.ts";
import type { ProgramCircuit, PublicTensor } from "./compileCircuit.ts";
import { NoProofError } from "./errors.ts";
import { isWithin, packedValues, placesOf } from "./words.ts";

/** The wires of a circuit, for given inputs. */
export type Witness = {
  /** A residue for each wire. */
  readonly values: readonly bigint[];
  /** The public values; a verifier computes these anew from the tensors' bytes. */
  readonly publics: readonly bigint[];
};

/**
 * Computes the wires from an execution.
 * @param inputs The inputs' tensors in the program's order: little-endian, row-major bytes.
 * @param outputs The outputs' tensors in the program's order, from an executor.
 * @param context The first public value, below the field's order.
 * @throws NoProofError if an input lies outside its domain, or a value on the way is finer than the circuit assumes
 */
export function witnessOf(
  { circuit, ...program }: ProgramCircuit,
  inputs: readonly Uint8Array[],
  outputs: readonly Uint8Array[],
  context: bigint,
): Witness {
  const words = program.inputs.map((tensor, i) => rawWords(tensor, inputs[i]!));
  program.inputs.forEach((tensor, i) => {
    const k = words[i]!.findIndex((word) => !isAllowed(tensor, word));
    if (k !== -1)
      throw new NoProofError(`element ${k} of input ${tensor.name} lies outside the domain of the circuit: no proof`);
  });
  const values = circuit.solve(words.flat(), [context]);
  if (circuit.violated(values).length > 0)
    throw new NoProofError(
      program.finest === undefined
        ? "the circuit has no assignment for these inputs: no proof"
        : `a value on the way is finer than 2^${program.finest}, the unit of this circuit: no proof`,
    );
  const publics = publicValues(program, inputs, outputs, context);
  const differing = publics.findIndex((value, k) => value !== values[1 + k]);
  if (differing !== -1)
    throw new NoProofError(
      `public value ${differing} is ${values[1 + differing]} by the circuit: other outputs were given`,
    );
  return { values, publics };
}

/** Whether a circuit has an assignment for a word: bools are 0 or 1, and no other byte. */
function isAllowed({ dtype, domain }: ProgramCircuit["inputs"][number], word: bigint): boolean {
  if (domain !== undefined) return isWithin(domain, word);
  return dtype !== DType.bool || word <= 1n;
}

/** The public values of tensors: context, inputs, outputs. */
export function publicValues(
  program: Pick<ProgramCircuit, "inputs" | "outputs">,
  inputs: readonly Uint8Array[],
  outputs: readonly Uint8Array[],
  context: bigint,
): bigint[] {
  const tensors = [...program.inputs, ...program.outputs];
  const bytes = [...inputs, ...outputs];
  const words = tensors.flatMap((tensor, i) => rawWords(tensor, bytes[i]!));
  return [context, ...packedValues(words, placesOf(tensors))];
}

/** A tensor's raw words, unsigned, with -0 and any NaN. @throws NoProofError for a wrong length */
function rawWords({ name, dtype, count }: PublicTensor, bytes: Uint8Array): bigint[] {
  const size = dtypeBytes(dtype);
  if (bytes.length !== count * size)
    throw new NoProofError(`tensor ${name} has ${bytes.length} bytes, and ${count * size} are needed`);
  return Array.from({ length: count }, (_, k) =>
    bytes.slice(k * size, (k + 1) * size).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n),
  );
}
