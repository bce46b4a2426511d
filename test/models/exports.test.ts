import { expect } from "chai";
import { compare } from "../../src/examine/compare/compare.ts";
import { shapesOf } from "../../src/model/onnx/inputs/readInputFile.ts";
import { compile } from "../../src/compiler/compile.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { EXPORTS } from "../../testkit/models/exports/all.ts";

/** Untrained networks, but the graphs that export tools make of trained ones. */
describe("models as export tools write them", function () {
  this.timeout(60_000);
  for (const make of EXPORTS)
    it(`${make.name}_isExecutedAsOnnxruntimeDoes`, async () => {
      const { bytes, inputs, atol } = make();
      const model = compile(readModel(bytes), { shapes: shapesOf(inputs) });
      const executor = await createExecutor(model);
      const { tensors } = await executor.run(model.inputs.map(({ name }) => inputs.get(name)!.bytes));
      await executor.close();
      const { outputs, firstDifferent } = await compare(bytes, model, inputs, tensors, atol);
      for (const output of outputs) expect(output).to.include({ first: undefined }).and.not.have.any.keys("shape");
      expect(firstDifferent).to.equal(undefined);
    });
});
