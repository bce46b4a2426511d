import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";

/**
 * The tensor of each step by the reference executor. The fast one, with products handed to the engine that are small,
 * must give the same bits.
 */
export async function executeBoth(model: CompiledModel, inputs: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const reference = executeReference(model, inputs);
  const executor = await createExecutor(model, { threads: 1, minEngineWork: 2 ** 10 });
  const { tensors } = await executor.run(inputs);
  await executor.close();
  tensors.forEach((tensor, s) =>
    expect(Buffer.compare(tensor, reference[s]!), `step ${s}: ${model.origins[s]!.operator}`).to.equal(0),
  );
  return reference;
}
