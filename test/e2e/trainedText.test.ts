import type { Execute } from "../../src/runs/execute.ts";
import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { TRAINING, weightsByName, wrapTraining } from "../../src/compiler/wraps/wrapTraining.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { replaceInitializers } from "../../src/model/onnx/replaceInitializers.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { first } from "../../testkit/players/players.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { characterModel, characterWriter } from "../../testkit/training/models.ts";

/** The text repeats this for ever. */
const CYCLE = [0, 3, 1, 4, 2];
const SHAPE = { context: 3, characters: CYCLE.length, embedding: 4, hidden: 8 };
const [TRAINING_ITEMS, WRITTEN] = [40, 7];
const at = (place: number): number => CYCLE[place % CYCLE.length]!;
const before = (place: number): number[] => Array.from({ length: SHAPE.context }, (_, k) => at(place + k));
const honest: Execute = (model, inputs) => Promise.resolve(executeReference(model, inputs));

/** A training run over all places of the cycle, and what its job is given. */
function trainingJob() {
  const model = readModel(characterModel(SHAPE, CYCLE.length));
  const { parts, initial, ...wrapped } = wrapTraining(model, { loss: "crossEntropy", optimiser: "adam" });
  const program = knownProgram(compile(wrapped.model, { shapes: {}, run: wrapped.run }));
  const places = Array.from({ length: TRAINING_ITEMS * CYCLE.length }, (_, k) => k % CYCLE.length);
  const given = new Map<string, Uint8Array>([
    ["x", int64Tensor(places.flatMap(before)).bytes],
    [TRAINING.labels, int64Tensor(places.map((place) => at(place + SHAPE.context))).bytes],
    [TRAINING.rates, floatTensor([0.05]).bytes],
    [TRAINING.index, new Uint8Array(0)],
    ...[...initial].map(([name, { bytes }]): [string, Uint8Array] => [name, bytes]),
  ]);
  return { program, parts, inputs: program.model.inputs.map(({ name }) => given.get(name)!) };
}

/** The run that writes with such weights. */
function writingJob(weights: ReadonlyMap<string, TensorData>) {
  const model = readModel(replaceInitializers(characterWriter(SHAPE), weights));
  const run = { carried: { context: "context_next" }, lastOutputs: ["context_next"], eachOutputs: ["token"] };
  const program = knownProgram(compile(model, { shapes: {}, run }));
  const given = new Map([
    ["context", int64Tensor(before(0)).bytes],
    ["jitter", new Uint8Array(4 * SHAPE.characters)],
  ]);
  return { program, inputs: program.model.inputs.map(({ name }) => given.get(name)!) };
}

describe("a text by weights that a job has trained", function () {
  this.timeout(240_000);
  const players = usePlayers("suite");

  /** An output of the last item of a job that a worker computes, once it is final. */
  async function delivered(program: KnownProgram, inputs: readonly Uint8Array[], items: number, output: string) {
    const worker = await players().startWorker(await players().workerKey(), program, honest);
    const { requester, jobId } = await players().post(program, inputs, { items });
    await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    const { history } = await followMarket(requester)();
    const number = program.model.outputs.findIndex(({ name }) => name === output);
    return Buffer.from(history.jobs.get(jobId)!.claims[0]!.delivered.get(number)!.slice(2), "hex");
  }

  it("isWrittenAsAnotherJob_andAWorkerThatWritesAnotherCharacterIsRefuted", async () => {
    const { program, parts, inputs } = trainingJob();
    const vector = await delivered(program, inputs, TRAINING_ITEMS, TRAINING.next(TRAINING.weights));
    const writing = writingJob(weightsByName(Uint8Array.from(vector), parts));
    const bytes = await delivered(writing.program, writing.inputs, WRITTEN, "context_next");
    const text = [...new BigInt64Array(Uint8Array.from(bytes).buffer)].map(Number);
    expect(text).to.deep.equal(before(WRITTEN));

    // Where it has read these characters, which is in one item, another one is the one of the highest score.
    const { model } = writing.program;
    const token = model.outputs.findIndex(({ name }) => name === "token");
    const { step } = model.program.checkpoints[model.program.outputs[token]!]!;
    const context = model.inputs.findIndex(({ name }) => name === "context");
    const read = int64Tensor(before(3)).bytes;
    const cheat: Execute = (given, tensors) => {
      const lies = Buffer.compare(tensors[context]!, read) === 0;
      return Promise.resolve(
        executeReference(given, tensors, { onStep: (s, tensor) => void (lies && s === step && (tensor[0]! ^= 1)) }),
      );
    };
    const claim = await refutedClaim(players(), { ...writing, items: WRITTEN }, cheat, honest);
    expect(claim.refuted).to.equal(true);
    expect(claim.games[0]!.proved).to.include({ step });
  });
});
