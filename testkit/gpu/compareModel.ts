import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import type { Gpu } from "../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../src/executor/gpu/executor.ts";
import type { GpuExecutor } from "../../src/executor/gpu/gpuExecutor.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import { catalogued, type CatalogueModel } from "../models/catalogue.ts";
import { compileModel } from "../models/compileModel.ts";

/** Compares a catalogue model: see {@link compareEntry}. @returns the bytes on the GPU */
export const compareModel = async (name: string, gpu: Gpu): Promise<number> =>
  (await compareEntry(catalogued(name), gpu)).bytes;

type Facts = Pick<GpuExecutor, "bytes" | "products" | "unpacked">;

/**
 * Compares every tensor and every tree node for a model with the CPU's executor, also where tensors that nobody asks
 * for are not written. No step may be left to the CPU.
 */
export async function compareEntry(entry: CatalogueModel, gpu: Gpu): Promise<Facts> {
  const given = entry.inputs();
  const { model } = compileModel(entry, given);
  const inputs = model.inputs.map((input) => given.get(input.name)!.bytes);
  const own = await createGpuExecutor(model, gpu);
  const cpu = await createExecutor(model, { threads: 1 });
  expect(own.cpuSteps).to.deep.equal([]);
  const [expectedTrees, trees] = [new Map<number, MerkleList>(), new Map<number, MerkleList>()];
  const expected = await cpu.run(inputs, { trees: expectedTrees });
  const { tensors } = await own.run(inputs, { trees });
  const kept = model.program.checkpoints.at(-1)!.step;
  // Without such steps, the same tensors are written whatever is kept.
  const few = own.unpacked.length > 0 ? (await own.run(inputs, { keep: (step) => step === kept })).tensors : tensors;
  await Promise.all([cpu.close(), own.close()]);
  expect(Buffer.compare(few[kept]!, expected.tensors[kept]!)).to.equal(0);
  expected.tensors.forEach((tensor, s) =>
    expect(Buffer.compare(tensor, tensors[s]!), `step ${s}: ${model.origins[s]!.operator}`).to.equal(0),
  );
  expect([...trees.keys()]).to.deep.equal(model.program.checkpoints.map(({ step }) => step));
  for (const [step, tree] of expectedTrees) expect(trees.get(step)!.equals(tree)).to.equal(true);
  return own;
}
