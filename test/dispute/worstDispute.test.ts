import { readFileSync } from "node:fs";
import { expect } from "chai";
import { disputeMoves, MOVE_GAS } from "../../src/dispute/moveGas.ts";
import { disputeCost, worstDispute } from "../../src/dispute/worstDispute.ts";
import { estimateStepProofGas } from "../../src/program/gas.ts";
import { mlpProgram } from "../../testkit/models/mlp.ts";
import { chainProgram } from "../../testkit/protocol/chainProgram.ts";

const ARITY_BITS = 4;

describe("worstDispute", () => {
  it("moveGas_isTheScheduleOfTheContract", () => {
    const source = readFileSync("contracts/game/GasSchedule.sol", "utf8");
    for (const [name, gas] of Object.entries(MOVE_GAS)) {
      const constant = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
      expect(source.replaceAll("_", "")).to.contain(`constant ${constant.replaceAll("_", "")} = ${gas};`);
    }
  });

  it("fullLists_takeTheMovesThatAGameOnChainTakes", () => {
    // 16 checkpoints, 16 steps, 16 chunks, as in test/contracts/game/gasSchedule.test.ts.
    const { program } = chainProgram(2_048, [...new Array<number>(15).fill(1), 16]).model;
    const { moves } = disputeCost(program, 15, 20, ARITY_BITS);
    expect(moves.join(" ")).to.equal("open expand pick reveal pick chunk prove");
  });

  it("emptyLevels_areSkipped", () => {
    const { program } = chainProgram(16, [1]).model;
    expect(disputeCost(program, 0, 0, ARITY_BITS).moves).to.deep.equal(["open", "chunk", "prove"]);
  });

  it("publishedTrace_needsNoReveals", () => {
    const shape = { checkpoints: 300, steps: 2_000, range: 16, tensorBytes: 2 ** 22, proofGas: 1, headerBytes: 48 };
    const played = disputeMoves({ ...shape, arityBits: ARITY_BITS, published: true });
    expect(played.moves).to.deep.equal(["open", "expand", "prove"]);
  });

  it("worst_isNoCheaperThanAnyOther", () => {
    const { program } = mlpProgram().model;
    const worst = worstDispute(program, ARITY_BITS);
    program.checkpoints.forEach(({ first, step: last }, j) => {
      for (let step = first; step <= last; step++)
        expect(disputeCost(program, j, step, ARITY_BITS).gas).to.be.at.most(worst.gas);
    });
    expect(worst.gas).to.be.above(estimateStepProofGas(program.steps[worst.step]!));
  });
});
