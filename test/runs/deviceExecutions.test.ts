import { expect } from "chai";
import { pino } from "pino";
import { deviceEvents, openDevice } from "../../src/cli/deviceSettings.ts";
import { Monitor } from "../../src/cli/monitor.ts";
import { Health } from "../../src/base/health.ts";
import { createExecutor, type ExecutionResult } from "../../src/executor/createExecutor.ts";
import { ExecutionDeviceError, ExecutionMemoryError } from "../../src/executor/errors.ts";
import type { Device } from "../../src/executor/gpu/chooseExecutor.ts";
import { answerRun } from "../../src/parties/tickets/answerRun.ts";
import { tensorTree } from "../../src/program/merkle/tensor.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { carriedTensors, type Carried } from "../../src/program/trace/runItems.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { DeviceExecutions } from "../../src/runs/deviceExecutions.ts";
import { onOneDevice, type Execute, type ExecuteBlock } from "../../src/runs/execute.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import { matMulStep, stepModel } from "../../testkit/programs/stepModel.ts";
import { Prng } from "../../testkit/random/prng.ts";

const [ROWS, INNER, COLUMNS] = [20, 8, 30];
const model = stepModel([matMulStep(ROWS, INNER, COLUMNS)]);
const prng = new Prng(1);
const floats = (count: number): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, () => prng.uint32() / 2 ** 31 - 1).buffer);
const inputs = [floats(ROWS * INNER), floats(INNER * COLUMNS)];
const NAME = "a GPU of tests";

