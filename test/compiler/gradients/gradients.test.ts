import { readFileSync } from "node:fs";
import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { RULES } from "../../../src/compiler/gradients/table.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/onnx/readModel.ts";
import { numberTensor } from "../../../src/onnx/tensorData.ts";
import { gradientCases, gradientModel, type GradientCase } from "../../../testkit/graphs/gradientCases.ts";

/** Largest difference from what is expected, in units of the largest element of it. */
function difference(bytes: Uint8Array, expected: readonly number[]): number {
  const values = new Float32Array(Uint8Array.from(bytes).buffer);
  expect(values.length).to.equal(expected.length);
  const scale = Math.max(1e-3, ...expected.map(Math.abs));
  return Math.max(...expected.map((value, i) => Math.abs(value - values[i]!))) / scale;
}

/** The outputs of a case, executed exactly in float32. */
function outputsOf(of: GradientCase): Uint8Array[] {
  const compiled = compile(readModel(gradientModel(of)), { shapes: {} });
  const inputs = of.inputs.map(({ values, shape }) => numberTensor(DType.float32, values, shape).bytes);
  const tensors = executeReference(compiled, inputs);
  const { outputs, checkpoints } = compiled.program;
  return outputs.map((checkpoint) => tensors[checkpoints[checkpoint]!.step]!);
}

describe("gradient rules", () => {
  const cases = gradientCases();

  it("each operator with a rule has a case", () => {
    const covered = new Set(cases.map(({ op }) => op));
    // Tested below or by another case: Cast changes the type, CastLike is it, Dropout draws.
    const elsewhere = new Set(["Cast", "CastLike", "Dropout", "SimplifiedLayerNormalization"]);
    const missing = Object.keys(RULES).filter((operator) => !covered.has(operator) && !elsewhere.has(operator));
    expect(missing).to.deep.equal([]);
  });

  it("docs/operators.md names each operator with a rule", () => {
    const text = readFileSync("docs/operators.md", "utf8");
    const [, list = ""] = /have a gradient rule; any other.*?:\n\n(.*?)\n\n/s.exec(text) ?? [];
    const names = list.replace(/\s*\([^)]*\)/g, "").split(/[,.]\s*/);
    expect(names.filter((name) => name !== "")).to.deep.equal(Object.keys(RULES).sort());
  });

  for (const operator of new Set(cases.map(({ op }) => op)))
    it(`${operator}: as PyTorch's autograd and central differences in float64 give it`, () => {
      for (const of of cases.filter(({ op }) => op === operator)) {
        const results = outputsOf(of);
        const where = `${JSON.stringify(of.attributes)} ${JSON.stringify(of.inputs.map(({ shape }) => shape))}`;
        of.y.forEach((expected, k) => expect(difference(results[k]!, expected), `y ${where}`).to.be.below(1e-5));
        of.inputs.forEach((_, k) => {
          const own = results[of.y.length + k]!;
          expect(difference(own, of.autograd[k]!), `autograd ${k} ${where}`).to.be.below(1e-5);
          expect(difference(own, of.numeric[k]!), `differences ${k} ${where}`).to.be.below(1e-5);
        });
      }
    });
});
