import { Worker } from "node:worker_threads";
import { bytesToHex, type Hex } from "viem";
import type { JobRecord } from "../chain/market/history.ts";
import type { ClaimProof } from "../chain/structs.ts";
import type { RunExecution } from "../dispute/run/runExecution.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { KeyFileError, NoProofError } from "./errors.ts";
import { loadCurve } from "./groth16/curve.ts";
import { keyOf, wordsHash, type proofWords } from "./groth16/keys.ts";
import type { CircuitModel, FromProver, ProverAnswer, ProverStart, ToProver } from "./proverMessages.ts";

/** The thread's code: beside this file, built if this file is. Node strips types without a loader. */
const THREAD = new URL(import.meta.url.endsWith(".ts") ? "./proverThread.ts" : "./proverThread.js", import.meta.url);

type ProofWords = ReturnType<typeof proofWords>;
type Key = { words: readonly bigint[]; program: Hex };
type Asked = { resolve: (proof: ProofWords) => void; reject: (error: Error) => void };

/**
 * Proves outputs of jobs, under keys from files, in a thread: the caller's thread stays free. See `Prover` of the
 * worker.
 */
export class KeyProver {
  readonly #start: ProverStart;
  readonly #keys = new Map<Hex, Key>();
  readonly #asked = new Map<number, Asked>();
  /** The keys whose circuits the running thread has. */
  readonly #compiled = new Set<Hex>();
  #thread: Worker | undefined;
  #last = 0;

  private constructor(start: ProverStart) {
    this.#start = start;
  }

  /**
   * Starts a thread that reads keys.
   * @param chainId The chain of the jobs: keys with known secrets serve local chains only.
   * @throws KeyFileError, MissingPackageError
   */
  static async open(paths: readonly string[], chainId: number): Promise<KeyProver> {
    await loadCurve();
    const prover = new KeyProver({ paths, chainId });
    for (const words of await prover.#run())
      prover.#keys.set(wordsHash(words), { words, program: keyOf(words).program });
    return prover;
  }

  /** The keys' hashes. */
  get hashes(): Hex[] {
    return [...this.#keys.keys()];
  }

  /** Whether the prover has a job's key, and the key names the job's program. */
  knows({ job, terms }: Pick<JobRecord, "job" | "terms">): boolean {
    return terms !== undefined && this.#keys.get(terms.keyHash)?.program === job.programRoot;
  }

  /** How many public values the proofs of a known job have. */
  publicValues({ terms }: Pick<JobRecord, "terms">): number {
    // The constant has a point, too.
    return keyOf(this.#keys.get(terms!.keyHash)!.words).publics.length - 1;
  }

  /** @throws NoProofError, KeyFileError if the key is not of the program, or is damaged */
  async prove(
    { terms, program }: Pick<JobRecord, "job" | "terms" | "program">,
    run: RunExecution,
    context: bigint,
  ): Promise<ClaimProof> {
    const { keyHash } = terms!;
    const { model } = run.program;
    const inputs = run.inputs.bytes;
    const { outputs: places, checkpoints } = model.program;
    const { trace } = run.item(0);
    const outputs = places.map((checkpoint) => trace.tensor(checkpoints[checkpoint]!.step));
    return {
      key: this.#keys.get(keyHash)!.words,
      proof: await this.#ask({ keyHash, inputs, outputs, context }, model),
      program,
      inputs: inputs.map((bytes) => bytesToHex(bytes)),
      outputs: outputs.map((bytes) => bytesToHex(bytes)),
    };
  }

  /** Ends the thread. A proof in work is refused. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** Asks the thread; starts another one if the thread has ended. */
  async #ask(question: Omit<ToProver, "id" | "model">, model: CompiledModel): Promise<ProofWords> {
    if (this.#thread === undefined) await this.#run();
    const thread = this.#thread!;
    const isFirst = !this.#compiled.has(question.keyHash);
    this.#compiled.add(question.keyHash);
    // Copies: a tensor may view a larger buffer, which would be sent whole.
    const copies = (tensors: readonly Uint8Array[]): Uint8Array[] => tensors.map((bytes) => new Uint8Array(bytes));
    const id = ++this.#last;
    const message: ToProver = {
      ...{ ...question, id, inputs: copies(question.inputs), outputs: copies(question.outputs) },
      model: isFirst ? circuitModel(model) : undefined,
    };
    thread.ref();
    return new Promise<ProofWords>((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      thread.postMessage(message);
    });
  }

  /** Starts the thread. @returns each key's words @throws KeyFileError, NoProofError */
  #run(): Promise<readonly (readonly bigint[])[]> {
    const thread = new Worker(THREAD, { workerData: this.#start, execArgv: [] });
    this.#thread = thread;
    this.#compiled.clear();
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        reject(error);
        // A thread fails before it exits: by the exit, questions may be those to the next thread.
        if (this.#thread !== thread) return;
        this.#thread = undefined;
        this.#asked.forEach((asked) => asked.reject(error));
        this.#asked.clear();
      };
      thread.on("error", (cause) => fail(new NoProofError(`the proving thread failed: ${cause.message}`, { cause })));
      // An answer that cannot be read leaves its question open, and nobody knows which.
      thread.on("messageerror", (cause) => {
        fail(new NoProofError(`an answer of the proving thread cannot be read: ${cause.message}`, { cause }));
        void thread.terminate();
      });
      thread.on("exit", () => fail(new NoProofError("the proving thread ended before the proof")));
      thread.on("message", (message: FromProver) => {
        if ("id" in message) this.#answer(message);
        else if ("keys" in message) resolve(message.keys);
        else {
          fail(errorOf(message.refusal));
          void thread.terminate();
        }
        // An idle thread keeps no process alive.
        if (this.#asked.size === 0) thread.unref();
      });
    });
  }

  #answer({ id, answer }: ProverAnswer): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if ("code" in answer) asked?.reject(errorOf(answer));
    else asked?.resolve(answer);
  }
}

const errorOf = ({ code, reason }: { code: string; reason: string }): Error =>
  code === "KEY_FILE" ? new KeyFileError(reason) : new NoProofError(reason);

/** A model's part for the thread, in separate buffers. */
const circuitModel = ({ program, programRoot, constants, inputs, outputs, origins }: CompiledModel): CircuitModel => ({
  ...{ program, programRoot, inputs, outputs, origins },
  constants: new Map([...constants].map(([root, bytes]) => [root, new Uint8Array(bytes)])),
});
