import { expect } from "chai";
import { numberToHex, type Hex } from "viem";
import { ExecutionDeviceError } from "../../src/executor/errors.ts";
import type { ExecutionResult } from "../../src/executor/createExecutor.ts";
import type { Device } from "../../src/executor/gpu/chooseExecutor.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { ClaimRecord, JobRecord } from "../../src/chain/market/history.ts";
import { DeviceExecutions } from "../../src/runs/deviceExecutions.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { Executions } from "../../src/runs/executions.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import { runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { executionOf, type RunLie } from "../../testkit/programs/runsOf.ts";
import { Auditor } from "../../watcher/auditor.ts";

const ITEMS = 3;
const LIE: RunLie = { item: 1, step: 2, element: 40 };
const program = runProgram();
const inputs = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));

const job = {
  id: numberToHex(1),
  job: { programRoot: program.model.programRoot, inputsRoot: inputs.list.root, items: ITEMS, firstItem: 0, answers: 0 },
  program: { header: toHex(program.commitment.header) },
  inputRoots: inputs.roots,
  parts: new Map([0, 1, 2].map((k) => [k, new Map([[0, toHex(Buffer.concat(inputs.tensors(k)))]])])),
  claims: [],
} as unknown as JobRecord;

/** The claim of a worker who executes in this way. */
async function claimOf(execute: Execute): Promise<ClaimRecord> {
  const run = await executeRun(program, inputs, execute);
  const nodes: Hex = submissionOf(run.claimed, 4, run.form);
  return { id: numberToHex(7), claim: { root: run.root }, nodes } as unknown as ClaimRecord;
}

/** A watcher's judge on a GPU that no random share of executions is checked for. */
function judgeOn(gpuExecution: Execute): {
  auditor: Auditor;
  onCpu: () => number;
  stops: string[];
  device: () => string;
} {
  const stops: string[] = [];
  let count = 0;
  const gpu: Device = {
    products: "bytes",
    name: "a GPU of tests",
    createExecutor: (model) =>
      Promise.resolve({
        runChain: () => Promise.resolve({ items: [], carried: new Map(), isWrong: false }),
        run: async (given) => ({ tensors: await gpuExecution(model, given) }) as ExecutionResult,
        close: () => Promise.resolve(),
        bytes: 0,
      }),
    fail: (finding) => new ExecutionDeviceError(finding),
    close: () => undefined,
  };
  const cpu: Execute = (...asked) => {
    count++;
    return executionOf()(...asked);
  };
  const executions = new DeviceExecutions({
    ...{ gpu, cpu, share: 0 },
    onGpuSeconds: () => undefined,
    onStop: ({ message }) => void stops.push(message),
    onRefusal: () => undefined,
  });
  const auditor = new Auditor(new Executions(ProgramLibrary.of([program]), executions.execute), 4);
  return { auditor, onCpu: () => count, stops, device: () => executions.device };
}

describe("a watcher whose GPU differs from a claim", () => {
  it("cpuRepeatsTheJob_anErrorOfTheGpuOpensNoGame_andStopsTheGpu", async () => {
    const { auditor, stops, device } = judgeOn(executionOf(LIE));
    const verdict = await auditor.judge(job, await claimOf(executionOf()), 0);
    expect(verdict.kind).to.equal("agrees");
    expect(stops).to.have.length(1);
    expect(stops[0]).to.match(/^element 40 of step 2 \(.*\) has other bits than on the CPU$/);
    expect(device()).to.equal("cpu");
  });

  it("wrongClaim_isCalledWrong_onceTheCpuHasRepeatedEachItem", async () => {
    const { auditor, onCpu, stops } = judgeOn(executionOf());
    const verdict = await auditor.judge(job, await claimOf(executionOf(LIE)), 0);
    expect(verdict.kind).to.equal("differs");
    expect([onCpu(), stops]).to.deep.equal([ITEMS, []]);
  });

  it("rightClaim_costsTheCpuNothing", async () => {
    const { auditor, onCpu } = judgeOn(executionOf());
    expect((await auditor.judge(job, await claimOf(executionOf()), 0)).kind).to.equal("agrees");
    expect(onCpu()).to.equal(0);
  });
});
