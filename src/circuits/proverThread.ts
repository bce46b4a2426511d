/** A thread that compiles circuits and proves: either would hold the thread that plays games for seconds. */
import { parentPort, workerData } from "node:worker_threads";
import type { Hex } from "viem";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import { RefuteError } from "../base/errors.ts";
import { otherSubject, subjectOf } from "./circuitHash.ts";
import { compileCircuit, type ProgramCircuit } from "./compileCircuit.ts";
import { KeyFileError, NoProofError } from "./errors.ts";
import { loadCurve } from "./groth16/curve.ts";
import { readKey } from "./groth16/keyFile.ts";
import { keyHash, keyWords, LOCAL_CHAIN, Origin, proofWords } from "./groth16/keys.ts";
import { prove } from "./groth16/prove.ts";
import { sizeFault } from "./groth16/rows.ts";
import { verify } from "./groth16/verify.ts";
import type { FromProver, ProverStart, ToProver } from "./proverMessages.ts";
import { witnessOf } from "./witness.ts";

const port = parentPort!;
const report = (message: FromProver): void => port.postMessage(message);
const refusalOf = (error: unknown): { code: string; reason: string } => ({
  code: error instanceof RefuteError ? error.code : "UNEXPECTED",
  reason: (error as Error).message,
});

try {
  const { paths, chainId } = workerData as ProverStart;
  const curve = await loadCurve();
  const keys = new Map(
    paths.map((path) => {
      const read = readKey(curve, bytesOf(path));
      const { verifying } = read.key;
      if (verifying.origin !== Origin.ceremony && chainId !== LOCAL_CHAIN)
        throw new KeyFileError(`${path}: the secrets of this key were known to a machine: it is for local chains only`);
      return [keyHash(verifying), read];
    }),
  );
  const circuits = new Map<Hex, ProgramCircuit>();

  /** A key's circuit, compiled once. @throws KeyFileError if the key is for another circuit */
  const circuitOf = (hash: Hex, model: ToProver["model"]): ProgramCircuit => {
    const before = circuits.get(hash);
    if (before !== undefined) return before;
    if (model === undefined) throw new NoProofError(`the circuit of the key ${hash} could not be compiled`);
    const { key, domains } = keys.get(hash)!;
    const circuit = compileCircuit(model, domains);
    const other = otherSubject(key.verifying, subjectOf(model.programRoot, circuit)) ?? sizeFault(circuit.circuit, key);
    if (other !== undefined) throw new KeyFileError(`the key ${hash} is not for ${model.programRoot}: ${other}`);
    circuits.set(hash, circuit);
    return circuit;
  };

  port.on("message", ({ id, keyHash: hash, model, inputs, outputs, context }: ToProver) => {
    try {
      const circuit = circuitOf(hash, model);
      const { key } = keys.get(hash)!;
      const { values, publics } = witnessOf(circuit, inputs, outputs, context);
      const proof = prove(curve, key, circuit.circuit, values);
      if (!verify(curve, key.verifying, publics, proof))
        throw new KeyFileError(`the key ${hash} is damaged: its proofs do not hold`);
      report({ id, answer: proofWords(proof) });
    } catch (error) {
      report({ id, answer: refusalOf(error) });
    }
  });
  // A question that cannot be read has no answer: the thread ends, and with it all questions.
  port.on("messageerror", (error) => {
    throw error;
  });
  report({ keys: [...keys.values()].map(({ key }) => keyWords(key.verifying)) });
} catch (error) {
  report({ refusal: refusalOf(error) });
}

/** @throws KeyFileError */
function bytesOf(path: string): Uint8Array {
  try {
    return readRegularFile(path);
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new KeyFileError(`${path}: the file ${cause.message}`, { cause });
  }
}
