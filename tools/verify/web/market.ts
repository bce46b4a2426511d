import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/onnx/readModel.ts";
import type { Execute } from "../../../src/player/executeRun.ts";
import { knownProgram } from "../../../src/player/execution.ts";
import { mlpBytes, mlpInput } from "../../../testkit/models/mlp.ts";
import { first, Players } from "../../../testkit/players/players.ts";

const ITEMS = 24;
/** Where the cheat lies: in the product of the first layer, in the second of three chunks. */
const LIE = { item: 13, step: 0, element: 200 };

/** Executes by the definition; in one item, which its input tells, one number gets another size. */
const lying: Execute = (model, inputs) =>
  Promise.resolve(
    executeReference(model, inputs, {
      onStep: (step, tensor) => {
        const isItem = Buffer.compare(inputs[0]!, mlpInput(LIE.item)) === 0;
        if (isItem && step === LIE.step) tensor[LIE.element * 4 + 3]! ^= 0x3f;
      },
    }),
  );

const honest: Execute = (model, inputs) => Promise.resolve(executeReference(model, inputs));

/** A market on which a job is done, another one is open, and a third one is disputed as far as somebody lets it. */
export class StoryMarket {
  readonly players: Players;
  #continueDispute: (() => Promise<void>) | undefined;

  private constructor(players: Players) {
    this.players = players;
  }

  static async create(): Promise<StoryMarket> {
    return new StoryMarket(await Players.create());
  }

  /** An honest job, to its end; and one that nobody takes. */
  async honestJobs(): Promise<void> {
    const { players } = this;
    const program = knownProgram(compile(readModel(mlpBytes()), { shapes: {} }));
    const worker = await players.startWorker(await players.workerKey(), program, honest);
    await players.post(program, [mlpInput(1)]);
    await first(worker, "submitted");
    await players.chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    await players.post(program, [mlpInput(2)]);
  }

  /** A false claim on a run, and its dispute up to the middle. */
  async halfDispute(): Promise<void> {
    const { players } = this;
    const run = { each: ["x"], eachOutputs: ["y"] };
    const program = knownProgram(compile(readModel(mlpBytes(2)), { shapes: {}, run }));
    const inputs = [Buffer.concat(Array.from({ length: ITEMS }, (_, k) => mlpInput(k)))];
    const worker = await players.startWorker(await players.workerKey(), program, lying);
    await players.post(program, inputs, { items: ITEMS });
    await first(worker, "submitted");
    const key = await players.watcherKey();
    const watcher = await players.startWatcher(key, program, honest);
    await first(watcher, "moved");
    await watcher.stop();
    this.#continueDispute = async () => {
      const again = await players.startWatcher(key, program, honest);
      await first(worker, "refuted");
      await Promise.all([worker.stop(), again.stop()]);
    };
  }

  /** Plays the dispute to its end. */
  endDispute(): Promise<void> {
    return this.#continueDispute!();
  }
}
