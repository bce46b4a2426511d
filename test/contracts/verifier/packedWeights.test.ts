import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { constantBytes } from "../../../src/program/constants.ts";
import { Reduce, type TensorRef } from "../../../src/program/types.ts";
import { nBits, type Parts } from "../../../testkit/models/nBits.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";
import { deployVerifier, proveElement, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";

const ELEMENTS = 8;

describe("packed weights on chain", () => {
  let verifier: DeployedVerifier;

  before(async () => {
    verifier = await deployVerifier();
  });

  const cases: Record<string, Parts> = {
    fourBits: { bits: 4, block: 32, K: 256, N: 256, rows: 2, zeros: "packed" },
    twoBits: { bits: 2, block: 16, K: 256, N: 256, rows: 2, zeros: "none" },
    eightBitsInShortBlocks: { bits: 8, block: 128, K: 264, N: 256, rows: 2, zeros: "float" },
  };
  for (const [name, parts] of Object.entries(cases))
    it(`${name}_areComputedFromTheBytesOfTheModel`, async () => {
      const random = new Prng(7);
      const { experiment } = nBits(new RandomTensors(random), parts);
      const model = compile(readModel(modelOf(experiment)), { shapes: {} });
      const inputs = model.inputs.map((input) => experiment.operands[input.name]!.bytes);
      const executor = await createExecutor(model);
      const { tensors } = await executor.run(inputs);
      await executor.close();
      const bytesOf = (ref: TensorRef): Uint8Array =>
        ref.kind === "constant"
          ? constantBytes(model.constants, ref)
          : ref.kind === "input"
            ? inputs[ref.index]!
            : tensors[ref.index]!;
      const { steps } = model.program;
      const weights = steps.find(({ reduce, count }) => reduce === Reduce.none && count === parts.N * parts.K)!;
      expect(weights.inputs.some(({ kind, dtype }) => kind === "constant" && dtype === DType.uint8)).to.equal(true);
      for (const step of steps)
        for (let k = 0; k < ELEMENTS; k++) {
          const { value, proof } = proveElement(step, random.below(step.count), step.inputs.map(bytesOf));
          expect(await verifier.read.evaluate(proof), `step ${steps.indexOf(step)}`).to.equal(value);
        }
    });
});
