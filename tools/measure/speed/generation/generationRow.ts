import * as ort from "onnxruntime-node";
import { compile } from "../../../../src/compiler/compile.ts";
import { chosenToken, decoderInputs, type Generation } from "../../../../src/compiler/wraps/decoderInputs.ts";
import type { DecoderInterface } from "../../../../src/compiler/wraps/decoderInterface.ts";
import { wrapDecoder } from "../../../../src/compiler/wraps/wrapDecoder.ts";
import { createExecutor, type Executor, type RunOptions } from "../../../../src/executor/createExecutor.ts";
import type { Stage } from "../../../../src/executor/stages.ts";
import { SuccessiveTrees } from "../../../../src/executor/successiveTrees.ts";
import { dtypeBytes } from "../../../../src/numerics/dtype.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { RunInputs } from "../../../../src/program/trace/runInputs.ts";
import { carriedTensors, keptSteps } from "../../../../src/program/trace/runItems.ts";
import { Trace } from "../../../../src/program/trace/trace.ts";
import { gpt2Decoder, GPT2_SMALL, type Gpt2Shape } from "../../../../testkit/models/gpt2.ts";
import { median } from "../median.ts";

/** Decoder sizes, by name; a decoder's text has at most as many tokens as slots. */
export const DECODERS: Readonly<Record<string, Omit<Gpt2Shape, "tokens">>> = {
  gpt2_tiny: { layers: 2, width: 128, heads: 4, vocabulary: 4_000 },
  gpt2_small: GPT2_SMALL,
};

/** Milliseconds of one token, medians. */
export type GenerationRow = {
  model: string;
  slots: number;
  tokens: number;
  /** Plain onnxruntime: for the measured tokens, and for a token in the last slot. */
  plain: number;
  plainLast: number;
  /** Executed; executed and committed to, hashing what changed; the same, hashing everything. */
  exact: number;
  committed: number;
  hashedInFull: number;
  /** Stage times over all threads: runs that hash changes, and runs that hash everything. */
  changed: Readonly<Record<Stage, number>>;
  full: Readonly<Record<Stage, number>>;
  /** Bytes that are committed to for each token. */
  hashedBytes: number;
  /** The same of the processor: means, all threads. */
  processor: Readonly<Record<"plain" | "plainLast" | "exact" | "committed", number>>;
  /** Tokens with the same most probable choice in plain onnxruntime. */
  agreeing: number;
};

const PROMPT = [1, 2, 3];
const WARM_UP = 4;

/** Opens a decoder in plain onnxruntime on one thread, with the cache used as returned. */
async function openPlain(bytes: Uint8Array, { caches }: DecoderInterface) {
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
  const session = await ort.InferenceSession.create(bytes, options);
  const cacheOf = (rows: number): Record<string, ort.Tensor> =>
    Object.fromEntries(
      caches.map(({ past, heads, size }) => {
        return [past, new ort.Tensor("float32", new Float32Array(heads * rows * size), [1, heads, rows, size])];
      }),
    );
  let [past, place] = [cacheOf(0), 0];
  return {
    /** Begins a text after `rows` tokens with zero keys and values. */
    startAt(rows: number): void {
      [past, place] = [cacheOf(rows), rows];
    },
    /** @returns the most probable token after one more */
    async next(token: number): Promise<number> {
      const outputs = await session.run({
        ...past,
        input_ids: new ort.Tensor("int64", BigInt64Array.of(BigInt(token)), [1, 1]),
        attention_mask: new ort.Tensor("int64", new BigInt64Array(place + 1).fill(1n), [1, place + 1]),
        position_ids: new ort.Tensor("int64", BigInt64Array.of(BigInt(place)), [1, 1]),
      });
      past = Object.fromEntries(caches.map((cache) => [cache.past, outputs[cache.present]!]));
      place++;
      const logits = outputs.logits!.data as Float32Array;
      return logits.reduce((best, logit, token) => (logit > logits[best]! ? token : best), 0);
    },
    close: () => session.release(),
  };
}

/** Milliseconds of the processor, all threads, without the first few measurements. */
class Spent {
  #from = process.cpuUsage();
  #count = 0;
  #total = 0;

  get mean(): number {
    return this.#total / (this.#count - WARM_UP);
  }

  start(): void {
    this.#from = process.cpuUsage();
  }

