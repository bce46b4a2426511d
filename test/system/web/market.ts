import { join } from "node:path";
import { parseEther, type Address } from "viem";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { temporaryFolder } from "../../../src/deploy/devnet/temporaryFolder.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { openPanel, panelTimes, postPanel } from "../../../src/parties/requester/panel.ts";
import { SealBook } from "../../../src/parties/worker/sealBook.ts";
import { mlpBytes, mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, Players } from "../../../testkit/players/players.ts";
import type { Execute } from "../../../src/runs/execute.ts";

const ITEMS = 24;
const CLAIM_SECONDS = 1_800;

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

  /** Beside the market: a panel of three seats, of which a worker has sealed one, and exams of two classes. */
  async beside(): Promise<{ panels: Address; exams: Address }> {
    const { chain } = this.players;
    const program = mlpProgram(3);
    const panels = await chain.deploy("Panel", [chain.market]);
    const poster = await chain.newSession(parseEther("2"));
    const times = panelTimes(await chain.now(), CLAIM_SECONDS);
    const terms = { fee: parseEther("0.1"), window: 3_600, claimSeconds: CLAIM_SECONDS, seats: 3, ...times };
    await postPanel(poster, await openPanel(poster, panels), describeProgram(program), [mlpInput(4)], terms);
    const { path, remove } = temporaryFolder("refute-web-");
    const seals = await SealBook.at(join(path, "seals.db"));
    const worker = await this.players.startWorker(await this.players.workerKey(), program, honest, { seals });
    await first(worker, "sealed");
    await worker.stop();
    seals.close();
    remove();
    const classes = [program, mlpProgram()].map(({ model }) => ({ programRoot: model.programRoot, blocks: 64 }));
    const exams = await chain.deploy("Exams", [poster.deployment.provisioning, classes, 1n, 256n]);
    return { panels, exams };
  }

  /** Plays the dispute to its end. */
  endDispute(): Promise<void> {
    return this.#continueDispute!();
  }
}
