import { readFileSync } from "node:fs";
import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { OWN_DOMAIN } from "../../../src/compiler/nodes.ts";
import { operatorKey, OPERATORS } from "../../../src/compiler/table/registry.ts";
import type { Row } from "../../../src/compiler/table/row.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { gradientCases, gradientModel, type GradientCase } from "../../../testkit/graphs/gradientCases.ts";
import { ALL_CASES } from "../../../testkit/operators/allCases.ts";
import { derivativesOf } from "../../../testkit/operators/derivatives.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

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

/** Whether an operator has a rule, or a composition. */
const isDifferentiated = (row: Row): boolean => "gradient" in row && !("refused" in row.gradient);

describe("gradient rules", () => {
  const cases = gradientCases();
  const keyOf = ({ op, domain }: GradientCase): string => operatorKey({ operator: op, domain });
  const differentiated = OPERATORS.filter(isDifferentiated).map(operatorKey);
  const golden = new Set(cases.map(keyOf));

  it("each case has an operator with a rule", () => {
    expect([...golden].filter((key) => !differentiated.includes(key))).to.deep.equal([]);
  });

  it("each operator without a rule says what to do", () => {
    const registered = OPERATORS.filter(({ domain }) => domain !== OWN_DOMAIN);
    for (const row of registered)
      if ("gradient" in row && "refused" in row.gradient)
        expect(row.gradient.refused, operatorKey(row)).to.match(/[;:,] \w+/);
  });

  // Tested elsewhere or by another case: Cast changes the type, CastLike is it, Dropout draws, others have bodies.
  const elsewhere = new Set(["Cast", "CastLike", "Dropout", "If", "Loop", "Scan"]);
  for (const operator of differentiated.filter((key) => !elsewhere.has(key)))
    it(`${operator}: as central differences of its list of cases give it, where these are of float64`, () => {
      const random = new RandomTensors(new Prng(3));
      const reasons: string[] = [];
      let compared = 0;
      for (const make of ALL_CASES[operator] ?? expect.fail(`${operator} has no list of cases`)) {
        const found = derivativesOf(make(random), random);
        if (typeof found === "string") reasons.push(found);
        else {
          const { byRule, byDifferences } = found;
          expect(byRule).to.be.closeTo(byDifferences, 1e-5 * (1 + Math.abs(byDifferences)));
          compared++;
        }
      }
      if (!golden.has(operator)) expect(compared, reasons.join("; ")).to.be.greaterThan(0);
    });

  it("docs/operators.md names each operator with a rule", () => {
    const text = readFileSync("docs/operators.md", "utf8");
    const [, list = ""] = /have a gradient rule; any other.*?:\n\n(.*?)\n\nOf equal/s.exec(text) ?? [];
    const named = list
      .replace(/<!--.*?-->/g, "")
      .trim()
      .split("\n\n")
      .flatMap((part) => {
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
