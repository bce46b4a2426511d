import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { DECODER, wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import type { Gpu } from "../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../src/executor/gpu/executor.ts";
import type { GpuExecutor } from "../../src/executor/gpu/gpuExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { DeviceExecutions } from "../../src/runs/deviceExecutions.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { softwareGpu } from "../../testkit/gpu/softwareGpu.ts";
import { LLAMA_TINY, llama } from "../../testkit/models/llama.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const [ITEMS, SLOTS, LIE] = [7, 8, 4];

describe("a text written on a GPU, as a job", function () {
  this.timeout(600_000);
  const { model: wrapped, run } = wrapDecoder(readModel(llama({ ...LLAMA_TINY, layers: 1 })), {
    ...{ slots: SLOTS, greedy: true },
  });
  const program = knownProgram(compile(wrapped, { shapes: {}, run }));
  const { model } = program;
  const inputs = decoderInputs(model, { prompt: [5, 9] });
  const { checkpoints, outputs } = model.program;
  const tokens = checkpoints[outputs[0]!]!.step;
  const players = usePlayers("test");
  const watching = new FastExecutors({ threads: 1 });
  let gpu: Gpu;
  let executor: GpuExecutor;
  before(async function () {
    gpu = await softwareGpu(this);
    executor = await createGpuExecutor(model, gpu, { chainMs: Infinity });
  });
  after(async () => {
    await executor?.close();
    await watching.close();
  });

  const onGpu = (): DeviceExecutions =>
    new DeviceExecutions({
      cpu: () => Promise.reject(new Error("the CPU is not asked")),
      gpu: {
        ...{ name: gpu.facts.name, products: "bytes" },
        createExecutor: () => Promise.resolve(executor),
        fail: (finding) => gpu.fail(finding),
        close: () => undefined,
      },
      share: 0,
      onGpuSeconds: () => undefined,
      onStop: ({ message }) => expect.fail(message),
      onRefusal: (_, reason) => expect.fail(reason),
    });

  it("hasTheRootThatAWatcherOnTheCpuFinds_andIsWrittenInAChain", async () => {
    const length = new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, inputs);
    const turns = executor.readings.turns;
    const { runRoot } = await executeRun(program, length, onGpu().execute);
    // All items but the last in a chain: a turn for all, one for the changed chunks of the last.
    expect(executor.readings.turns - turns).to.be.at.most(4);
    expect(runRoot).to.equal((await executeRun(program, length, watching.execute)).runRoot);
  });

  it("withALieAboutOneToken_isRefutedByTheProofOfAWatcherOnTheCpu", async () => {
    const index = model.inputs.findIndex(({ name }) => name === DECODER.index);
    // The GPU goes on with the wrong token, as one with a fault does.
    const lying: Execute = async (_, given, keep, trees) => {
      const onStep = (step: number, tensor: Uint8Array): void => void (step === tokens && (tensor[8 * LIE]! ^= 1));
      const isLie = given[index]![0] === LIE;
      const taken = given.map((bytes) => Uint8Array.from(bytes));
      const options = { ...(keep && { keep }), ...(trees && { trees }), ...(isLie && { onStep }) };
      return (await executor.run(taken, options)).tensors;
    };
    const job = { program, inputs, items: ITEMS };
    const { refuted, games } = await refutedClaim(players(), job, lying, watching.execute);
    expect(refuted).to.equal(true);
    expect(games[0]!.proved).to.include({ step: tokens });
    expect(games[0]!.moves.at(-1)!.state.item).to.equal(LIE);
  });
});
