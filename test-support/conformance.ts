/** Running one case of the ONNX backend tests through the compiler and the reference executor. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { TensorProtoSchema } from "onnx-buf";
import { compile } from "../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../src/compiler/errors.ts";
import { RefuteError } from "../src/errors.ts";
import { executeReference } from "../src/executor/reference.ts";
import { elementCount, type Model, type TensorData } from "../src/onnx/model.ts";
import { readModel } from "../src/onnx/readModel.ts";
import { readTensor } from "../src/onnx/tensor.ts";
import { firstDifference } from "./tolerance.ts";

export type CaseResult = { kind: "right" | "wrong" | "refused"; detail: string };

/** The model with some of its inputs known at compile time. */
export function withConstants(model: Model, constants: ReadonlyMap<string, TensorData>): Model {
  const { graph } = model;
  return {
    ...model,
    graph: {
      ...graph,
      inputs: graph.inputs.filter((input) => !constants.has(input.name)),
      initializers: new Map([...graph.initializers, ...constants]),
    },
  };
}

function compileAndRun(model: Model, inputs: ReadonlyMap<string, TensorData>): TensorData[] {
  const used = model.graph.inputs.map((input) => inputs.get(input.name)!);
  const shapes = Object.fromEntries(model.graph.inputs.map((input, k) => [input.name, used[k]!.shape]));
  const compiled = compile(model, { shapes });
  const tensors = executeReference(
    compiled,
    used.map((tensor) => tensor.bytes),
  );
  const { outputs, checkpoints } = compiled.program;
  return compiled.outputs.map(({ dtype, shape }, k) => ({
    dtype,
    shape,
    bytes: tensors[checkpoints[outputs[k]!]!.step]!,
  }));
}

/**
 * Runs with every input at run time, save those without elements; if some must be known at compile time, all but the first
 * are, and if that is not enough, all.
 */
export function run(model: Model, inputs: ReadonlyMap<string, TensorData>): TensorData[] {
  const known = (isKnown: (name: string, tensor: TensorData) => boolean): TensorData[] => {
    const constants = [...inputs].filter(([name, tensor]) => elementCount(tensor.shape) === 0 || isKnown(name, tensor));
    return compileAndRun(withConstants(model, new Map(constants)), inputs);
  };
  const first = model.graph.inputs[0]?.name;
  const attempts = [() => known(() => false), () => known((name) => name !== first)];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (error) {
      if (!(error instanceof UnsupportedOperatorError) || !error.message.includes("compile time")) throw error;
    }
  }
  return known(() => true);
}

/** One case: a folder with `model.onnx` and `test_data_set_N`. */
export function runCase(folder: string): CaseResult {
  try {
    const model = readModel(join(folder, "model.onnx"));
    for (const set of readdirSync(folder).filter((name) => name.startsWith("test_data_set_"))) {
      const load = (name: string): TensorData =>
        readTensor(fromBinary(TensorProtoSchema, readFileSync(join(folder, set, name))), name, {
          source: folder,
          externalDataDir: undefined,
        });
      const inputs = new Map(model.graph.inputs.map((input, k) => [input.name, load(`input_${k}.pb`)] as const));
      const got = run(model, inputs);
      for (const [k, output] of got.entries()) {
        const expected = load(`output_${k}.pb`);
        if (expected.dtype !== output.dtype || expected.shape.join() !== output.shape.join())
          return {
            kind: "wrong",
            detail: `output ${k}: [${output.shape.join()}], expected [${expected.shape.join()}]`,
          };
        const difference = firstDifference(output, expected);
        if (difference !== undefined)
          return { kind: "wrong", detail: `output ${k} of ${elementCount(output.shape)}: ${difference}` };
      }
    }
    return { kind: "right", detail: "" };
  } catch (error) {
    if (error instanceof RefuteError) return { kind: "refused", detail: `${error.name}: ${error.message}` };
    return { kind: "wrong", detail: String((error as Error).stack) };
  }
}
