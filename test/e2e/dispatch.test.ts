import { expect } from "chai";
import { parseEther } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { faultsOf, playDispatch, type DispatchStory } from "../../testkit/dispatch/story.ts";
import { mlpBytes, mlpInput } from "../../testkit/models/mlp.ts";
import { reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { itAtLength } from "../../testkit/atLength.ts";

const program = knownProgram(compile(readModel(mlpBytes()), { shapes: {}, run: { batch: true } }));
const inputs = Array.from({ length: 40 }, (_, item) => mlpInput(item + 1));

const STORY: DispatchStory = {
  ...{ program, model: mlpBytes(), modelFlags: [], inputs, partItems: 4, openJobs: 6, fee: parseEther("0.02") },
  ...{ check: 0.3, honest: reference(), lying: reference({ step: 0, element: 150 }) },
  kills: { post: 2, expire: 1 },
  limitMs: 900_000,
  intervalMs: 30,
};

describe("refute job dispatch: a batch over several workers", function () {
  this.timeout(STORY.limitMs);
  const players = usePlayers("test");

  itAtLength(
    "aLiarASlowOneAndADeadOneAmongFour_andKillsOfTheDispatcher_leaveAllOutputsRightInOrderPaidOnce",
    async () => {
      const result = await playDispatch(players(), STORY);
      const right = inputs.map((input) => executeReference(program.model, [input]).at(-1)!);
      expect(faultsOf(result, STORY, Buffer.concat(right))).to.deep.equal([]);
      const claims = [...result.history.claims.values()];
      expect(claims.some(({ refuted }) => refuted)).to.equal(true);
      expect(result.lives).to.equal(4);
      expect(result.answer.parts.every(({ source }) => source === "worker")).to.equal(true);
    },
  );
});
