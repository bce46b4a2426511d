import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { numberToHex } from "viem";
import { toHex } from "../../src/program/merkle/hash.ts";
import type { ClaimRecord, JobRecord } from "../../src/chain/market/history.ts";
import { Executions } from "../../src/runs/executions.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { executionOf } from "../../testkit/programs/runsOf.ts";
import { Auditor } from "../../watcher/auditor.ts";
import type { Execute } from "../../src/runs/execute.ts";

const program = runProgram();

function jobOf(items: number): JobRecord {
  const inputs = new RunInputs(program.model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));
  return {
    id: numberToHex(items),
    job: { programRoot: program.model.programRoot, inputsRoot: inputs.list.root, items, firstItem: 0, answers: 0 },
    program: { header: toHex(program.commitment.header) },
    inputRoots: inputs.roots,
    parts: new Map([0, 1, 2].map((k) => [k, new Map([[0, toHex(Buffer.concat(inputs.tensors(k)))]])])),
    claims: [],
  } as unknown as JobRecord;
}

describe("how long a watcher expects a run to take", () => {
  it("longRun_doesNotMakeAShortJobOfItsProgramLookLate_norTheReverse", async () => {
    const slow: Execute = async (...args) => {
      await sleep(2);
      return executionOf()(...args);
    };
    const auditor = new Auditor(new Executions(ProgramLibrary.of([program]), slow), 4);
    const claimed = { root: numberToHex(1, { size: 32 }) };
    const claim = { id: numberToHex(7), claim: claimed, nodes: "0x" } as unknown as ClaimRecord;
    for (const items of [16, 1]) {
      const nodes = toHex(new Uint8Array(32 * (items === 1 ? 2 : 16)));
      await auditor.judge(jobOf(items), { ...claim, id: numberToHex(items), nodes }, 0);
      const [one, many] = [jobOf(1), jobOf(48)].map((job) => auditor.secondsFor(job)) as [number, number];
      expect(one).to.be.above(0);
      expect(many).to.be.closeTo(48 * one, 1e-9);
    }
  });
});
