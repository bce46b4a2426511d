import { readFileSync } from "node:fs";
import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { COMPOSITIONS, operatorKey, RULES } from "../../../src/compiler/gradients/table.ts";
import { WITHOUT_RULE } from "../../../src/compiler/gradients/withoutRule.ts";
import { CONTROL } from "../../../src/compiler/graph/control/table.ts";
import { MICROSOFT_REGISTRY } from "../../../src/compiler/operators/microsoft/registry.ts";
import { ML_REGISTRY } from "../../../src/compiler/operators/ml/registry.ts";
import { REGISTRY } from "../../../src/compiler/operators/registry.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { numberTensor } from "../../../src/model/onnx/tensorData.ts";
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
  const keyOf = ({ op, domain }: GradientCase): string => operatorKey({ operator: op, domain });
  const differentiated = [...Object.keys(RULES), ...Object.keys(COMPOSITIONS)];

  it("each operator with a rule has a case", () => {
    const covered = new Set(cases.map(keyOf));
    // Tested elsewhere or by another case: Cast changes the type, CastLike is it, Dropout draws, others have bodies.
    const elsewhere = new Set(["Cast", "CastLike", "Dropout", "SimplifiedLayerNormalization", "If", "Loop", "Scan"]);
    const missing = differentiated.filter((operator) => !covered.has(operator) && !elsewhere.has(operator));
    expect(missing).to.deep.equal([]);
  });

  it("each registered operator has a rule, or is refused by name with what to do", () => {
    const registered = [...REGISTRY, ...ML_REGISTRY, ...MICROSOFT_REGISTRY, ...CONTROL].map(operatorKey);
    const twice = differentiated.filter((key, i) => differentiated.indexOf(key) !== i || WITHOUT_RULE.has(key));
    expect(twice).to.deep.equal([]);
    const known = new Set([...differentiated, ...WITHOUT_RULE.keys()]);
    expect(registered.filter((key) => !known.has(key))).to.deep.equal([]);
    expect([...known].filter((key) => !registered.includes(key))).to.deep.equal([]);
    for (const why of WITHOUT_RULE.values()) expect(why).to.match(/[;:,] \w+/);
  });

  it("docs/operators.md names each operator with a rule", () => {
    const text = readFileSync("docs/operators.md", "utf8");
    const [, list = ""] = /have a gradient rule; any other.*?:\n\n(.*?)\n\nOf equal/s.exec(text) ?? [];
    const named = list.split("\n\n").flatMap((part) => {
      const [, domain = "", names = ""] = /^(?:Of `([a-z.]+)`: )?(.*)$/s.exec(part) ?? [];
      const all = names.replace(/\s*\([^)]*\)/g, "").split(/[,.]\s*/);
      return all.filter((name) => name !== "").map((operator) => operatorKey({ operator, domain }));
    });
    expect(named.toSorted()).to.deep.equal(differentiated.toSorted());
  });

  for (const operator of new Set(cases.map(keyOf)))
    it(`${operator}: as PyTorch's autograd and central differences in float64 give it`, () => {
      for (const of of cases.filter((each) => keyOf(each) === operator)) {
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
