import { expect } from "chai";
import { compileProgress, duration, StatusLine, stepProgress } from "../../src/cli/progress.ts";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";

describe("stepProgress", () => {
  /** Calls progress for each of `times` (milliseconds), evenly; what was written. */
  function written(isTTY: boolean, times: readonly number[]): string[] {
    const lines: string[] = [];
    let time = 0;
    const progress = stepProgress("step", new StatusLine({ isTTY, write: (text) => lines.push(text) }), () => time);
    times.forEach((at, k) => {
      time = at;
      progress(k + 1, times.length);
    });
    return lines;
  }

  it("quickCommand_saysNothing", () => {
    expect(written(true, [500, 1_000, 1_500, 1_900])).to.deep.equal([]);
  });

  it("onATerminal_showsAnEstimate_andClearsTheLine", () => {
    expect(written(true, [1_000, 2_000, 2_100, 4_000])).to.deep.equal([
      "\rstep 2 of 4, 50 %, about 2 s left\x1b[K",
      "\r\x1b[K",
    ]);
  });

  it("intoAFile_writesFewLines", () => {
    expect(written(false, [3_000, 6_000, 9_000, 14_000, 15_000])).to.deep.equal([
      "step 1 of 5, 20 %, about 12 s left\n",
      "step 4 of 5, 80 %, about 4 s left\n",
    ]);
  });

  it("compilation_movesThroughNodes_thenThroughTheProofsOfTheirSteps", () => {
    let time = 0;
    const lines: string[] = [];
    const line = new StatusLine({ isTTY: true, write: (text) => lines.push(text) });
    const progress = compileProgress(stepProgress("compiling node", line, () => (time += 2_500)));
    compile(readModel(mlpBytes()), { shapes: {}, progress });
    const said = lines.map((text) => text.slice(1, -3));
    expect(said[0]).to.match(/^compiling node 0 of 6, 0 %/);
    const proofs = said.filter((text) => text.includes("proof"));
    expect(proofs).to.have.length.greaterThan(2);
    expect(proofs.at(-1)).to.match(/^compiling node (\d+) of \1: all done, proof (\d+) of \2 steps$/);
  });

  it("duration_isForPeople", () => {
    expect([0, 1_001, 89_000, 600_000].map(duration)).to.deep.equal(["0 s", "2 s", "89 s", "10 min"]);
  });
});
