import { expect } from "chai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatHex, keccak256, numberToHex, parseEther, type Hex } from "viem";
import { followMarket } from "../../../src/chain/market/session.ts";
import { TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { DispatchInputError } from "../../../src/parties/dispatcher/errors.ts";
import { shareTraining, trainShares } from "../../../src/parties/dispatcher/trainShares.ts";
import { TrainingStore } from "../../../src/parties/dispatcher/trainingStore.ts";
import { passTime } from "../../../testkit/dispatch/passTime.ts";
import { startServer } from "../../../testkit/dispatch/servers.ts";
import { TRAINABLE, trainableModel, trainingBatch } from "../../../testkit/models/trainable.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { isFeedback, SharedTraining } from "../../../testkit/training/shares.ts";

const [SHARES, STEPS] = [2, 2];
const FEE = parseEther("0.02");
const RATES = floatTensor([0.25]).bytes;
/** The share of claims that are checked. */
const CHECKED = 0.1;

const shared = new SharedTraining(readModel(trainableModel()), { loss: "crossEntropy", optimiser: "adam" });
const part = knownProgram(shared.program({ part: TRAINABLE.batch / SHARES, sums: "signs" }));
const joining = knownProgram(shared.program({ join: SHARES, sums: "signs" }));
const batches = Array.from({ length: STEPS }, (_, step) => trainingBatch(step));
const initial = [...shared.initial].map(([name, { bytes }]) => [name, bytes] as const);
const training = shareTraining({
  ...{ part, join: joining, shares: SHARES, steps: STEPS },
  inputs: new Map([
    ["x", floatTensor(batches.flatMap(({ x }) => x)).bytes],
    ["labels", int64Tensor(batches.flatMap(({ labels }) => labels)).bytes],
    [TRAINING.rates, RATES],
    ...initial,
  ]),
});

/** The state and the feedbacks after all steps, without a chain. */
async function expected(): Promise<Map<string, Uint8Array>> {
  let state = new Map(initial);
  const feedback: ReadonlyMap<string, Uint8Array>[] = [];
  for (const [step, { x, labels }] of batches.entries()) {
    const given = new Map([...state, ["x", floatTensor(x).bytes], ["labels", int64Tensor(labels).bytes]]);
    given.set(TRAINING.rates, RATES).set(TRAINING.index, int64Tensor([step]).bytes);
    const cut = new Array<number>(SHARES).fill(TRAINABLE.batch / SHARES);
    const made = await shared.cut(given, cut, executeReference, { sums: "signs", feedback });
    state = new Map([...state.keys()].map((name) => [name, made.get(TRAINING.next(name))!]));
  }
  const kept = [...feedback[0]!.keys()].map(
    (name) => [name, new Uint8Array(Buffer.concat(feedback.map((own) => own.get(name)!)))] as const,
  );
  return new Map([...state, ...kept]);
}

/** A model with a single layer, [4, 1] to [4, width], without a bias. */
const oneRow = (width: number): Uint8Array =>
  buildModel({
    opset: 18,
    inputs: [{ name: "x", dtype: DType.float32, shape: [4, 1] }],
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: [{ op: "MatMul", inputs: ["x", "w"], outputs: ["y"] }],
    initializers: {
      w: floatTensor(
        Array.from({ length: width }, (_, k) => k / 8),
        [1, width],
      ),
    },
  });

/** Whether a secret draws a claim: written here once more. */
const isDrawn = (secret: Hex, claim: Hex): boolean =>
  Number(BigInt(keccak256(concatHex([secret, claim]))) % 1_000_000n) < CHECKED * 1_000_000;

/** A secret that draws a claim. */
function secretFor(claim: Hex): Hex {
  for (let number = 1; ; number++) {
    const secret = numberToHex(number, { size: 32 });
    if (isDrawn(secret, claim)) return secret;
  }
}

/** Lies about the feedback for the next step: all that the share sends in this step is right. */
const lying = (): ReturnType<typeof reference> => {
  const { outputs, checkpoints } = part.model.program;
  const output = part.model.outputs.findIndex(({ name }) => isFeedback(name));
  expect(output).to.be.at.least(0);
  return reference({ step: checkpoints[outputs[output]!]!.step, element: 0 });
};

describe("a training over shares", () => {
  it("anOutputThatFitsNoRowOfTheStateFile_isRefusedByName", () => {
    const outputs = part.model.outputs.map((output) =>
      output.name === "feedback_1_next" ? { ...output, shape: [250_000_000] } : output,
    );
    const large = { ...training, part: { ...part, model: { ...part.model, outputs } } };
    expect(() => shareTraining(large)).to.throw(DispatchInputError, /"feedback_1_next" has 1000000000 bytes/);
  });

  it("aJoiningProgramForAnotherFormOfSums_isRefused_andForTheSameFormTaken", () => {
    const forms = ["exact", "fixed", "rounded", "bytes", "signs", "top=2", "top=3", "top=4", "top=256"] as const;
    for (const one of forms)
      for (const other of forms) {
        const given = {
          ...training,
          part: knownProgram(shared.program({ part: TRAINABLE.batch / SHARES, sums: one })),
          join: knownProgram(shared.program({ join: SHARES, sums: other })),
        };
        if (one === other) expect(shareTraining(given).shares, one).to.equal(SHARES);
        else
          expect(() => shareTraining(given), `${one} ${other}`).to.throw(
            DispatchInputError,
            /not one of 2 shares of these parts: .*"(sum|scale)_\d+"/,
          );
      }
  });

  it("groupsOfAnotherSizeInSumsOfOneShape_areRefused_andWhatTheJoiningProgramAloneTakesMustBeGiven", () => {
    // Groups of 3 and of 4 among 5 elements: two of each.
    const five = new SharedTraining(readModel(oneRow(5)), { loss: "mse", optimiser: "momentum" });
    const [three, four] = (["top=3", "top=4"] as const).map((sums) => five.program({ join: SHARES, sums }));
    expect(three!.inputs).to.deep.equal(four!.inputs);
    const given = {
      ...{ part: knownProgram(five.program({ part: 2, sums: "top=3" })), shares: SHARES, steps: 1 },
      inputs: new Map([
        ["x", floatTensor(new Array<number>(4).fill(1)).bytes],
        [TRAINING.labels, floatTensor(new Array<number>(20).fill(1)).bytes],
        [TRAINING.rates, RATES],
        ...[...five.initial].map(([name, { bytes }]) => [name, bytes] as const),
      ]),
    };
    expect(() => shareTraining({ ...given, join: knownProgram(four!) })).to.throw(
      DispatchInputError,
      /"sum_1" has groups of 4 neighbours, the parts give groups of 3/,
    );
    const join = knownProgram(three!);
    expect(shareTraining({ ...given, join }).shares).to.equal(SHARES);
    const state = TRAINING.state(0);
    const inputs = new Map([...given.inputs].filter(([name]) => name !== state));
    expect(() => shareTraining({ ...given, join, inputs })).to.throw(DispatchInputError, `"${state}" has no bytes`);
  });
});

describe("training over shares with feedback", function () {
  this.timeout(600_000);
  const players = usePlayers("suite");
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-feedback-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("aLieAboutAFeedback_isRefuted_byTheClaimsThatASecretDraws_andTheStateIsThatOfTheProgram", async () => {
    const session = await players().chain.newSession(parseEther("3"));
    const { chainId, market } = session.deployment;
    const requester = session.sender.address;
    const open = (): Promise<TrainingStore> =>
      TrainingStore.open(join(folder, "training.db"), { run: training.id, chainId, market, requester });
    const terms = { fee: FEE, maxFee: FEE, budget: parseEther("1"), window: 3_600, claimSeconds: 4_000 };
    const options = {
      ...{ session, execute: reference(), maxAttempts: 3, openSeconds: 86_400, withheldSeconds: 0, intervalMs: 20 },
      termsOf: () => ({ ...terms, deadlineSeconds: 86_400, answer: false }),
    };
    const kill = new AbortController();
    let posted = 0;
    const store = await open();
    const begun = trainShares(training, store, {
      ...{ ...options, urls: [], checkShare: 0, signal: kill.signal },
      onEvent: ({ kind }) => void (kind === "posted" && ++posted === SHARES && kill.abort()),
    });
    await begun.catch((error: unknown) => {
      if (!kill.signal.aborted) throw error;
    });
    store.close();

    const key = await players().workerKey(1.5);
    const liar = await players().startWorker(key, part, lying());
    const { jobId } = await first(liar, "submitted");
    const { history } = await followMarket(await players().chain.newSession())();
    const lie = history.jobs.get(jobId)!.claims[0]!.id;
    const secret = secretFor(lie);
    const honest = await startServer(players(), [part, joining], reference());
    const over = new AbortController();
    const time = passTime(players(), { idle: new Set(), isWrong: ({ id }) => id === lie }, over.signal);
    const [submitted, checked] = [new Set<Hex>(), new Map<Hex, boolean>()];
    const again = await open();
    const state = await trainShares(training, again, {
      ...{ ...options, urls: [honest.url], checkShare: CHECKED, checkSecret: secret },
      onEvent: (event) => {
        if (event.kind === "submitted") submitted.add(event.claim);
        if (event.kind === "checked") checked.set(event.claim, event.isRight);
      },
    });
    again.close();
    over.abort();
    const { claims } = await time;
    await Promise.all([liar.stop(), honest.stop()]);

    expect([...claims.values()].filter(({ refuted }) => refuted).map(({ id }) => id)).to.deep.equal([lie]);
    expect(submitted.size).to.equal(STEPS * (SHARES + 1) + 1);
    const drawn = [...submitted].filter((claim) => isDrawn(secret, claim));
    expect([...checked].sort()).to.deep.equal(drawn.map((claim): [Hex, boolean] => [claim, claim !== lie]).sort());
    for (const [name, bytes] of await expected())
      expect(Buffer.from(state.get(name)!).equals(bytes), name).to.equal(true);
  });
});
