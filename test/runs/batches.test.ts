import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { ExecutionInputError, ExecutionMemoryError } from "../../src/executor/errors.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { answerRun } from "../../src/parties/tickets/answerRun.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { bytesOf, RunInputs } from "../../src/program/trace/runInputs.ts";
import { keptSteps } from "../../src/program/trace/runItems.ts";
import { Batches } from "../../src/runs/batches.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";
import { rejection } from "../../testkit/rejection.ts";

const SLOTS = 24;
const { model } = runProgram();

/** What a request's items begin with, by the request's number. */
const itemOf = (request: number, own: CompiledModel = model): Uint8Array[] =>
  own.program.inputs.map((input, k) => new Uint8Array(bytesOf(input)).fill(k === 0 ? request : 0));
const requestOf = (inputs: readonly Uint8Array[]): number => inputs[0]![0]!;

type Costs = {
  /** Milliseconds of an item of a request. */
  alone: (request: number) => number;
  /** Milliseconds of so many items together, beside what a slow one takes. */
  together: (items: number) => number;
};

/** A machine whose executions take no time, but move a clock. */
class Machine {
  now = 0;
  /** The requests of each execution. */
  readonly executions: number[][] = [];
  readonly batches: Batches;
  fails: (requests: readonly number[]) => Error | undefined = () => undefined;

  constructor({ alone, together }: Costs) {
    const act = (requests: number[], time: number): Uint8Array[] => {
      this.executions.push(requests);
      this.now += time;
      const failure = this.fails(requests);
      if (failure !== undefined) throw failure;
      return model.program.steps.map(() => Uint8Array.of(requests.length));
    };
    const one: Execute = async (_, inputs) => {
      await Promise.resolve();
      return act([requestOf(inputs)], alone(requestOf(inputs)));
    };
    const apart: Execute["apart"] = async (_, items) => {
      await Promise.resolve();
      const requests = items.map(requestOf);
      const slowest = Math.max(...requests.map(alone));
      const tensors = act(requests, together(items.length) + slowest);
      return items.map(() => tensors);
    };
    this.batches = new Batches(Object.assign(one, { apart }), () => this.now);
  }

  /** Has a request's items executed. @returns when the last one ended */
  async request(request: number, items: number, own: CompiledModel = model): Promise<number> {
    const kept = keptSteps(own.program);
    const { result } = await this.batches.run(own, async (execute) => {
      for (let item = 0; item < items; item++) await execute(own, itemOf(request, own), (step) => kept.has(step));
      return this.now;
    });
    return result;
  }
}

const EVEN: Costs = { alone: () => 10, together: (items) => items };
const count = (all: readonly (readonly number[])[], request: number): number =>
  all.filter((requests) => requests.includes(request)).length;

