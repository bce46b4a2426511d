import { expect } from "chai";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { SHARED_EXAMPLES, type SharedExample } from "../../testkit/training/sharedExamples.ts";
import { train } from "../../testkit/training/trainer.ts";
import { playTraining } from "../../testkit/training/trainingStory.ts";

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
