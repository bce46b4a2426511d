import { deflateRawSync } from "node:zlib";
import { createExecutor, type Executor } from "../../../../src/executor/createExecutor.ts";
import { SUM_FORMS, type SumForm } from "../../../../src/compiler/passes/shares/sumSteps.ts";
import { TRAINING } from "../../../../src/compiler/wraps/wrapTraining.ts";
import { int64Tensor } from "../../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import type { MerkleList } from "../../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../../src/program/merkle/tensor.ts";
import { Trace } from "../../../../src/program/trace/trace.ts";
import { Players } from "../../../../testkit/players/players.ts";
import { SHARED_BATCH, SHARED_EXAMPLES, type SharedExample } from "../../../../testkit/training/sharedExamples.ts";
import { SharedTraining, type ExecuteProgram } from "../../../../testkit/training/shares.ts";
import { floats } from "../../../../testkit/training/trainer.ts";
import { playTraining } from "../../../../testkit/training/trainingStory.ts";

const NAMES = Object.keys(SHARED_EXAMPLES) as SharedExample[];
const WORKERS = 4;
/** Steps whose times count, after others. */
const [WARM_UP, STEPS] = [4, 6];
/** Steps played on a chain. */
const PLAYED = 2;

type Kind = "alone" | "shares" | "join" | "traced" | "roots";

/** A step over shares, measured: processor milliseconds, each the least of all steps, and bytes for a share's sums. */
type Measured = {
  /** A process without claims. */
  alone: number;
  /** All shares, and the joining program, without hashing. */
  shares: number;
  join: number;
  /** Roots for all executions, and for the inputs. */
  hashing: number;
  roots: number;
  bytes: number;
  deflated: number;
  /** Bytes of a share's feedback. */
  feedback: number;
  /** Whether the next state equals the single process's, bit by bit. */
  isSame: boolean;
};

/** Measures a training over shares beside a process without claims. */
async function measured(name: SharedExample, sums: SumForm): Promise<Measured> {
  const { onnx, spec, rates, batch } = SHARED_EXAMPLES[name](WARM_UP + STEPS);
  const training = new SharedTraining(readModel(onnx), { ...spec, rates: rates.length });
  const executors = new Map<CompiledModel, Executor>();
  /** For each step; `traced` executes shares and join again, and hashes. */
  const times = { alone: [], shares: [], join: [], traced: [], roots: [] } as Record<Kind, number[]>;
  let [bytes, deflated, isSame] = [0, 0, true];
  const feedback: ReadonlyMap<string, Uint8Array>[] = [];
  const timed = async <T>(kind: Kind, action: () => T | Promise<T>): Promise<T> => {
    const before = process.cpuUsage();
    const result = await action();
    const { user, system } = process.cpuUsage(before);
    times[kind].push((times[kind].pop() ?? 0) + (user + system) / 1_000);
    return result;
  };
  const executorOf = async (compiled: CompiledModel): Promise<Executor> => {
    const executor = executors.get(compiled) ?? (await createExecutor(compiled, { threads: 1 }));
    executors.set(compiled, executor);
    return executor;
  };
  const whole: ExecuteProgram = async (compiled, inputs) => {
    const executor = await executorOf(compiled);
    return (await timed("alone", () => executor.run(inputs))).tensors;
  };
  const claimed: ExecuteProgram = async (compiled, inputs) => {
    const executor = await executorOf(compiled);
    const names = compiled.inputs.map((input) => input.name);
    const kind = names.includes(TRAINING.rates) ? "join" : "shares";
    if (kind === "join") {
      const given = inputs.filter((_, k) => /^(sum|scale)_/.test(names[k]!));
      bytes = given.reduce((sum, { length }) => sum + length, 0) / WORKERS;
      deflated = given.reduce((sum, each) => sum + deflateRawSync(each, { level: 1 }).length, 0) / WORKERS;
    }
    const { tensors } = await timed(kind, () => executor.run(inputs));
    const made = tensors.map((tensor) => tensor.slice());
    const trees = new Map<number, MerkleList>();
    await timed("traced", async () => {
      const again = await executor.run(inputs, { keep: () => false, trees });
      return new Trace(compiled.program, again.tensors, trees).root;
    });
    await timed("roots", () => inputs.forEach((input) => tensorRoot(input)));
    return made;
  };
  let given = new Map([...training.initial].map(([input, { bytes }]) => [input, bytes]));
  for (let step = 0; step < WARM_UP + STEPS; step++) {
    for (const steps of Object.values(times)) steps.push(0);
    const all = new Map([...given, ...Object.entries(batch(step)), [TRAINING.rates, floats(rates)]]);
    all.set(TRAINING.index, int64Tensor([step]).bytes);
    const next = await training.whole(all, whole);
    const cut = new Array<number>(WORKERS).fill(SHARED_BATCH / WORKERS);
    const joined = await training.cut(all, cut, claimed, { ...(sums !== "exact" && { sums }), feedback });
    isSame = [...next].every(([output, own]) => Buffer.from(own).equals(joined.get(output)!));
    given = new Map([...given.keys()].map((input) => [input, joined.get(TRAINING.next(input))!]));
  }
  for (const executor of executors.values()) await executor.close();
  const kept = [...feedback[0]!.values()].reduce((sum, { length }) => sum + length, 0);
  const least = (kind: Kind): number => Math.min(...times[kind].slice(WARM_UP));
  const [alone, shares, join] = [least("alone"), least("shares"), least("join")];
  const own = { alone, shares, join, hashing: least("traced") - shares - join, roots: least("roots") };
  return { ...own, bytes, deflated: Math.round(deflated), feedback: kept, isSame };
}

/** Prints processor times and bytes for a step over four shares, for each model and form. */
export async function measureShares(): Promise<void> {
  for (const name of NAMES)
    for (const sums of [...SUM_FORMS, "top=256"] as const) {
      const { alone, shares, join, hashing, roots, ...more } = await measured(name, sums);
      const overhead = (shares + join + hashing + roots - alone) / alone;
      const times = { alone, shares, join, hashing, "roots of inputs": roots };
      const rounded = Object.entries(times).map(([key, ms]) => [`${key}, ms`, Number(ms.toFixed(1))]);
      console.table([
        { name, sums, ...Object.fromEntries(rounded), "overhead, %": Math.round(100 * overhead), ...more },
      ]);
    }
}

/** Prints gas, bytes and seconds for a step on a chain, with workers in separate processes. */
export async function measurePlayed(): Promise<void> {
  const rows: Record<string, string | number>[] = [];
  for (const name of NAMES) {
    const players = await Players.create();
    const story = { training: SHARED_EXAMPLES[name](PLAYED), workers: WORKERS, sums: "fixed" } as const;
    const { steps, othersGas, seconds } = await playTraining(players, story);
    await players.chain.close();
    const { gas, bytes } = steps.at(-1)!;
    const others = Math.round(othersGas / PLAYED);
    rows.push({ name, bytes, "requester's gas": gas, "others' gas": others, seconds: Math.round(seconds / PLAYED) });
  }
  console.table(rows);
}
