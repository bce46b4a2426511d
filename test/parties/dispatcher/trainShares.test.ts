import { expect } from "chai";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther, type Address } from "viem";
import type { TrainSpec } from "../../../src/compiler/wraps/trainSpec.ts";
import { TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { DispatchBudgetError, DispatchInputError, DispatchStateError } from "../../../src/parties/dispatcher/errors.ts";
import { shareTraining, trainShares, type ShareOptions } from "../../../src/parties/dispatcher/trainShares.ts";
import { TrainingStore, type TrainedStep } from "../../../src/parties/dispatcher/trainingStore.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { TracePublisher } from "../../../src/parties/worker/publisher.ts";
import type { Session } from "../../../src/chain/market/session.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { passTime } from "../../../testkit/dispatch/passTime.ts";
import { startServer } from "../../../testkit/dispatch/servers.ts";
import { TRAINABLE, trainableModel, trainingBatch } from "../../../testkit/models/trainable.ts";
import { reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { SharedTraining } from "../../../testkit/training/shares.ts";

const [SHARES, STEPS] = [4, 3];
const FEE = parseEther("0.02");
const SPEC: TrainSpec = { loss: "crossEntropy", optimiser: "adam" };
const shared = new SharedTraining(readModel(trainableModel()), SPEC);
const part = knownProgram(shared.program({ part: TRAINABLE.batch / SHARES }));
const joining = knownProgram(shared.program({ join: SHARES }));
const batches = Array.from({ length: STEPS }, (_, step) => trainingBatch(step));
const inputs = new Map([
  ["x", floatTensor(batches.flatMap(({ x }) => x)).bytes],
  ["labels", int64Tensor(batches.flatMap(({ labels }) => labels)).bytes],
  [TRAINING.rates, floatTensor([0.25]).bytes],
  ...[...shared.initial].map(([name, { bytes }]) => [name, bytes] as const),
]);
const training = shareTraining({ part, join: joining, shares: SHARES, steps: STEPS, inputs });

/** The state and the losses of a worker alone. */
async function alone() {
  let state = new Map([...shared.initial].map(([name, { bytes }]) => [name, bytes]));
  const losses: number[] = [];
  for (const [step, { x, labels }] of batches.entries()) {
    const given = new Map([...state, ["x", floatTensor(x).bytes], ["labels", int64Tensor(labels).bytes]]);
    given.set(TRAINING.rates, floatTensor([0.25]).bytes).set(TRAINING.index, int64Tensor([step]).bytes);
    const made = await shared.whole(given, executeReference);
    losses.push(new Float32Array(made.get(TRAINING.loss)!.buffer)[0]!);
    state = new Map([...state.keys()].map((name) => [name, made.get(TRAINING.next(name))!]));
  }
  return { state, losses };
}

/** Gives the sums of another share as its own. */
const copying: Execute = (model, given, ...rest) => {
  const at = (name: string): number => model.inputs.findIndex((input) => input.name === name);
  const rows = { x: 4 * TRAINABLE.inputs, labels: 8 };
  const whole = Buffer.from(inputs.get("x")!);
  const share = Array.from({ length: STEPS * SHARES }, (_, k) => k).find((k) =>
    whole.subarray(k * rows.x, (k + 1) * rows.x).equals(given[at("x")]!),
  )!;
  const copied = [...given];
  for (const [name, row] of Object.entries(rows))
    copied[at(name)] = inputs.get(name)!.subarray((share ^ 1) * row, ((share ^ 1) + 1) * row);
  return reference()(model, copied, ...rest);
};

describe("training over many workers", function () {
  this.timeout(600_000);
  const players = usePlayers("suite");
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-shares-"))));
  after(() => rmSync(folder, { recursive: true }));

  const open = (session: Session, name: string): Promise<TrainingStore> => {
    const { chainId, market } = session.deployment;
    return TrainingStore.open(join(folder, name), {
      ...{ run: training.id, chainId, market, requester: session.sender.address },
    });
  };
  const optionsFor = (session: Session, urls: readonly string[], budget = parseEther("1")): ShareOptions => ({
    ...{ session, urls, execute: reference(), maxAttempts: 3, checkShare: 0 },
    termsOf: () => ({
      ...{ fee: FEE, maxFee: FEE, budget, window: 3_600, claimSeconds: 4_000, deadlineSeconds: 86_400 },
      answer: false,
    }),
    ...{ openSeconds: 86_400, withheldSeconds: 0, intervalMs: 20 },
  });

  itAtLength("aLiar_aCopier_aDeadWorkerAndKillsOfTheDispatcher_leaveTheStateOfOneWorker", async () => {
    const session = await players().chain.newSession(parseEther("3"));
    const programs = [part, joining];
    const servers = {
      liar: await startServer(players(), part, reference({ step: 0, element: 0 })),
      copier: await startServer(players(), part, copying),
      dead: await startServer(players(), programs, reference()),
      honest: await startServer(players(), programs, reference()),
    };
    void servers.dead.worker.inbox
      .first("claimed", (event): event is WorkerEvent => event.kind === "claimed", 300_000)
      .then(servers.dead.stop, () => undefined);
    const watcher = await players().startWatcher(await players().watcherKey(), programs, reference());
    const addressOf = (name: keyof typeof servers): Address => players().addressOf(servers[name].key);
    const isWrong = (worker: Address): boolean => [addressOf("liar"), addressOf("copier")].includes(worker);
    const over = new AbortController();
    const cast = {
      idle: new Set([addressOf("dead")]),
      isWrong: ({ claim }: { claim: { worker: Address } }) => isWrong(claim.worker),
    };
    const time = passTime(players(), cast, over.signal);
    const options = optionsFor(
      session,
      Object.values(servers).map(({ url }) => url),
    );
    let [lives, state, events]: [number, ReadonlyMap<string, Uint8Array>, number] = [0, new Map(), 0];
    const steps = new Map<number, TrainedStep>();
    while (state.size === 0) {
      const [store, kill] = [await open(session, "story.db"), new AbortController()];
      // Each process ends a little later than the one before, wherever it is then.
      const last = ++lives < 6 ? 3 * lives : Infinity;
      events = 0;
      try {
        state = await trainShares(training, store, {
          ...{ ...options, signal: kill.signal, onTrained: (step) => steps.set(step.step, step) },
          onEvent: () => void (++events >= last && kill.abort()),
        });
      } catch (error) {
        if (!kill.signal.aborted) throw error;
      } finally {
        store.close();
      }
    }
    over.abort();
    const { claims, jobs } = await time;
    await Promise.all([...Object.values(servers).map(({ stop }) => stop()), watcher.stop()]);
    const expected = await alone();
    for (const [name, bytes] of expected.state)
      expect(Buffer.from(state.get(name)!).equals(bytes), name).to.equal(true);
    expect([...steps.values()].map(({ loss }) => loss)).to.deep.equal(expected.losses);
    expect(lives).to.be.greaterThan(3);
    for (const { claim, refuted, finalised } of claims.values())
      expect([refuted, finalised], claim.worker).to.deep.equal([isWrong(claim.worker), !isWrong(claim.worker)]);
    const liars = new Set([...claims.values()].map(({ claim }) => claim.worker).filter(isWrong));
    expect(liars.size).to.equal(2);
    expect(jobs.size).to.equal(STEPS * (SHARES + 1));
    expect([...steps.values()].reduce((sum, { fee }) => sum + fee, 0n)).to.equal(BigInt(jobs.size) * FEE);
    expect(readdirSync(folder).filter((file) => file.startsWith("story.db"))).to.deep.equal(["story.db"]);
  });

  itAtLength("sumsThatStayOffTheChain_areFetched_andTheStateIsThatOfOneWorker", async () => {
    const session = await players().chain.newSession(parseEther("3"));
    const files = new Map<string, Uint8Array>();
    const store = createServer(({ url }, response) => void response.end(files.get(url!.slice(1))));
    await new Promise<void>((resolve) => void store.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(store.address() as AddressInfo).port}`;
    const references = { sources: { hosts: [host] } };
    const publisher = new TracePublisher();
    const url = `http://127.0.0.1:${await publisher.listen(0)}`;
    const served = { publisher, references };
    const worker = await players().startWorker(await players().workerKey(), [part, joining], reference(), served);
    const over = new AbortController();
    const time = passTime(players(), { idle: new Set(), isWrong: () => false }, over.signal);
    const state = await trainShares(training, await open(session, "off chain.db"), {
      ...optionsFor(session, [url]),
      place: (bytes, name) => {
        files.set(name, bytes);
        return Promise.resolve([`http://${host}/${name}`]);
      },
    });
    over.abort();
    const { jobs } = await time;
    await Promise.all([worker.stop(), publisher.close()]);
    store.close();
    const own = [...jobs.values()].filter(({ job }) => job.requester === session.sender.address);
    expect(own).to.have.length(STEPS * (SHARES + 1));
    expect(own.every(({ job }) => job.rootOnly)).to.equal(true);
    for (const [name, bytes] of (await alone()).state)
      expect(Buffer.from(state.get(name)!).equals(bytes), name).to.equal(true);
  });

  it("aBudgetForLessThanAStep_endsBeforeAnythingIsSent_andAnotherTrainingsStateIsRefused", async () => {
    const session = await players().chain.newSession(parseEther("3"));
    const store = await open(session, "poor.db");
    const poor = trainShares(training, store, optionsFor(session, [], FEE));
    expect(await poor.catch((error: unknown) => error)).to.be.instanceOf(DispatchBudgetError);
    store.close();
    const other = await players().chain.newSession(parseEther("1"));
    expect(await open(other, "poor.db").catch((error: unknown) => error)).to.be.instanceOf(DispatchStateError);
  });

  it("inputsAndProgramsThatDoNotFit_areRefusedByName", () => {
    const given = { part, join: joining, shares: SHARES, steps: STEPS, inputs };
    expect(() => shareTraining({ ...given, shares: 2 })).to.throw(DispatchInputError, /not one of 2 shares/);
    expect(() => shareTraining({ ...given, steps: 2 })).to.throw(DispatchInputError, /"x".*for 2 steps of 4 shares/);
    const none = new Map([...inputs].filter(([name]) => name !== TRAINING.weights));
    expect(() => shareTraining({ ...given, inputs: none })).to.throw(DispatchInputError, /"weights" has no bytes/);
  });
});
