import { expect } from "chai";
import { isFloat, readWord, type DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { buildModel, type AttributeValue, type FunctionSpec, type NodeSpec } from "./onnxBuilder.ts";
import { runOnnxruntime } from "./onnxruntime.ts";
import { firstDifference } from "../../src/examine/conform/tolerance.ts";

/** A graph with its data: operands are known at run time, initializers at compile time. */
export type Experiment = {
  opset?: number;
  /** Versions of other domains than ai.onnx. */
  imports?: Readonly<Record<string, number>>;
  operands: Readonly<Record<string, TensorData>>;
  initializers?: Readonly<Record<string, TensorData>>;
  nodes: readonly NodeSpec[];
  functions?: readonly FunctionSpec[];
  /** Replacement nodes for onnxruntime on the same operands, where onnxruntime lacks the operator. */
  reference?: { opset: number; nodes: readonly NodeSpec[]; initializers: Readonly<Record<string, TensorData>> };
  /** Names and types of the outputs. */
  outputs: Readonly<Record<string, DType>>;
  rtol?: number;
  atol?: number;
  /** How far integers may be apart: onnxruntime adds some zero points before it rounds. */
  units?: number;
};

/** One node over operands x0, x1, ... and initializers c0, c1, ... named in `inputs`. */
export function single(
  op: string,
  operands: readonly TensorData[],
  constants: readonly TensorData[],
  attributes: Readonly<Record<string, AttributeValue>>,
  output: DType,
  opset = 17,
): Experiment {
  const x = operands.map((tensor, k) => [`x${k}`, tensor] as const);
  const c = constants.map((tensor, k) => [`c${k}`, tensor] as const);
  const inputs = [...x, ...c].map(([name]) => name);
  return {
    opset,
    operands: Object.fromEntries(x),
    initializers: Object.fromEntries(c),
    nodes: [{ op, inputs, outputs: ["y"], attributes }],
    outputs: { y: output },
  };
}

/** The ONNX file of an experiment. */
export const modelOf = (experiment: Experiment): Uint8Array =>
  buildModel({
    ...(experiment.opset === undefined ? {} : { opset: experiment.opset }),
    ...(experiment.imports === undefined ? {} : { imports: experiment.imports }),
    inputs: Object.entries(experiment.operands).map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    outputs: Object.entries(experiment.outputs).map(([name, dtype]) => ({ name, dtype })),
    nodes: experiment.nodes,
    ...(experiment.functions ? { functions: experiment.functions } : {}),
    ...(experiment.initializers ? { initializers: experiment.initializers } : {}),
  });

/** Asserts that the exact outputs agree with onnxruntime's within float32 tolerance, in type and shape too. */
export async function expectAgreement(experiment: Experiment, what: string): Promise<void> {
  const { operands } = experiment;
  const bytes = modelOf(experiment);
  const plain = experiment.reference ? modelOf({ ...experiment, ...experiment.reference }) : bytes;
  const expected = await runOnnxruntime(plain, new Map(Object.entries(operands)));
  const model = compile(readModel(bytes), { shapes: {} });
  const tensors = executeReference(
    model,
    model.inputs.map(({ name }) => operands[name]!.bytes),
  );
  model.outputs.forEach(({ name, dtype, shape }, k) => {
    const wanted = expected.get(name)!;
    expect({ dtype, shape: [...shape] }, `${what}: ${name}`).to.deep.equal({
      dtype: wanted.dtype,
      shape: [...wanted.shape],
    });
    const got = { dtype, shape, bytes: tensors[model.program.checkpoints[model.program.outputs[k]!]!.step]! };
    const { rtol = 1e-3, atol = 1e-6, units = 0 } = experiment;
    if (units > 0 && !isFloat(dtype)) return expectNear(got, wanted, units, `${what}: ${name}`);
    expect(firstDifference(got, wanted, { rtol, atol }), `${what}: ${name}`).to.equal(undefined);
  });
}

function expectNear(got: TensorData, wanted: TensorData, units: number, what: string): void {
  for (let i = 0; i < elementCount(got.shape); i++) {
    const [a, b] = [readWord(got.bytes, i, got.dtype), readWord(wanted.bytes, i, wanted.dtype)];
    expect(Number(a - b), `${what}, element ${i}: ${a}, expected ${b}`).to.be.within(-units, units);
  }
}