  stop(): void {
    const { user, system } = process.cpuUsage(this.#from);
    if (this.#count++ >= WARM_UP) this.#total += (user + system) / 1_000;
  }
}

/** A way to execute a run's items in order. */
class Way {
  readonly milliseconds: number[] = [];
  readonly #spent = new Spent();
  readonly stages: Readonly<Record<Stage, number>>[] = [];
  readonly #model: CompiledModel;
  readonly #inputs: RunInputs;
  readonly #options: () => RunOptions;
  #carried: ReadonlyMap<number, Uint8Array> | undefined;
  #item = 0;

  constructor(model: CompiledModel, inputs: RunInputs, options: () => RunOptions) {
    [this.#model, this.#inputs, this.#options] = [model, inputs, options];
  }

  /** @returns the chosen token, and the trace root, if any */
  async next(executor: Executor): Promise<{ token: number; root: string | undefined }> {
    const { program } = this.#model;
    const start = performance.now();
    this.#spent.start();
    const options = this.#options();
    const taken = this.#inputs.of(this.#item, this.#carried);
    const { tensors, milliseconds } = await executor.run(taken, { ...options, profile: true });
    const root = options.trees && new Trace(program, tensors, options.trees).root;
    this.#carried = carriedTensors(program, (step) => tensors[step]!);
    this.milliseconds.push(performance.now() - start);
    this.#spent.stop();
    this.stages.push(milliseconds);
    const { step } = program.checkpoints[program.outputs[0]!]!;
    return { token: chosenToken(tensors[step]!, this.#item++), root };
  }

  get processor(): number {
    return this.#spent.mean;
  }

  get time(): number {
    return median(this.milliseconds.slice(WARM_UP));
  }

  get times(): Record<Stage, number> {
    const names = Object.keys(this.stages[0]!) as Stage[];
    const of = (name: Stage): number => median(this.stages.slice(WARM_UP).map((all) => all[name]));
    return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Stage, number>;
  }
}

/** Generates a text on one thread, by turns in plain onnxruntime and exactly; both are given the same tokens. */
export async function generationRow(name: string, slots: number, tokens: number): Promise<GenerationRow> {
  const bytes = gpt2Decoder({ ...DECODERS[name]!, tokens: slots });
  const wrapped = wrapDecoder(readModel(bytes), { slots, greedy: true });
  const model = compile(wrapped.model, { shapes: {}, run: wrapped.run });
  const { program } = model;
  const given: Generation = { prompt: PROMPT };
  const inputs = new RunInputs(program.inputs, { items: tokens, firstItem: 0 }, decoderInputs(model, given));
  const executor = await createExecutor(model, { threads: 1 });
  const plain = await openPlain(bytes, wrapped.decoder);
  const kept = keptSteps(program);
  const trees = new SuccessiveTrees();
  const ways = {
    exact: new Way(model, inputs, () => ({ keep: (step) => kept.has(step) })),
    committed: new Way(model, inputs, () => ({ keep: () => false, trees })),
    full: new Way(model, inputs, () => ({ keep: () => false, trees: new Map() })),
  };
  const plainTimes: number[] = [];
  let [current, agreeing] = [PROMPT[0]!, 0];
  const spent = { first: new Spent(), last: new Spent() };
  const time = async (which: keyof typeof spent): Promise<number> => {
    const start = performance.now();
    spent[which].start();
    const best = await plain.next(current);
    spent[which].stop();
    plainTimes.push(performance.now() - start);
    return best;
  };
  for (let item = 0; item < tokens; item++) {
    const best = await time("first");
    const [exact, committed, full] = [
      await ways.exact.next(executor),
      await ways.committed.next(executor),
      await ways.full.next(executor),
    ];
    if (committed.root !== full.root) throw new Error(`token ${item}: hashing what changed gives another root`);
    if (item + 1 >= PROMPT.length && best === exact.token) agreeing++;
    current = exact.token;
  }
  const first = median(plainTimes.splice(0).slice(WARM_UP));
  for (let k = 0; k < 2 * WARM_UP; k++) {
    plain.startAt(slots - 1);
    await time("last");
  }
  await executor.close();
  await plain.close();
  return {
    ...{ model: name, slots, tokens, agreeing },
    plain: first,
    plainLast: median(plainTimes.slice(WARM_UP)),
    exact: ways.exact.time,
    processor: {
      plain: spent.first.mean,
      plainLast: spent.last.mean,
      exact: ways.exact.processor,
      committed: ways.committed.processor,
    },
    committed: ways.committed.time,
    hashedInFull: ways.full.time,
    changed: ways.committed.times,
    full: ways.full.times,
    hashedBytes: program.checkpoints.reduce((sum, { step }) => {
      const { count, dtype } = program.steps[step]!;
      return sum + count * dtypeBytes(dtype);
    }, 0),
  };
}
