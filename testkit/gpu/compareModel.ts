import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import type { Gpu } from "../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../src/executor/gpu/executor.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import { catalogued } from "../models/catalogue.ts";
import { compileModel } from "../models/compileModel.ts";

/**
 * Compares every tensor and every tree node for a catalogue model with the CPU's executor. No step may be left to the
 * CPU.
 * @returns the bytes on the GPU
 */
export async function compareModel(name: string, gpu: Gpu): Promise<number> {
  const entry = catalogued(name);
  const given = entry.inputs();
  const { model } = compileModel(entry, given);
  const inputs = model.inputs.map((input) => given.get(input.name)!.bytes);
  const own = await createGpuExecutor(model, gpu);
  const cpu = await createExecutor(model, { threads: 1 });
  expect(own.cpuSteps).to.deep.equal([]);
  const [expectedTrees, trees] = [new Map<number, MerkleList>(), new Map<number, MerkleList>()];
  const expected = await cpu.run(inputs, { trees: expectedTrees });
  const { tensors } = await own.run(inputs, { trees });
  await Promise.all([cpu.close(), own.close()]);
  expected.tensors.forEach((tensor, s) =>
    expect(Buffer.compare(tensor, tensors[s]!), `step ${s}: ${model.origins[s]!.operator}`).to.equal(0),
  );
  expect([...trees.keys()]).to.deep.equal(model.program.checkpoints.map(({ step }) => step));
  for (const [step, tree] of expectedTrees) expect(trees.get(step)!.equals(tree)).to.equal(true);
  return own.bytes;
}
