import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TrainingStore, type TrainedStep } from "../../../src/parties/dispatcher/trainingStore.ts";

const OWNER = {
  run: `0x${"11".repeat(32)}`,
  chainId: 31_337,
  market: `0x${"22".repeat(20)}`,
  requester: `0x${"33".repeat(20)}`,
} as const;

const stepOf = (step: number, loss: number): TrainedStep => ({ step, loss, fee: 7n, gas: 5, jobs: 3, bytes: 9 });

describe("the state of a training", () => {
  let folder: string;
  const open = (): Promise<TrainingStore> => TrainingStore.open(join(folder, "training.db"), OWNER);
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-training-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("lossesThatAreNoNumbers_surviveOpeningAgain", async () => {
    const losses = [0.5, NaN, Infinity, -Infinity, Math.fround(0.1), 2 ** -149, 0];
    const first = await open();
    losses.forEach((loss, step) => first.finish(stepOf(step, loss), new Map([["weights", Uint8Array.of(step)]])));
    first.close();
    const again = await open();
    expect(again.steps()).to.deep.equal(losses.map((loss, step) => stepOf(step, loss)));
    expect([...again.state()]).to.deep.equal([["weights", Uint8Array.of(losses.length - 1)]]);
    again.close();
  });

  it("aLongTensor_isKeptInSeveralRows_andAShorterStateReplacesAll", async () => {
    const long = new Uint32Array(10_000_001).map((_, k) => Math.imul(k, 0x9e3779b1));
    const [feedback, weights] = [new Uint8Array(long.buffer), Uint8Array.of(1, 2, 3)];
    const first = await open();
    first.finish(stepOf(0, 1), new Map(Object.entries({ feedback, weights })));
    first.close();
    const database = new DatabaseSync(join(folder, "training.db"));
    const { most } = database.prepare("select max(length(data)) as most from state").get()!;
    database.close();
    expect(most).to.be.lessThan(feedback.length / 2);
    const again = await open();
    const state = again.state();
    expect([...state.keys()].sort()).to.deep.equal(["feedback", "weights"]);
    expect(Buffer.from(state.get("feedback")!).equals(feedback)).to.equal(true);
    expect(state.get("weights")).to.deep.equal(weights);
    again.finish(stepOf(1, 1), new Map([["feedback", weights]]));
    expect([...again.state()]).to.deep.equal([["feedback", weights]]);
    again.close();
  });
});
