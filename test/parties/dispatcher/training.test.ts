import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { cutBatch } from "../../../src/parties/dispatcher/batch.ts";
import { dispatch } from "../../../src/parties/dispatcher/dispatcher.ts";
import { DispatchStore } from "../../../src/parties/dispatcher/store.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { carriedTensors, runItems } from "../../../src/program/trace/runItems.ts";
import { passTime } from "../../../testkit/dispatch/passTime.ts";
import { startServer } from "../../../testkit/dispatch/servers.ts";
import { trainable, trainingInputs } from "../../../testkit/models/trainable.ts";
import { reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

const [SEGMENTS, SEGMENT_ITEMS] = [4, 2];
const ITEMS = SEGMENTS * SEGMENT_ITEMS;
const FEE = parseEther("0.02");
const trained = trainable({ loss: "crossEntropy", optimiser: "momentum" });
const { program } = trained;
const inputs = trainingInputs(trained, ITEMS, 0.25);

/** What each segment begins with, by input, and what is carried from the last item. */
async function computed() {
  const { model } = program;
  const taken = new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, inputs);
  const states = [new Map(inputs.entries())];
  const execute = (each: readonly Uint8Array[]) => Promise.resolve(executeReference(model, each));
  for await (const tensors of runItems(model.program, taken, execute))
    states.push(carriedTensors(model.program, (step) => tensors[step]!));
  return { begins: states.filter((_, item) => item < ITEMS && item % SEGMENT_ITEMS === 0), last: states.at(-1)! };
}

describe("a training run in segments", function () {
  this.timeout(300_000);
  const players = usePlayers("suite");
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-segments-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("eachSegmentIsAnotherWorkersJob_theyJoin_andTheLastWeightsAreThoseOfOneRun", async () => {
    const { begins, last } = await computed();
    const ofParts = inputs.map((bytes, k) =>
      program.model.program.inputs[k]!.source?.kind === "carried"
        ? Buffer.concat(begins.map((state) => state.get(k)!))
        : bytes,
    );
    const batch = cutBatch({ program, inputs: ofParts, items: ITEMS, partItems: SEGMENT_ITEMS });
    expect(batch.parts.map(({ firstItem }) => firstItem)).to.deep.equal([0, 2, 4, 6]);
    expect(batch.joins).to.have.length(2);
    const session = await players().chain.newSession(parseEther("1"));
    const { chainId, market } = session.deployment;
    const identity = { batch: batch.id, chainId, market, requester: session.sender.address };
    const store = await DispatchStore.open(join(folder, "state.db"), identity);
    const servers = await Promise.all(
      Array.from({ length: SEGMENTS }, () => startServer(players(), program, reference(), { maxOpenClaims: 1 })),
    );
    const over = new AbortController();
    const time = passTime(players(), { idle: new Set(), isWrong: () => false }, over.signal);
    await dispatch({
      ...{ session, batch, store, execute: reference(), urls: servers.map(({ url }) => url) },
      ...{ openJobs: SEGMENTS, maxAttempts: 1, checkShare: 0 },
      terms: {
        ...{ fee: FEE, maxFee: FEE, budget: 4n * FEE, window: 3_600, claimSeconds: 900, deadlineSeconds: 86_400 },
        answer: false,
      },
      ...{ openSeconds: 86_400, withheldSeconds: 0, intervalMs: 20 },
    });
    over.abort();
    const { claims } = await time;
    await Promise.all(servers.map(({ stop }) => stop()));
    expect(new Set([...claims.values()].map(({ claim }) => claim.worker)).size).to.equal(SEGMENTS);
    const { model } = program;
    const claim = store.done().at(-1)!.claim;
    for (const name of [TRAINING.weights, TRAINING.state(0)]) {
      const output = model.outputs.findIndex((each) => each.name === TRAINING.next(name));
      const expected = last.get(model.inputs.findIndex((each) => each.name === name))!;
      const bytes = store.output(SEGMENTS - 1, claim, SEGMENT_ITEMS - 1, output)!;
      expect(Buffer.from(bytes).equals(expected), name).to.equal(true);
    }
    store.close();
  });
});
