import { expect } from "chai";
import { operatorClass } from "../../../src/compiler/decisions/operatorClass.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { findDecisions } from "../../../src/compiler/decisions/findDecisions.ts";
import { canonicalBytes } from "../../../src/compiler/steps/canonicalBytes.ts";
import { RefuteError } from "../../../src/base/errors.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { isDecided } from "../../../src/model/decision/decision.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { extremeExperiments } from "../../../testkit/native/extremes.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { runOnnxruntime } from "../../../testkit/onnx/onnxruntime.ts";
import { operatorKey, OPERATORS } from "../../../src/compiler/table/registry.ts";

describe("operatorClass", () => {
  it("eachOperatorThatIsExecuted_hasAClass", () => {
    const executed = OPERATORS.filter(
      ({ domain, use }) => ["", "com.microsoft", "ai.onnx.ml"].includes(domain) && use !== "bodies",
    );
    const without = executed.filter(({ operator, domain }) => {
      const node = { name: "", operator, domain, inputs: [], outputs: [], attributes: new Map() };
      const of = operatorClass(node);
      return of.kind === "unread" && of.why === "is not known to give one result on all machines";
    });
    expect(without.map(operatorKey)).to.deep.equal([]);
  });

  it("whatIsDecidedWithoutDecisions_isTheDefinitions_atTheEndsOfTypes", async () => {
    let compared = 0;
    for (const { what, experiment } of extremeExperiments(AT_LENGTH ? 9 : 1))
      compared += await compareDecided(experiment, what);
    expect(compared).to.be.above(AT_LENGTH ? 500 : 50);
  }).timeout(600_000);
});

/** Compares each output that is the same on every machine with plain onnxruntime's, to the bit. @returns how many */
async function compareDecided(experiment: Experiment, what: string): Promise<number> {
  const file = modelOf(experiment);
  const bytesOf = ({ name }: { name: string }): Uint8Array => experiment.operands[name]!.bytes;
  let model;
  try {
    model = compile(readModel(file), { shapes: {}, seed: 1n });
  } catch (error) {
    if (error instanceof RefuteError) return 0;
    throw error;
  }
  // onnxruntime counts the elements of a range of known integers in float64, also above 2^53.
  if (experiment.nodes.some(({ op }) => op === "Range")) return 0;
  const found = findDecisions(readModel(file)).outputs;
  const exact = new Set(found.flatMap((one) => (isDecided(one) && one.decisions.length === 0 ? [one.name] : [])));
  if (exact.size === 0) return 0;
  let plain;
  try {
    plain = await runOnnxruntime(file, new Map(Object.entries(experiment.operands)));
  } catch {
    // onnxruntime lacks the operator for these types, or refuses a place outside of the data.
    return 0;
  }
  const tensors = executeReference(model, model.inputs.map(bytesOf));
  model.outputs.forEach(({ name, dtype }, k) => {
    if (!exact.has(name)) return;
    const { step } = model.program.checkpoints[model.program.outputs[k]!]!;
    expect([...canonicalBytes(plain.get(name)!.bytes, dtype)], `${what}: ${name}`).to.deep.equal([...tensors[step]!]);
  });
  return exact.size;
}
