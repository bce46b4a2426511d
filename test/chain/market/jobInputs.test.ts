import { expect } from "chai";
import type { Hex } from "viem";
import { hasInputs, inputsOf } from "../../../src/chain/market/jobInputs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { publishedRun } from "../../../testkit/programs/publishedRun.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

const program = runProgram();
const ITEMS = 5;
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));

describe("inputs of a job, as they were published", () => {
  it("areThoseOfTheJob_howeverOftenTheyAreLookedAt", () => {
    const job = publishedRun(program, inputs);
    for (let k = 0; k < 3; k++) {
      expect(hasInputs(job)).to.equal(true);
      const read = inputsOf(job)!;
      expect(read.roots).to.deep.equal(inputs.roots);
      for (const k of [0, 1, 2]) expect(read.tensors(k).map(toHex)).to.deep.equal(inputs.tensors(k).map(toHex));
      expect(read.path(1, 3)).to.deep.equal(inputs.path(1, 3));
    }
  });

  it("areLookedAtAgain_whenAPartComes_goesOrIsAnotherOne", () => {
    const job = publishedRun(program, inputs);
    const part = job.parts.get(2)!.get(0)!;
    const changes: [change: () => void, isWhole: boolean][] = [
      [() => undefined, true],
      [() => job.parts.delete(2), false],
      [() => job.parts.set(2, new Map([[0, part]])), true],
      [() => job.parts.get(2)!.set(0, `${part.slice(0, -2)}${part.endsWith("00") ? "01" : "00"}` as Hex), false],
      [() => job.parts.get(2)!.set(0, part), true],
    ];
    for (const [change, isWhole] of changes) {
      change();
      expect([hasInputs(job), inputsOf(job) !== undefined]).to.deep.equal([isWhole, isWhole]);
    }
  });

  it("ofAnotherJobWithTheSameParts_areLookedAtAgain", () => {
    const job = publishedRun(program, inputs);
    expect(hasInputs(job)).to.equal(true);
    for (const change of [
      { inputRoots: job.inputRoots.toReversed() },
      { job: { ...job.job, items: ITEMS - 1 } },
      { job: { ...job.job, inputsRoot: job.inputRoots[0]! } },
    ])
      expect(hasInputs({ ...job, ...change })).to.equal(false);
    expect(hasInputs(job)).to.equal(true);
  });
});
