import { bytesToHex, type Hex } from "viem";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import type { JobRecord } from "../chain/market/history.ts";
import type { ClaimProof } from "../chain/structs.ts";
import type { RunExecution } from "../dispute/run/runExecution.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { compileCircuit, type ProgramCircuit } from "./compileCircuit.ts";
import { circuitHash } from "./circuitHash.ts";
import { KeyFileError } from "./errors.ts";
import { loadCurve, type Curve } from "./groth16/curve.ts";
import { readKey } from "./groth16/keyFile.ts";
import { keyHash, keyWords, LOCAL_CHAIN, Origin, proofWords } from "./groth16/keys.ts";
import { prove } from "./groth16/prove.ts";
import { verify } from "./groth16/verify.ts";
import { publicValues, witnessOf } from "./witness.ts";

type Key = ReturnType<typeof readKey>;

/** Proves outputs of jobs, under keys from files. See `Prover` of the worker. */
export class KeyProver {
  readonly #curve: Curve;
  readonly #keys: ReadonlyMap<Hex, Key>;
  readonly #circuits = new Map<Hex, ProgramCircuit>();

  private constructor(curve: Curve, keys: ReadonlyMap<Hex, Key>) {
    [this.#curve, this.#keys] = [curve, keys];
  }

  /**
   * Reads keys.
   * @param chainId The chain of the jobs: keys with known secrets serve local chains only.
   * @throws KeyFileError
   */
  static async open(paths: readonly string[], chainId: number): Promise<KeyProver> {
    const curve = await loadCurve();
    const keys = paths.map((path): [Hex, Key] => {
      const key = readKey(curve, bytesOf(path));
      const { origin } = key.key.verifying;
      if (origin !== Origin.ceremony && chainId !== LOCAL_CHAIN)
        throw new KeyFileError(`${path}: the secrets of this key were known to a machine: it is for local chains only`);
      return [keyHash(key.key.verifying), key];
    });
    return new KeyProver(curve, new Map(keys));
  }

  /** The keys' hashes. */
  get hashes(): Hex[] {
    return [...this.#keys.keys()];
  }

  knows({ job, terms }: Pick<JobRecord, "job" | "terms">): boolean {
    return terms !== undefined && this.#keys.get(terms.keyHash)?.programRoot === job.programRoot;
  }

  /** @throws NoProofError, KeyFileError if the key is not of the program */
  prove(
    { terms, program }: Pick<JobRecord, "job" | "terms" | "program">,
    run: RunExecution,
    context: bigint,
  ): Promise<ClaimProof> {
    const { model } = run.program;
    const { key } = this.#keys.get(terms!.keyHash)!;
    const circuit = this.#circuitOf(terms!.keyHash, model);
    const inputs = run.inputs.bytes;
    const { outputs: places, checkpoints } = model.program;
    const { trace } = run.item(0);
    const outputs = places.map((checkpoint) => trace.tensor(checkpoints[checkpoint]!.step));
    const { values } = witnessOf(circuit, inputs, outputs, context);
    const proof = prove(this.#curve, key, circuit.circuit, values);
    if (!verify(this.#curve, key.verifying, publicValues(circuit, inputs, outputs, context), proof))
      throw new KeyFileError(`the key ${terms!.keyHash} is damaged: its proofs do not hold`);
    return Promise.resolve({
      key: keyWords(key.verifying),
      proof: proofWords(proof),
      program,
      inputs: inputs.map((bytes) => bytesToHex(bytes)),
      outputs: outputs.map((bytes) => bytesToHex(bytes)),
    });
  }

  /** A program's circuit, compiled once. @throws KeyFileError if the key is for another circuit */
  #circuitOf(hash: Hex, model: CompiledModel): ProgramCircuit {
    const before = this.#circuits.get(hash);
    if (before !== undefined) return before;
    const { key, domains } = this.#keys.get(hash)!;
    const circuit = compileCircuit(model, domains);
    if (circuitHash(model.programRoot, circuit) !== key.verifying.circuit)
      throw new KeyFileError(`the key ${hash} is not for the circuit of the program ${model.programRoot}`);
    this.#circuits.set(hash, circuit);
    return circuit;
  }
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
