import { bytesToHex, hexToBytes, type Hex } from "viem";
import { z } from "zod/v4";
import { dtypeBytes } from "../numerics/dtype.ts";
import { otherSubject } from "./circuitHash.ts";
import type { ProgramCircuit } from "./compileCircuit.ts";
import { ProofFileError } from "./errors.ts";
import type { Curve } from "./groth16/curve.ts";
import {
  flawOf,
  isKeyLength,
  keyHash,
  keyOf,
  keyWords,
  Origin,
  proofOf,
  proofWords,
  type KeySubject,
  type Proof,
  type VerifyingKey,
} from "./groth16/keys.ts";
import { verify } from "./groth16/verify.ts";
import { publicValues } from "./witness.ts";

const word = z.string().regex(/^0x[0-9a-f]{1,64}$/);
const schema = z
  .object({
    keyHash: z.string(),
    key: z.array(word),
    proof: z.array(word).length(8),
    context: word,
    tensors: z.array(
      z.object({ name: z.string(), data: z.string().regex(/^0x([0-9a-f]{2})*$/), dtype: z.int() }).strict(),
    ),
  })
  .strict();

/** A proof with all arguments for `requireProof` of `ProofVerifier`. */
export type ProofFile = z.infer<typeof schema>;

const hexWord = (value: bigint): Hex => `0x${value.toString(16)}`;

/** Puts a proof together with the key and the tensors. */
export function proofFile(
  { inputs, outputs }: ProgramCircuit,
  key: VerifyingKey,
  proof: Proof,
  context: bigint,
  tensors: readonly Uint8Array[],
): ProofFile {
  return {
    keyHash: keyHash(key),
    key: keyWords(key).map(hexWord),
    proof: proofWords(proof).map(hexWord),
    context: hexWord(context),
    tensors: [...inputs, ...outputs].map(({ name, dtype }, k) => ({
      name,
      data: bytesToHex(tensors[k]!),
      dtype,
    })),
  };
}

/** Reads a proof's file. @throws ProofFileError */
export function readProof(json: unknown): ProofFile {
  const result = schema.safeParse(json);
  if (result.success && isKeyLength(result.data.key.length)) return result.data;
  throw new ProofFileError("the file holds no proof: refute zk prove writes one");
}

/** Why a proof does not hold for a circuit; undefined if the proof holds. */
export function faultOf(
  curve: Curve,
  program: ProgramCircuit,
  subject: KeySubject,
  { keyHash: named, key: words, proof: hex, context, tensors }: ProofFile,
): string | undefined {
  const key = keyOf(words.map(BigInt));
  if (keyHash(key) !== named) return "the key has another hash than the file says";
  const other = otherSubject(key, subject);
  if (other !== undefined) return other;
  const flaw = flawOf(key);
  if (flaw !== undefined) return `anybody could prove anything with the key: ${flaw}`;
  const expected = [...program.inputs, ...program.outputs];
  const bytes = tensors.map(({ data }) => hexToBytes(data as Hex));
  const fits = expected.every(
    ({ name, dtype, count }, k) =>
      tensors[k]?.name === name && tensors[k].dtype === dtype && bytes[k]!.length === count * dtypeBytes(dtype),
  );
  if (!fits || tensors.length !== expected.length) return "the tensors are not those of the model";
  const [inputs, outputs] = [bytes.slice(0, program.inputs.length), bytes.slice(program.inputs.length)];
  const proof = proofOf(hex.map(BigInt) as unknown as ReturnType<typeof proofWords>);
  const holds = verify(curve, key, publicValues(program, inputs, outputs, BigInt(context)), proof);
  return holds ? undefined : "the proof does not hold";
}

/** Whether the secrets behind a proof's key are known to somebody. */
export const hasKnownSecrets = ({ key }: ProofFile): boolean => BigInt(key[0]!) !== BigInt(Origin.ceremony);
