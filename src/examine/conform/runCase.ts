import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ValueInfoProto } from "onnx-buf";
import { compile } from "../../compiler/compile.ts";
import { EmptyOutputsError, UnsupportedOperatorError } from "../../compiler/errors.ts";
import { RefuteError } from "../../base/errors.ts";
import { createExecutor } from "../../executor/createExecutor.ts";
import { executeReference } from "../../executor/reference.ts";
import { DType } from "../../numerics/dtype.ts";
import { bindInputs } from "../../model/onnx/bindInputs.ts";
import { elementCount, type Model, type TensorData } from "../../model/onnx/model.ts";
import { elementTypeName, sameElementType } from "../../model/onnx/narrow.ts";
import { elementName } from "../../model/onnx/containers.ts";
import { decodeModel } from "../../model/onnx/decodeModel.ts";
import { readModel } from "../../model/onnx/readModel.ts";
import type { CompiledModel, TensorInfo } from "../../program/compiled.ts";
import { programTerms } from "../../program/work.ts";
import { readRegularFile } from "../../base/regularFile.ts";
import { emptyTensor, outputTensors } from "../compare/compare.ts";
import { withinCounts } from "../compare/withinCounts.ts";
import { isList, readValue, type CaseValue } from "./readValue.ts";
import { firstDifference } from "./tolerance.ts";

/** `passed`: every output of every data set is right. `refused`: by name, before anything is executed. */
export type CaseResult = {
  kind: "passed" | "failed" | "refused";
  /** The difference, or the refusal's code and reason. */
  detail: string;
  /** Whether some inputs had to be known at compile time. */
  bound: boolean;
};

/** One execution to make: the program, undefined if no output has elements, and its inputs. */
type Prepared = {
  model: CompiledModel | undefined;
  emptyOutputs: readonly TensorInfo[];
  inputs: Uint8Array[];
  bound: boolean;
};

/** Minimum number of terms for the fast executor to beat the definition; both give the same bits. */
const MANY_TERMS = 2_000_000n;

function compileOn(model: Model, inputs: ReadonlyMap<string, TensorData>): Omit<Prepared, "bound"> {
  const used = model.graph.inputs.map((input) => inputs.get(input.name)!);
  const shapes = Object.fromEntries(model.graph.inputs.map((input, k) => [input.name, used[k]!.shape]));
  const bytes = used.map((tensor) => tensor.bytes);
  try {
    const compiled = compile(model, { shapes });
    return { model: compiled, emptyOutputs: compiled.emptyOutputs ?? [], inputs: bytes };
  } catch (error) {
    if (!(error instanceof EmptyOutputsError)) throw error;
    return { model: undefined, emptyOutputs: error.outputs, inputs: bytes };
  }
}

/**
 * Compiles with every input given at run time, except inputs without elements. If compilation needs a value, all inputs
 * but the first become part of the program; if that fails too, all inputs do.
 */
function prepare(model: Model, inputs: ReadonlyMap<string, TensorData>): Prepared {
  const bind = (isBound: (name: string) => boolean): Prepared => {
    const constants = [...inputs].filter(([name, { shape }]) => elementCount(shape) === 0 || isBound(name));
    return { ...compileOn(bindInputs(model, new Map(constants)), inputs), bound: constants.length > 0 };
  };
  const first = model.graph.inputs[0]?.name;
  for (const isBound of [() => false, (name: string) => name !== first]) {
    try {
      return bind(isBound);
    } catch (error) {
      if (!(error instanceof UnsupportedOperatorError) || !error.message.includes("compile time")) throw error;
    }
  }
  return bind(() => true);
}

/** All outputs: those of the program, and those without elements. */
async function outputsOf({ model, inputs, emptyOutputs }: Prepared): Promise<(TensorInfo & TensorData)[]> {
  const computed = model === undefined ? [] : withinCounts(outputTensors(model, await execute(model, inputs)));
  return [...computed, ...emptyOutputs.map(emptyTensor)];
}

async function execute(model: CompiledModel, inputs: Uint8Array[]): Promise<readonly Uint8Array[]> {
  if (programTerms(model.program.steps) < MANY_TERMS) return executeReference(model, inputs);
  const executor = await createExecutor(model);
  const { tensors } = await executor.run(inputs);
  await executor.close();
  return tensors;
}

