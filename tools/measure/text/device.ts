/** A text on a GPU: the time for writing, committing and checking, and the bytes read from the GPU. */
import { decoderInputs } from "../../../src/compiler/wraps/decoderInputs.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { openGpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor, kindsOf } from "../../../src/executor/gpu/executor.ts";
import { answerRun } from "../../../src/parties/tickets/answerRun.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { answerGuess, withGuess } from "../../../src/runs/blocks.ts";
import { DeviceExecutions } from "../../../src/runs/deviceExecutions.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { executeRun } from "../../../src/runs/executeRun.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";

type Text = { prompt: readonly number[]; items: number };

const MIB = 2 ** 20;

/**
 * Writes a text on a GPU: for its tokens alone, committed in chains of items, and committed item by item. The same text
 * is then checked by a watcher on the CPU and by one on the GPU.
 * @param name `gpu`, or a part of the GPU's name.
 */
export async function textOnGpu(
  name: string,
  model: CompiledModel,
  { prompt, items }: Text,
  say: (text: string) => void,
): Promise<void> {
  const gpu = await openGpu(name === "gpu" ? undefined : name);
  say(`${gpu.facts.name}${gpu.facts.isSoftware ? ", a program of the processor: no speed of a GPU" : ""}`);
  let began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  const executor = await createGpuExecutor(model, gpu, {
    products: { kind: kindsOf(gpu)[0]! },
    // A software driver is too slow for chains of several items within the usual time.
    ...(gpu.facts.isSoftware && { chainMs: Infinity }),
  });
  say(
    `prepared in ${seconds().toFixed(1)} s: ${Math.round(executor.bytes / MIB)} MiB on the GPU, ` +
      `${executor.cpuSteps.length} of ${model.program.steps.length} steps left to the CPU`,
  );
  const cpu = new FastExecutors({ threads: 1 });
  const executions = new DeviceExecutions({
    cpu: cpu.execute,
    gpu: {
      ...{ name: gpu.facts.name, products: kindsOf(gpu)[0]! },
      createExecutor: () => Promise.resolve({ ...executor, close: () => Promise.resolve() }),
      fail: (finding) => gpu.fail(finding),
      close: () => undefined,
    },
    share: 0,
    onGpuSeconds: () => undefined,
    onStop: ({ message }) => say(`the GPU is stopped: ${message}`),
    onRefusal: (_, reason) => say(reason),
  });
  const inputs = new RunInputs(model.program.inputs, { items, firstItem: 0 }, decoderInputs(model, { prompt }));
  const program = knownProgram(model);
  const claim = async (execute: Execute): Promise<string> => (await executeRun(program, inputs, execute)).runRoot;

  const answer = await measured("written", () => answerRun({ model }, inputs, executions.execute));
  const guess = answerGuess(model, inputs, answer.outputs);
  const roots = [
    await measured("written and committed", () => claim(executions.execute)),
    await measured("the same item by item", () => claim((...asked) => executions.execute(...asked))),
    await measured("checked on the GPU", () => claim(withGuess(executions.execute, guess))),
    await measured("checked on the CPU, one thread", () => claim(withGuess(cpu.execute, guess))),
  ];
  say(new Set(roots).size === 1 ? "all roots are the same" : "OTHER ROOTS");
  say(`the most memory of this process: ${Math.round(process.resourceUsage().maxRSS / 1_024)} MiB`);
  await Promise.all([executor.close(), cpu.close()]);
  gpu.close();

  async function measured<T>(what: string, action: () => Promise<T>): Promise<T> {
    const before = { ...executor.readings };
    began = performance.now();
    const result = await action();
    const took = seconds();
    const [turns, bytes] = [executor.readings.turns - before.turns, executor.readings.bytes - before.bytes];
    const read = turns === 0 ? "" : `; read ${each(turns)} times, ${Math.round(bytes / items)} bytes a token`;
    say(`${what}: ${took.toFixed(2)} s, ${(items / took).toFixed(2)} tokens a second${read}`);
    return result;
  }

  function each(turns: number): string {
    return (turns / items).toFixed(2);
  }
}
