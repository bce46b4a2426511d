import { expect } from "chai";
import { pino } from "pino";
import { Health } from "../../src/base/health.ts";
import { answerGuess } from "../../src/runs/blocks.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { executeStretches } from "../../src/runs/stretches.ts";
import type { Execute, ExecuteStretch } from "../../src/runs/execute.ts";
import { NO_METER } from "../../src/runs/figures.ts";
import { FleetExecutions } from "../../src/runs/fleet/fleetExecutions.ts";
import { isTask, taskOf } from "../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../src/runs/fleet/taskHandler.ts";
import { ThreadedExecutor } from "../../src/runs/fleet/threadedExecutor.ts";
import { TaskFailedError } from "../../src/runs/fleet/errors.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { tokensGuess } from "../../src/compiler/wraps/decoderInputs.ts";
import { blockedText, countedExecute, type BlockedText } from "../../testkit/decoders/blockedText.ts";
import { MemoryStore } from "../../testkit/fleet/memoryStore.ts";
import { MemoryTasks } from "../../testkit/fleet/memoryTasks.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { rejection } from "../../testkit/rejection.ts";

const ITEMS = 40;
const PROMPT = Array.from({ length: 21 }, (_, k) => (7 * k + 3) % 50);
const log = pino({ level: "silent" });

