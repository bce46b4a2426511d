import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { appendDecisions } from "../../../src/model/decision/appendDecision.ts";
import { decidedFile } from "../../../src/model/decision/decidedFile.ts";
import { isDecided, type DecidedOutput } from "../../../src/model/decision/decision.ts";
import { findDecisions } from "../../../src/compiler/decisions/findDecisions.ts";
import { readMargin } from "../../../src/model/decision/margin.ts";
import { withOutputs } from "../../../src/model/decision/withOutputs.ts";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import { plainOutputs } from "../../../src/native/plain/plainRun.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { isFloat } from "../../../src/numerics/dtype.ts";
import { bindInputs } from "../../../src/model/onnx/bindInputs.ts";
import { boundTensors } from "../../../src/model/onnx/inputs/boundTensors.ts";
import { shapesOf } from "../../../src/model/onnx/inputs/readInputFile.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { CATALOGUE, catalogued } from "../../../testkit/models/catalogue.ts";
import { EXPORTS } from "../../../testkit/models/exports/all.ts";

const ARGMAX = { kind: "argmax" } as const;

describe("decisions of models", () => {
  it("argmaxOfFloats_isDecidedUnlessTheModelRoundsToFewBits", () => {
    const files = [
      ...CATALOGUE.map(({ name, bytes }) => ({ name, bytes: bytes() })),
      ...EXPORTS.map((make) => make()).map(({ name, bytes }) => ({ name, bytes })),
    ];
    const undecided = files.filter(({ bytes }) => {
      const model = readModel(bytes);
      const floats = model.graph.outputs.find(
        ({ dtype, shape }) => dtype !== undefined && isFloat(dtype) && shape?.length !== 0,
      )!;
      const found = findDecisions(appendDecisions(model, { [floats.name]: ARGMAX })).outputs;
      return !isDecided(found[model.graph.outputs.indexOf(floats)]!);
    });
    expect(undecided.map(({ name }) => name)).to.have.members([
      ...["miniLm_short_int8", "imgly_small_64", "qdqCnn", "qOperatorCnn"],
    ]);
  });

  for (const name of ["ppocr2_cls", "oww_timer", "oww_hey_jarvis"])
    it(`${name}_decidesInPlainOnnxruntimeWhatItDecidesExactly`, async () => {
      const entry = catalogued(name);
      const [bytes, inputs] = [entry.bytes(), entry.inputs()];
      const own = readModel(bytes);
      const bound = boundTensors(own, entry.bind);
      const decide = { [own.graph.outputs[0]!.name]: ARGMAX };
      const model = appendDecisions(bindInputs(own, bound), decide);
      const [{ name: output, decisions }] = findDecisions(model).outputs as [DecidedOutput];
      const tensors = decisions.flatMap((decision) => decision.tensors);
      const plain = await plainOutputs(
        withOutputs(decidedFile(bytes, own, decide), tensors),
        new Map([...inputs, ...bound]),
      );
      const values = new Map(
        tensors.map((tensor) => {
          const { shape, bytes: raw } = plain.get(tensor)!;
          return [tensor, { dims: shape, data: new Float32Array(Uint8Array.from(raw).buffer) }];
        }),
      );
      for (const decision of decisions) {
        const { margin, scale } = readMargin(decision, values);
        expect(margin / scale, decision.node).to.be.above(1e-3);
      }
      const compiled = compile(model, { shapes: shapesOf(inputs) });
      const executor = await createExecutor(compiled, { threads: 1 });
      const run = await executor.run(compiled.inputs.map((input) => inputs.get(input.name)!.bytes));
      await executor.close();
      const [exact] = outputTensors(compiled, run.tensors);
      expect([...exact!.bytes]).to.deep.equal([...plain.get(output)!.bytes]);
    });
});
