import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { outputTensors } from "../../src/examine/compare/compare.ts";
import { withinCounts } from "../../src/examine/compare/withinCounts.ts";
import { firstDifference } from "../../src/examine/conform/tolerance.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { modelOf, type Experiment } from "./agreement.ts";
import { runOnnxruntime } from "./onnxruntime.ts";

/** Compares the outputs within the counts with onnxruntime's results. */
export async function agreesWithinCounts(experiment: Experiment, what: string): Promise<void> {
  const { operands } = experiment;
  const bytes = modelOf(experiment);
  const expected = await runOnnxruntime(bytes, new Map(Object.entries(operands)));
  const model = compile(readModel(bytes), { shapes: {} });
  const tensors = executeReference(
    model,
    model.inputs.map(({ name }) => operands[name]!.bytes),
  );
  const own = withinCounts(outputTensors(model, tensors));
  expect(own.map(({ name }) => name)).to.deep.equal(Object.keys(experiment.outputs));
  for (const output of own) {
    const wanted = expected.get(output.name)!;
    expect([...output.shape], `${what}: ${output.name}`).to.deep.equal([...wanted.shape]);
    expect(firstDifference(output, wanted, { rtol: 0, atol: 0 }), `${what}: ${output.name}`).to.equal(undefined);
  }
}
