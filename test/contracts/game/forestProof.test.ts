import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { estimateStepProofGas } from "../../../src/program/gas.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { forestOf } from "../../../testkit/operators/mlCases.ts";
import { lyingTrace, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { submitted } from "../../../testkit/protocol/world.ts";

describe("a lie about a forest", function () {
  this.timeout(120_000);
  const world = useWorld();

  it("ofAHundredTreesOfDepth8_isProvedInATransactionBelow2MGas", async () => {
    const experiment = forestOf(100, 8, 4, 3, 1);
    const model = compile(readModel(modelOf(experiment)), { shapes: {} });
    const { program } = model;
    const input = experiment.operands["x0"]!.bytes;
    const subject: GameProgram = {
      ...{ model, program, input },
      commitment: commitProgram(program),
      inputsList: MerkleList.fromHashes([tensorRoot(input)]),
    };
    const estimates = program.steps.map(estimateStepProofGas);
    const step = estimates.indexOf(Math.max(...estimates));
    const checkpoint = program.checkpoints.findIndex(({ first, step: last }) => first <= step && step <= last);
    const trace = lyingTrace(subject, step, 0);
    const game = new GameDriver(world(), subject, trace, await submitted(world(), subject, trace));
    await game.descend(checkpoint, step, 0);
    await game.prove(0);
    const { move, gas } = game.gas.at(-1)!;
    if (process.env.REFUTE_SHOW) console.log(step, Number(gas), estimates[step], game.gas.length);
    expect(move).to.equal("prove");
    expect(Number(gas)).to.be.below(estimates[step]!);
    expect(estimates[step]).to.be.below(2_000_000);
  });
});