describe("executions on a GPU", function () {
  this.timeout(60_000);
  const executors = new FastExecutors({ threads: 1 });
  let [onGpu, onCpu]: [number, number] = [0, 0];
  let stops: string[];
  let gpuSeconds: number[];
  let refusals: string[];
  let expected: Buffer;

  before(async () => {
    const [tensor] = await executors.execute(model, inputs);
    expected = Buffer.from(tensor!);
  });
  after(() => executors.close());

  beforeEach(() => {
    [onGpu, onCpu, stops, refusals, gpuSeconds] = [0, 0, [], [], []];
  });

  const cpu: Execute = (...asked) => {
    onCpu++;
    return executors.execute(...asked);
  };

  type Alter = (result: ExecutionResult, trees: Map<number, MerkleList> | undefined) => unknown;

  /**
   * A GPU that computes as the CPU does, but for an alteration of each result.
   * @param chains Whether it executes chains of items.
   */
  const gpuThat = (alter: Alter = () => undefined, chains = false): Device => ({
    products: "bytes",
    name: NAME,
    async createExecutor(of) {
      const executor = await createExecutor(of, { threads: 1 });
      const run: typeof executor.run = async (given, options) => {
        onGpu++;
        const result = await executor.run(given, options);
        alter(result, options?.trees);
        return result;
      };
      return {
        ...executor,
        run,
        async runChain(items, trees) {
          const done: { list: MerkleList | undefined; tensors: readonly Uint8Array[] }[] = [];
          let carried: Carried = new Map();
          for (const given of chains ? items : []) {
            const { tensors } = await run(given.map((bytes, input) => carried.get(input) ?? bytes));
            carried = carriedTensors(of.program, (step) => tensors[step]!);
            done.push({ list: trees && new Trace(of.program, tensors).list, tensors });
          }
          return { items: done, carried, isWrong: false };
        },
      };
    },
    fail: (finding) => new ExecutionDeviceError(`${NAME}: ${finding}`),
    close: () => undefined,
  });

  const executionsOn = (gpu: Device, share: number): DeviceExecutions =>
    new DeviceExecutions({
      ...{ gpu, cpu, share },
      onGpuSeconds: (seconds) => void gpuSeconds.push(seconds),
      onStop: ({ message }) => void stops.push(message),
      onRefusal: (_, reason) => void refusals.push(reason),
    });

  const flipBit = ({ tensors }: ExecutionResult): void => void (tensors[0]![402]! ^= 8);

  it("results_areThoseOfTheGpu_andAShareIsRepeatedOnTheCpu", async () => {
    for (const share of [0, 1]) {
      const executions = executionsOn(gpuThat(), share);
      const trees = new Map<number, MerkleList>();
      const [tensor] = await executions.execute(model, inputs, undefined, trees);
      expect(Buffer.compare(tensor!, expected)).to.equal(0);
      expect(trees.get(0)!.root).to.equal(tensorTree(expected).root);
      expect(executions.device).to.equal(NAME);
      await executions.close();
    }
    expect([onGpu, onCpu, stops]).to.deep.equal([2, 1, []]);
    // The CPU's repetition does not count.
    expect(gpuSeconds).to.have.length(2);
    for (const seconds of gpuSeconds) expect(seconds).to.be.greaterThan(0);
  });

  it("aShare_isDrawnAtRandom", async () => {
    const executions = executionsOn(gpuThat(), 0.5);
    for (let k = 0; k < 200; k++) await executions.execute(model, inputs);
    await executions.close();
    // Fewer than 40 or more than 160 of 200 are as likely as 10^-18.
    expect(onCpu).to.be.within(40, 160);
  });

  it("oneWrongBit_stopsTheGpuForGood_isNamed_andTheResultIsThatOfTheCpu", async () => {
    const executions = executionsOn(gpuThat(flipBit), 1);
    for (let k = 0; k < 2; k++) {
      const trees = new Map<number, MerkleList>();
      const [tensor] = await executions.execute(model, inputs, undefined, trees);
      expect(Buffer.compare(tensor!, expected)).to.equal(0);
      expect(trees.get(0)!.root).to.equal(tensorTree(expected).root);
    }
    expect(stops).to.deep.equal([`${NAME}: element 100 of step 0 (test) has other bits than on the CPU`]);
    expect([onGpu, onCpu, executions.device]).to.deep.equal([1, 2, "cpu"]);
    await executions.close();
  });

  it("aWrongNode_isFound_alsoUnderTheRightTensor", async () => {
    const gpu = gpuThat((_, trees) => trees?.set(0, tensorTree(new Uint8Array(expected.length))));
    const executions = executionsOn(gpu, 1);
    const trees = new Map<number, MerkleList>();
    await executions.execute(model, inputs, undefined, trees);
    expect(trees.get(0)!.root).to.equal(tensorTree(expected).root);
    expect(stops).to.deep.equal([`${NAME}: step 0 (test) is hashed to other nodes than on the CPU`]);
    await executions.close();
  });

  it("aLostGpu_losesNoJob_andItemsThatItComputedBefore_areComputedAgain", async () => {
    const gpu = gpuThat((result) => {
      if (onGpu === 3) throw new ExecutionDeviceError("the GPU was lost");
      flipBit(result);
    });
    const executions = executionsOn(gpu, 0);
    const run = new RunInputs(model.program.inputs, { items: 5, firstItem: 0 }, inputs);
    const { root } = await answerRun({ model }, run, executions.execute);
    expect(root).to.equal((await answerRun({ model }, run, cpu)).root);
    expect(stops).to.deep.equal(["the GPU was lost"]);
    expect(onGpu).to.equal(3);
    await executions.close();
  });

  it("carriedState_isThere_whereTheCpuRepeatsAnItem", async () => {
    const program = runProgram();
    const run = new RunInputs(program.model.program.inputs, { items: 6, firstItem: 0 }, runInputBytes(6));
    const executions = executionsOn(gpuThat(), 1);
    const { root } = await executeRun(program, run, executions.execute);
    expect(root).to.equal((await executeRun(program, run, cpu)).root);
    expect([onGpu, onCpu, stops]).to.deep.equal([6, 12, []]);
    await executions.close();
  });

  it("itemsInAChain_areRepeatedOnTheCpu_byTheirShare", async () => {
    const program = runProgram();
    const run = new RunInputs(program.model.program.inputs, { items: 6, firstItem: 0 }, runInputBytes(6));
    const { root } = await executeRun(program, run, executors.execute);
    for (const [share, repeated] of [
      [0, 0],
      [1, 6],
    ] as const) {
      [onGpu, onCpu] = [0, 0];
      const executions = executionsOn(gpuThat(undefined, true), share);
      expect((await executeRun(program, run, executions.execute)).root).to.equal(root);
      expect([onGpu, onCpu, stops]).to.deep.equal([6, repeated, []]);
      await executions.close();
    }
  });

  it("itemsInAChain_areDrawnOneByOne_andAChainEndsWithADrawnItem", async () => {
    const program = runProgram();
    const ITEMS = 40;
    const run = new RunInputs(program.model.program.inputs, { items: ITEMS, firstItem: 0 }, runInputBytes(ITEMS));
    const { root } = await executeRun(program, run, executors.execute);
    const executions = executionsOn(gpuThat(undefined, true), 0.5);
    const { block } = executions.execute;
    const lengths: number[] = [];
    const counted: ExecuteBlock = async (asked, order) => {
      const before = onCpu;
      const { length } = asked.items;
      const result = await block!(asked, order);
      if (onCpu === before) expect(result.items).to.have.length(length);
      else expect(onCpu).to.equal(before + 1);
      lengths.push(result.items.length);
      return result;
    };
    const execute = Object.assign(((...asked) => executions.execute(...asked)) as Execute, {
      block: counted,
      chains: true,
    });
    for (let k = 0; k < 5; k++) expect((await executeRun(program, run, execute)).root).to.equal(root);
    await executions.close();
    expect([onGpu, stops]).to.deep.equal([5 * ITEMS, []]);
    // Fewer than 40 or more than 160 of 200 are as likely as 10^-18.
    expect(onCpu).to.be.within(40, 160);
    expect(lengths.some((length) => length > 1)).to.equal(true);
  });

  it("aWrongBitInAChain_stopsTheGpuForGood_andTheResultIsThatOfTheCpu", async () => {
    const program = runProgram();
    const run = new RunInputs(program.model.program.inputs, { items: 6, firstItem: 0 }, runInputBytes(6));
    const { shared, last } = RUN_STEPS;
    for (const [item, step, execute] of [
      [4, shared, (how: Execute) => answerRun(program, run, how)],
      [6, last, (how: Execute) => answerRun(program, run, how)],
      [3, last, (how: Execute) => onOneDevice(how, () => executeRun(program, run, how))],
    ] as const) {
      [onGpu, stops] = [0, []];
      const alter: Alter = ({ tensors }) => onGpu === item && (tensors[step]![402]! ^= 8);
      const executions = executionsOn(gpuThat(alter, true), 1);
      expect((await execute(executions.execute)).root).to.equal((await execute(executors.execute)).root);
      expect(stops).to.have.length(1);
      expect(executions.device).to.equal("cpu");
      await executions.close();
    }
  });

  it("blocksOfItems_areForTheCpu_andOnlyOfProgramsThatTheGpuDoesNotTake", async () => {
    const other = stepModel([matMulStep(3, INNER, COLUMNS)]);
    let blocks = 0;
    const block: ExecuteBlock = () => {
      blocks++;
      return Promise.resolve({ items: [], carried: new Map(), isWrong: true });
    };
    const gpu = gpuThat();
    const executions = new DeviceExecutions({
      ...{ cpu: Object.assign(((...asked) => cpu(...asked)) as Execute, { block }), share: 0 },
      gpu: {
        ...gpu,
        createExecutor: (of) =>
          of === other ? Promise.reject(new ExecutionMemoryError("too large")) : gpu.createExecutor(of),
      },
      onGpuSeconds: () => undefined,
      onStop: () => undefined,
      onRefusal: () => undefined,
    });
    const asked = { items: [inputs], guessed: [] };
    expect(await executions.execute.block!({ model, ...asked })).to.deep.include({ items: [], isWrong: false });
    expect(blocks).to.equal(0);
    await executions.execute.block!({ model: other, ...asked });
    expect(blocks).to.equal(1);
    await executions.close();
  });

  it("aProgramThatIsTooLarge_isExecutedOnTheCpu_andOthersOnTheGpu", async () => {
    const other = stepModel([matMulStep(3, INNER, COLUMNS)]);
    const gpu = gpuThat();
    const executions = executionsOn(
      {
        ...gpu,
        createExecutor: (of) =>
          of === other ? Promise.reject(new ExecutionMemoryError("too large")) : gpu.createExecutor(of),
      },
      0,
    );
    for (let k = 0; k < 2; k++) {
      await executions.execute(other, [floats(3 * INNER), inputs[1]!]);
      await executions.execute(model, inputs);
    }
    expect([onGpu, onCpu, refusals, stops]).to.deep.equal([2, 2, ["too large"], []]);
    await executions.close();
  });

  it("aStop_isACondition_anEvent_andAMetric_thatNameTheGpu", async () => {
    const log = pino({ level: "silent" });
    const health = new Health(log);
    const monitor = new Monitor(health, 1_000);
    const choose = (): Promise<Device> => Promise.resolve(gpuThat(flipBit));
    const asked = { device: "gpu", cpuShare: 1 };
    const opened = await openDevice(asked, cpu, deviceEvents(asked, { health, monitor, log }), choose);
    const metrics = async (): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${await monitor.listen(0)}/metrics`);
      return answer.text();
    };
    const before = await metrics();
    await monitor.close();
    expect(before).to.contain(`refute_device{name="${NAME}"} 1`).and.to.contain('refute_condition{name="device"} 1');
    await opened.execute(model, inputs);
    const problem = health.problem("device")!;
    expect(problem.code).to.equal("EXECUTION_DEVICE");
    expect(problem.reason).to.match(/^the CPU computes: a GPU of tests: element 100 of step 0/);
    expect(health.reasons).to.deep.equal([]);
    const after = await metrics();
    await monitor.close();
    for (const line of [
      `refute_device{name="${NAME}"} 0`,
      'refute_device{name="cpu"} 1',
      'refute_condition{name="device"} 0',
      'refute_events_total{kind="gpuStopped"} 1',
    ])
      expect(after).to.contain(line);
    await opened.close();
  });
});