describe("stretches of a text", function () {
  this.timeout(120_000);

  let text: BlockedText;
  let right: Awaited<ReturnType<typeof executeRun>>;
  /** What each item takes. */
  const taken: Uint8Array[] = [];
  let outputs: Uint8Array[];

  before(async () => {
    const shape = { layers: 2, width: 32, heads: 2, tokens: 64, vocabulary: 50, circle: 5 };
    text = await blockedText(gpt2Decoder(shape), PROMPT, ITEMS);
    const alone = countedExecute(text.executor, false).execute;
    right = await executeRun(text.program, text.inputs, alone, {}, (item, { tensor }) => {
      taken[item + 1] = Uint8Array.from(tensor(text.step));
    });
    outputs = [taken[ITEMS]!];
  });

  after(() => text.executor.close());

  /** The stretches of the text, as if each item took long. */
  async function stretchesWith(told: Uint8Array | undefined): Promise<{ length: number; isTold: boolean }[]> {
    const { inputs, input, step } = text;
    const { model } = text.program;
    const slow = { ...model.program.steps[0]!, count: 2 ** 31 };
    const program = { ...model.program, steps: [...model.program.steps, slow] };
    const known = { ...text.program, model: { ...model, program } };
    const all: { length: number; isTold: boolean }[] = [];
    const execute: ExecuteStretch = ({ inputs: part, text: expected }) => {
      const { items, firstItem } = part.length;
      expect(part.bytes[input]!).to.deep.equal(taken[firstItem] ?? inputs.bytes[input]!);
      all.push({ length: items, isTold: expected !== undefined });
      const tensors: Uint8Array[] = [];
      for (const { source } of program.inputs)
        if (source?.kind === "carried") tensors[program.checkpoints[source.checkpoint]!.step] = new Uint8Array();
      tensors[step] = taken[firstItem + items]!;
      const bytes = inputs.bytes.map(({ length }) => new Uint8Array(length));
      program.inputs.forEach(({ source }, k) => {
        if (source?.kind === "carried" && k !== input)
          tensors[program.checkpoints[source.checkpoint]!.step] = bytes[k]!;
      });
      return Promise.resolve({ roots: new Uint8Array(), tensors });
    };
    const start = { from: 0, carried: new Map<number, Uint8Array>() };
    await executeStretches({ program: known, inputs }, start, ITEMS, execute, undefined, {
      guess: told && tokensGuess(model, inputs, told),
    });
    return all;
  }

  const lengthsOf = (all: readonly { length: number }[]): number[] => all.map(({ length }) => length);

  it("withKnownTokens_areAsLongAsABlock", async () => {
    const prompt = await stretchesWith(undefined);
    expect(lengthsOf(prompt)).to.deep.equal([16, 4, ...new Array<number>(ITEMS - 20).fill(1)]);
    expect(prompt.some(({ isTold }) => isTold)).to.equal(false);
    const told = await stretchesWith(outputs[0]);
    expect(told).to.deep.equal([16, 16, 8].map((length) => ({ length, isTold: true })));
    const wrong = Uint8Array.from(outputs[0]!);
    wrong[8 * 25]! ^= 1;
    expect(lengthsOf(await stretchesWith(wrong))).to.deep.equal([16, 16, ...new Array<number>(ITEMS - 32).fill(1)]);
  });

  it("byExecutorsOfAFleet_areInBlocks_andHaveTheSameRoots", async () => {
    const { program, inputs, executor } = text;
    const programs = ProgramLibrary.of([program]);
    for (const place of [undefined, 5, 27]) {
      const told = Uint8Array.from(outputs[0]!);
      if (place !== undefined) told[8 * place]! ^= 1;
      const store = new MemoryStore();
      const one = countedExecute(executor);
      const handler = new TaskHandler({ name: "e", programs, store, execute: one.execute });
      const tasks = new MemoryTasks([handler.handle]);
      const here: Execute = () => Promise.reject(new Error("not here"));
      const options = { tasks, store, here, againShare: 0, health: new Health(log), meter: NO_METER, log };
      const { execute } = new FleetExecutions(options);
      const guess = answerGuess(program.model, inputs, [told]);
      const run = await executeRun(program, inputs, execute, { guess });
      expect(run.runRoot).to.equal(right.runRoot);
      expect(run.answer.root).to.equal(right.answer.root);
      expect(tasks.tasks.map((task) => task.text !== undefined)).to.deep.equal([true, false]);
      expect(one.counts.wrong).to.equal(place === undefined ? 0 : 1);
      if (place === undefined) expect(one.counts.singles).to.be.lessThan(ITEMS / 4);
      // The same stretch has the same name, whatever text is expected.
      const { due, not, purpose, ...asked } = tasks.tasks[0]!;
      const { text: ref, ...others } = asked;
      expect(taskOf(others, due ?? Infinity, not, purpose).id).to.equal(asked.id);
      expect(isTask({ ...tasks.tasks[0], text: { root: ref!.root, bytes: -1 } })).to.equal(false);
      const odd = taskOf({ ...asked, text: { root: ref!.root, bytes: 7 } }, 5, []);
      const other = new TaskHandler({ name: "f", programs, store: new MemoryStore(), execute: one.execute });
      expect(await rejection(other.handle(odd))).to.be.instanceOf(TaskFailedError);
      // A text that the store has no more is no text.
      await store.delete(`tensors/${ref!.root.slice(2, 4)}/${ref!.root.slice(2)}`);
      for (const name of [...store.blobs.keys()]) if (name.startsWith("outcomes/")) await store.delete(name);
      expect((await handler.handle(tasks.tasks[0]!)).tensors).to.have.length(tasks.tasks[0]!.steps.length + 1);
    }
  });

  it("onThreads_areInBlocks_andHaveTheSameRoots", async () => {
    const { program, inputs } = text;
    const threads = new ThreadedExecutor(2);
    const counts = { blocks: 0, items: 0 };
    const { block } = threads.execute;
    const counted: Execute = (...args) => threads.execute(...args);
    const execute = Object.assign(counted, {
      block: async (...args: Parameters<NonNullable<Execute["block"]>>) => {
        const result = await block!(...args);
        counts.blocks++;
        counts.items += result.items.length;
        return result;
      },
    });
    const runs = [undefined, 9, 30].map((place) => {
      const told = Uint8Array.from(outputs[0]!);
      if (place !== undefined) told[8 * place]! ^= 1;
      return executeRun(program, inputs, execute, { guess: answerGuess(program.model, inputs, [told]) });
    });
    for (const run of await Promise.all(runs)) expect(run.runRoot).to.equal(right.runRoot);
    expect(counts.blocks).to.be.at.least(3);
    expect(counts.items).to.be.at.least(ITEMS - 1);
    await threads.close();
  });
});