describe("requests that are executed together", function () {
  this.timeout(240_000);

  for (const [name, bytes] of [
    ["gpt2", () => gpt2Decoder({ layers: 1, width: 32, heads: 2, tokens: SLOTS, vocabulary: 40 })],
    ["llamaOfFourBits", () => llama(LLAMA_TINY)],
  ] as const)
    it(`${name}_haveTheRootsOfRequestsAlone`, async () => {
      const { model: wrapped, run } = wrapDecoder(readModel(bytes()), { slots: SLOTS });
      const own = compile(wrapped, { shapes: {}, run });
      const texts = Array.from({ length: 9 }, (_, k) => {
        const prompt = Array.from({ length: 1 + ((5 * k) % 11) }, (__, n) => (7 * n + k) % 20);
        const given = decoderInputs(own, { prompt, temperature: k / 3, topK: k, seed: BigInt(k) });
        return new RunInputs(own.program.inputs, { items: SLOTS - k, firstItem: 0 }, given);
      });
      const executors = new FastExecutors({ threads: 1 });
      const roots: string[] = [];
      for (const inputs of texts) roots.push((await answerRun({ model: own }, inputs, executors.execute)).root);
      let together = 0;
      const execute: Execute = Object.assign((...args: Parameters<Execute>) => executors.execute(...args), {
        ...executors.execute,
        apart: async (...args: Parameters<NonNullable<Execute["apart"]>>) => {
          const results = await executors.execute.apart!(...args);
          together += results.length;
          return results;
        },
      });
      const batches = new Batches(execute);
      const found = await Promise.all(
        texts.map((inputs) => batches.run(own, (each) => answerRun({ model: own }, inputs, each))),
      );
      expect(found.map(({ result }) => result.root)).to.deep.equal(roots);
      expect(together).to.be.greaterThan(1);
      for (const { milliseconds } of found) expect(milliseconds).to.be.greaterThan(0);
      await executors.close();
    });

  it("upToEight_runAtOnce_inTheirOrder_andEachHasItsTurn", async () => {
    const machine = new Machine(EVEN);
    await Promise.all(Array.from({ length: 10 }, (_, k) => machine.request(k, 30)));
    const { executions } = machine;
    expect(Math.max(...executions.map(({ length }) => length))).to.equal(8);
    for (let k = 0; k < 10; k++) expect(count(executions, k), `request ${k}`).to.equal(30);
    const half = executions.slice(0, executions.length >> 2);
    const begun = Array.from({ length: 8 }, (_, k) => count(half, k));
    expect(Math.max(...begun) - Math.min(...begun)).to.be.at.most(1);
    // 300 items of 10, in batches of 8 that take 18.
    expect(machine.now).to.be.lessThan(1_000);
  });

  it("whereBatchesAreSlower_requestsFollowEachOther", async () => {
    const machine = new Machine({ alone: () => 10, together: (items) => 20 * items });
    await Promise.all(Array.from({ length: 8 }, (_, k) => machine.request(k, 30)));
    const { executions } = machine;
    expect(executions.filter(({ length }) => length > 1).length).to.be.within(1, 6);
    // From then on, one request at a time has its items executed.
    const more: number[] = [];
    const from = executions.length;
    await Promise.all([20, 21, 22].map((k) => machine.request(k, 5).then(() => more.push(k))));
    expect(executions.slice(from).flat()).to.deep.equal([20, 21, 22].flatMap((k) => [k, k, k, k, k]));
    expect(more).to.deep.equal([20, 21, 22]);
  });

  it("oneOfEight_withSlowItems_letsOthersTakeAtMostHalfAsLongAgain", async () => {
    const SLOW = 200;
    const others = [1, 2, 3, 4, 5, 6, 7];
    const lastOf = async (alone: Costs["alone"], requests: readonly number[]): Promise<number> => {
      const machine = new Machine({ ...EVEN, alone });
      const ends = await Promise.all(requests.map((k) => machine.request(k, 500)));
      return Math.max(...ends.filter((_, k) => requests[k] !== 0));
    };
    const usual = await lastOf(EVEN.alone, others);
    const beside = await lastOf((request) => (request === 0 ? SLOW : 10), [0, ...others]);
    // Some items pass until it is known which request is slow.
    expect(beside).to.be.at.most(1.5 * usual + 5 * SLOW);
  });

  it("aRequestThatIsSlowForAWhile_joinsTheOthersAgain", async () => {
    let slowItems = 0;
    const alone = (request: number): number => (request === 0 && slowItems++ > 20 && slowItems < 30 ? 300 : 10);
    const machine = new Machine({ ...EVEN, alone });
    await Promise.all([0, 1, 2, 3].map((k) => machine.request(k, 400)));
    const { executions } = machine;
    const beside = executions.filter((requests) => requests.length > 1 && requests.includes(0));
    expect(beside.length).to.be.greaterThan(100);
    expect(count(executions, 0)).to.equal(400);
  });

  it("aRequestThatFails_orEnds_doesNotHurtTheOthers", async () => {
    const machine = new Machine(EVEN);
    machine.fails = (requests) => (requests.includes(3) ? new ExecutionMemoryError("no room") : undefined);
    const given = [1, 2, 3, 4];
    const ends = await Promise.allSettled(given.map((k) => machine.request(k, 20)));
    expect(ends.map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    for (const k of [1, 2, 4]) expect(count(machine.executions, k)).to.be.at.least(20);
    // A wrong input is found before the item is beside others; a request that gives up gives its place back.
    const other = new Machine(EVEN);
    const stopped = other.batches.run(model, async (execute) => {
      await execute(model, itemOf(9), () => false);
      throw new RangeError("given up");
    });
    const wrong = other.batches.run(model, (execute) => execute(model, [], () => false));
    const right = [1, 2].map((k) => other.request(k, 20));
    const failures = await Promise.all([rejection(stopped), rejection(wrong)]);
    expect(failures[0]).to.be.instanceOf(RangeError);
    expect(failures[1]).to.be.instanceOf(ExecutionInputError);
    await Promise.all(right);
    for (const k of [1, 2]) expect(count(other.executions, k)).to.equal(20);
    await Promise.all(Array.from({ length: 9 }, (_, k) => other.request(k, 3)));
  });

  it("runsThatCarryMuch_areFewAtOnce_andAnotherProgramWaitsForItsTurn", async () => {
    const { program } = model;
    const inputs = program.inputs.map((input, k) => (k === 0 ? { ...input, count: 2 ** 25 } : input));
    const large: CompiledModel = { ...model, program: { ...program, inputs } };
    const machine = new Machine(EVEN);
    let [running, most] = [0, 0];
    const order: string[] = [];
    const ask = (own: CompiledModel, name: string): Promise<unknown> =>
      machine.batches.run(own, async () => {
        order.push(name);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
      });
    await Promise.all([ask(large, "a"), ask(large, "b"), ask(large, "c"), ask(model, "d"), ask(large, "e")]);
    // 128 MiB each, of 256.
    expect([most, order.join("")]).to.deep.equal([2, "abcde"]);
  });

  it("itemsThatAreHashed_orKeepOtherSteps_areExecutedAlone", async () => {
    const machine = new Machine(EVEN);
    const ask = (k: number, hashed: boolean): Promise<unknown> =>
      machine.batches.run(model, async (execute) => {
        for (let item = 0; item < 8; item++)
          await (hashed ? execute(model, itemOf(k), () => false, new Map()) : execute(model, itemOf(k), () => true));
      });
    await Promise.all([ask(0, true), ask(1, true), ask(2, false), ask(3, false)]);
    expect(machine.executions.every(({ length }) => length === 1)).to.equal(true);
  });
});
