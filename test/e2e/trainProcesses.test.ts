import { expect } from "chai";
import type { SumForm } from "../../src/compiler/passes/shares/sumSteps.ts";
import { TRAINING, weightsByName } from "../../src/compiler/wraps/wrapTraining.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { replaceInitializers } from "../../src/model/onnx/replaceInitializers.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { SHARED_BATCH, SHARED_EXAMPLES, type SharedExample } from "../../testkit/training/sharedExamples.ts";
import { SharedTraining, type ExecuteProgram } from "../../testkit/training/shares.ts";
import { floats, prepareTraining, train, type Training } from "../../testkit/training/trainer.ts";
import { playTraining } from "../../testkit/training/trainingStory.ts";

/** Trains over shares in this process. @returns the model's file */
async function trainedOverShares(made: Training, shares: number, sums: SumForm): Promise<Uint8Array> {
  const { onnx, spec, rates, batch } = made;
  const training = new SharedTraining(readModel(onnx), { ...spec, rates: rates.length });
  const execute: ExecuteProgram = async (compiled, inputs) => {
    const executor = await createExecutor(compiled, { threads: 1 });
    const tensors = (await executor.run(inputs)).tensors.map((tensor) => tensor.slice());
    await executor.close();
    return tensors;
  };
  const feedback: ReadonlyMap<string, Uint8Array>[] = [];
  let state = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
  for (const step of rates.keys()) {
    const given = new Map([...state, ...Object.entries(batch(step)), [TRAINING.rates, floats(rates)]]);
    given.set(TRAINING.index, int64Tensor([step]).bytes);
    const cut = new Array<number>(shares).fill(SHARED_BATCH / shares);
    const next = await training.cut(given, cut, execute, { sums, feedback });
    state = new Map([...state.keys()].map((name) => [name, next.get(TRAINING.next(name))!]));
  }
  const { parts } = prepareTraining(made);
  return replaceInitializers(onnx, weightsByName(state.get(TRAINING.weights)!, parts));
}

describe("training over workers that are processes", function () {
  this.timeout(3_600_000);
  const players = usePlayers("test");

  /** Trains over so many workers. @returns whether the model is that of one machine */
  const isSame = async (name: SharedExample, workers: number, steps: number): Promise<boolean> => {
    const training = SHARED_EXAMPLES[name](steps);
    const { trained, seconds, steps: printed } = await playTraining(players(), { training, workers });
    const { gas, bytes } = printed.at(-1)!;
    console.log(`      ${seconds.toFixed(0)} s, of the last step ${gas} gas and ${bytes} bytes of sums`);
    return Buffer.from((await train(training)).model).equals(trained);
  };

  itInTime("theDigits_overTwoWorkers_giveTheModelOfOneMachine", async () => {
    expect(await isSame("perceptron", 2, 1)).to.equal(true);
  });

  for (const [name, workers] of [
    ["perceptron", 1],
    ["perceptron", 8],
    ["convolutions", 4],
    ["transformer", 2],
  ] as const)
    itAtLength(`${name}_over${workers}Workers_givesTheModelOfOneMachine`, async () => {
      expect(await isSame(name, workers, 2)).to.equal(true);
    });

  itAtLength("fixedSums_overTwoAndFourWorkers_giveTheSameModel", async () => {
    const trained: string[] = [];
    for (const workers of [2, 4]) {
      const played = await playTraining(players(), {
        training: SHARED_EXAMPLES.convolutions(2),
        workers,
        sums: "fixed",
      });
      trained.push(Buffer.from(played.trained).toString("base64"));
    }
    expect(trained[0]).to.equal(trained[1]);
  });

  itAtLength("signsWithFeedback_overTwoWorkers_giveTheModelOfTheSameProgramsInOneProcess", async () => {
    const training = SHARED_EXAMPLES.perceptron(2);
    const { trained } = await playTraining(players(), { training, workers: 2, sums: "signs" });
    expect(Buffer.from(await trainedOverShares(training, 2, "signs")).equals(trained)).to.equal(true);
  });

  itAtLength("aKilledWorker_aLiarInStep17_andACopier_leaveTheModelOfOneMachine", async () => {
    const training = SHARED_EXAMPLES.convolutions(17);
    const crooks = { lying: 16, copying: 8 };
    const played = await playTraining(players(), { training, workers: 4, killed: 3, crooks });
    console.log(`      ${played.seconds.toFixed(0)} s`);
    expect(Buffer.from((await train(training)).model).equals(played.trained)).to.equal(true);
    expect(played.refuted).to.deep.equal({ lying: 1, copying: 1, honest: 0 });
    const { lives, late, isLieFinal } = played;
    expect({ lives, late, isLieFinal }).to.deep.equal({ lives: 2, late: 1, isLieFinal: false });
  });
});