/**
 * Runs one case: a folder with `model.onnx` and `test_data_set_N`. Never throws: the result reports an unreadable case
 * as refused and a crash as a failure.
 */
export async function runCase(folder: string): Promise<CaseResult> {
  let bound = false;
  try {
    const path = join(folder, "model.onnx");
    const types = refusable(() => caseTypes(path));
    for (const set of readdirSync(folder).filter((name) => name.startsWith("test_data_set_"))) {
      const load = ({ type }: ValueInfoProto, file: string): CaseValue => {
        const from = join(folder, set, file);
        return readValue(readRegularFile(from), type, from);
      };
      const prepared = refusable(() => {
        const given = types.inputs.map((input, k) => [input, load(input, `input_${k}.pb`)] as const);
        const lengths = Object.fromEntries(given.flatMap(([input, value]) => lengthOf(input, value)));
        return prepare(readModel(path, { lengths }), new Map(given.flatMap(([{ name }, value]) => named(name, value))));
      });
      bound ||= prepared.bound;
      const outputs = await outputsOf(prepared);
      for (const [k, info] of types.outputs.entries()) {
        const expected = named(info.name, load(info, `output_${k}.pb`));
        const own = outputs.filter(({ name }) => name === info.name || name.startsWith(`${info.name}.`));
        const detail = outputDifference(own, expected);
        if (detail !== undefined) return { kind: "failed", detail: `${set}, output ${k}: ${detail}`, bound };
      }
    }
    return { kind: "passed", detail: "", bound };
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", detail: error.message, bound };
    return { kind: "failed", detail: String((error as Error).stack), bound };
  }
}

/** Returns the inputs and outputs of a model, from the model's file. */
function caseTypes(path: string): { inputs: readonly ValueInfoProto[]; outputs: readonly ValueInfoProto[] } {
  const { input = [], output = [], initializer = [] } = decodeModel(readRegularFile(path), path).graph ?? {};
  const constants = new Set(initializer.map(({ name }) => name));
  return { inputs: input.filter(({ name }) => !constants.has(name)), outputs: output };
}

/** Returns the length of an input with a sequence or optional type. */
function lengthOf({ name, type }: ValueInfoProto, value: CaseValue): [name: string, length: number][] {
  if (type?.value.case === "tensorType") return [];
  return [[name, value === undefined ? 0 : isList(value) ? value.length : 1]];
}

/** The tensors of a value, by the names that they have in a program. */
function named(name: string, value: CaseValue): [name: string, tensor: TensorData][] {
  if (value === undefined) return [];
  return isList(value) ? value.map((tensor, k) => [elementName(name, k), tensor]) : [[name, value]];
}

/** Returns the difference in an output's tensors, or undefined. */
function outputDifference(
  own: readonly (TensorInfo & TensorData)[],
  expected: readonly (readonly [name: string, tensor: TensorData])[],
): string | undefined {
  const names = own.map(({ name }) => name);
  const wanted = expected.map(([name]) => name);
  if (names.toSorted().join() !== wanted.toSorted().join())
    return `is of the tensors [${names.join()}], expected [${wanted.join()}]`;
  for (const [name, given] of expected) {
    const output = own.find((each) => each.name === name)!;
    const tensor = expectedOf(given, output.dtype);
    if (!sameElementType(tensor, output) || tensor.shape.join() !== output.shape.join())
      return (
        `has type ${elementTypeName(output)} and shape [${output.shape.join()}], ` +
        `expected ${elementTypeName(tensor)} and [${tensor.shape.join()}]`
      );
    const detail = firstDifference(output, tensor);
    if (detail !== undefined) return detail;
  }
  return undefined;
}

/** Some cases store bfloat16 bits in a uint16 tensor. */
const expectedOf = (tensor: TensorData, dtype: DType): TensorData =>
  dtype === DType.bfloat16 && tensor.dtype === DType.uint16 ? { ...tensor, dtype } : tensor;

/** Reading or compiling was refused; what is thrown later is a failure. */
class Refused extends Error {}

function refusable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RefuteError) throw new Refused(`${error.message} [${error.code}]`, { cause: error });
    throw error;
  }
}
