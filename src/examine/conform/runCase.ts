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
import { isList, nameOf, readValue, type CaseValue } from "./readValue.ts";
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
    const sets = dataSets(folder);
    if (sets.length === 0) throw new Refused("it has no data: no folder test_data_set_0 lies beside model.onnx");
    for (const set of sets) {
      const { initializers } = types;
      const { prepared, wanted } = refusable(() => {
        const values = filesOf(join(folder, set), "input", types.inputs, initializers);
        const given = types.inputs.filter(({ name }) => values.has(name) && !initializers.has(name));
        const lengths = Object.fromEntries(given.flatMap((input) => lengthOf(input, values.get(input.name))));
        const model = withInitializers(readModel(path, { lengths }), values);
        return {
          prepared: prepare(model, new Map(given.flatMap(({ name }) => named(name, values.get(name))))),
          wanted: filesOf(join(folder, set), "output", types.outputs, new Set()),
        };
      });
      bound ||= prepared.bound;
      const outputs = await outputsOf(prepared);
      for (const [k, info] of types.outputs.entries()) {
        const expected = named(info.name, wanted.get(info.name));
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

/** The folders of a case that hold data. */
export const dataSets = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith("test_data_set_"))
    .sort();

type CaseTypes = {
  inputs: readonly ValueInfoProto[];
  outputs: readonly ValueInfoProto[];
  initializers: ReadonlySet<string>;
};

/** Returns the inputs, outputs and names of initializers of a model, from the model's file. */
function caseTypes(path: string): CaseTypes {
  const { input = [], output = [], initializer = [] } = decodeModel(readRegularFile(path), path).graph ?? {};
  return { inputs: input, outputs: output, initializers: new Set(initializer.map(({ name }) => name)) };
}

/**
 * Reads the files `KIND_N.pb` of a data set, by the names of the model's values: the name in the file counts, and
 * without a known name the file's number. Inputs with an initializer need no file.
 * @throws InputFileError, Refused
 */
function filesOf(
  folder: string,
  kind: "input" | "output",
  values: readonly ValueInfoProto[],
  optional: ReadonlySet<string>,
): Map<string, CaseValue> {
  const numbers = readdirSync(folder)
    .flatMap((file) => new RegExp(`^${kind}_(\\d+)\\.pb$`).exec(file)?.slice(1) ?? [])
    .sort((a, b) => Number(a) - Number(b));
  const files = numbers.map((number) => {
    const path = join(folder, `${kind}_${number}.pb`);
    const bytes = readRegularFile(path);
    return { number, path, bytes, name: nameOf(bytes, values) };
  });
  // As many files as inputs: initializers that are inputs have files too.
  const placed = files.length >= values.length ? values : values.filter(({ name }) => !optional.has(name));
  const read = new Map<string, CaseValue>();
  for (const { number, path, bytes, name = placed[Number(number)]?.name } of files) {
    const info = values.find((value) => value.name === name);
    if (info === undefined || read.has(info.name))
      throw new Refused(`${path} is of no ${kind} of the model, or of one that another file gives`);
    read.set(info.name, readValue(bytes, info.type, path));
  }
  const missing = values.find(({ name }) => !read.has(name) && !optional.has(name));
  if (missing !== undefined) throw new Refused(`${folder} has no file ${kind}_N.pb of the ${kind} "${missing.name}"`);
  return read;
}

/** The model with other values for initializers that are inputs too. */
function withInitializers(model: Model, values: ReadonlyMap<string, CaseValue>): Model {
  const { initializers } = model.graph;
  const others = [...values].filter((entry): entry is [string, TensorData] => initializers.has(entry[0]));
  return { ...model, graph: { ...model.graph, initializers: new Map([...initializers, ...others]) } };
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
