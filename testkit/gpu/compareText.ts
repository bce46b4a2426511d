import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { chosenToken, decoderInputs, type Generation } from "../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import type { Gpu } from "../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../src/executor/gpu/executor.ts";
import { SuccessiveTrees } from "../../src/executor/successiveTrees.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { carriedTensors, type Carried } from "../../src/program/trace/runItems.ts";
import { Trace } from "../../src/program/trace/trace.ts";

/** Items of a text: the prompt's, and more. */
const [PROMPT, ITEMS] = [[5, 9], 4];

/** A text on the CPU: the inputs of each item, the trace's root, and the output. */
type Item = { inputs: readonly Uint8Array[]; tensors: readonly Uint8Array[]; root: string; output: Uint8Array };

async function textOnCpu(model: CompiledModel, given: Generation): Promise<{ items: Item[]; carried: Carried }> {
  const { program } = model;
  const run = new RunInputs(program.inputs, { items: ITEMS, firstItem: 0 }, decoderInputs(model, given));
  const cpu = await createExecutor(model, { threads: 1 });
  const items: Item[] = [];
  let carried: Carried = new Map();
  for (let k = 0; k < ITEMS; k++) {
    const inputs = run.of(k, carried);
    const { tensors } = await cpu.run(inputs);
    carried = carriedTensors(program, (step) => tensors[step]!);
    const output = tensors[program.checkpoints[program.outputs[0]!]!.step]!;
    items.push({ inputs, tensors, root: new Trace(program, tensors).root, output });
  }
  await cpu.close();
  return { items, carried };
}

/**
 * What a text on a GPU took: bytes and turns of reading, for the items one by one and for all in a chain; and how many
 * steps unpack weights.
 */
type Taken = { single: number; chain: number; turns: number; unpacked: number };

/**
 * Compares a decoder's text with the CPU's: each tensor of each item, the roots of items that follow each other, and
 * those of a chain, whose state stays on the GPU. No step may be left to the CPU.
 * @param bytes The model's file.
 * @param drawing How tokens are drawn; by default, the program takes the most probable token.
 */
export async function compareText(bytes: Uint8Array, gpu: Gpu, drawing?: Omit<Generation, "prompt">): Promise<Taken> {
  const options = { slots: ITEMS + 1, ...(drawing === undefined && { greedy: true as const }) };
  const { model: wrapped, run } = wrapDecoder(readModel(bytes), options);
  const model = compile(wrapped, { shapes: {}, run });
  const { program, origins } = model;
  const expected = await textOnCpu(model, { prompt: PROMPT, ...drawing });
  // Lanes share even short reductions.
  const own = await createGpuExecutor(model, gpu, { chainMs: Infinity, kernels: { leastShared: 16 } });
  expect(own.cpuSteps).to.deep.equal([]);

  const { inputs, tensors } = expected.items.at(-1)!;
  const whole = await own.run(inputs);
  for (const [s, tensor] of tensors.entries())
    expect(Buffer.compare(tensor, whole.tensors[s]!), `step ${s}: ${origins[s]!.operator}`).to.equal(0);

  let before = own.readings.bytes;
  const trees = new SuccessiveTrees();
  for (const { inputs, root } of expected.items) {
    const { tensors } = await own.run(inputs, { keep: () => false, trees });
    expect(new Trace(program, tensors, trees).root).to.equal(root);
  }
  const single = own.readings.bytes - before;

  const given = expected.items.map((item) => item.inputs);
  // Of later items the carried tensors are not read: any bytes stand there.
  const blank = given.map((inputs, k) =>
    inputs.map((tensor, i) =>
      k > 0 && program.inputs[i]!.source?.kind === "carried" ? new Uint8Array(tensor.length).fill(7) : tensor,
    ),
  );
  const { turns } = own.readings;
  before = own.readings.bytes;
  const chain = await own.runChain(blank, new SuccessiveTrees());
  const read = { single, chain: own.readings.bytes - before, turns: own.readings.turns - turns };
  // Without trees, and then behind items that were executed before.
  const plain = await own.runChain(blank);
  const tail = [given[2]!, ...blank.slice(3)];
  for (const { inputs } of expected.items.slice(0, 2)) await own.run(inputs, { keep: () => false, trees });
  const behind = await own.runChain(tail, trees);
  await own.close();
  for (const [from, { items, carried }] of [
    [0, chain],
    [0, plain],
    [2, behind],
  ] as const) {
    expect(items).to.have.length(ITEMS - from);
    for (const [k, item] of items.entries()) {
      const { root, output } = expected.items[from + k]!;
      expect(Buffer.compare(item.tensors[program.checkpoints[program.outputs[0]!]!.step]!, output)).to.equal(0);
      if (item.list !== undefined) expect(item.list.root).to.equal(root);
    }
    for (const [input, tensor] of expected.carried)
      expect(Buffer.compare(carried.get(input)!, tensor), `input ${input}`).to.equal(0);
  }
  expect(chosenToken(expected.items[0]!.output, 0)).to.equal(PROMPT[1]);
  return { ...read, unpacked: own.unpacked.length };
}
