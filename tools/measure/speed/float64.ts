/** The processor time of an element of float64: by the definition, in the executor, in onnxruntime. */
import { file, readOptions } from "../../options.ts";
import { keepFigures } from "../keepFigures.ts";
import * as ort from "onnxruntime-node";
import { compile } from "../../../src/compiler/compile.ts";
import { toOrt } from "../../../src/native/plain/ortTensor.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { modelOf, single } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** Nanoseconds of processor time per element, the least over some runs; undefined without such an operator. */
type Float64Row = { operator: string; defined: number; fast: number; plain: number | undefined };

/** Element counts for the definition, and for fast computation. */
const FEW = 2 ** 10;
const MANY = 2 ** 16;
const RUNS = 5;

/** Operators, and the interval of their operands. */
const OPERATORS: readonly (readonly [string, number, number])[] = [
  ["Exp", -20, 20],
  ["Log", 0.01, 100],
  ["Tanh", -5, 5],
  ["Sigmoid", -20, 20],
  ["Erf", -4, 4],
  ["Pow", 0.1, 9],
  ["Sin", -50, 50],
  ["Cos", -50, 50],
  ["Tan", -50, 50],
  ["Asin", -1, 1],
  ["Acos", -1, 1],
  ["Atan", -20, 20],
  ["Sinh", -9, 9],
  ["Cosh", -9, 9],
  ["Asinh", -20, 20],
  ["Acosh", 1, 20],
  ["Atanh", -1, 1],
  ["Softmax", -9, 9],
  ["Add", -9, 9],
];

function tensor(count: number, low: number, high: number, seed: number): TensorData {
  const prng = new Prng(seed);
  const uniform = (): number => (prng.uint32() + prng.uint32() / 2 ** 32) / 2 ** 32;
  const values = Float64Array.from({ length: count }, () => low + (high - low) * uniform());
  return { dtype: DType.float64, shape: [count / 64, 64], bytes: new Uint8Array(values.buffer) };
}

async function measure(operator: string, low: number, high: number): Promise<Float64Row> {
  const made = (count: number) => {
    const operands = [1, 2].slice(0, operator === "Pow" || operator === "Add" ? 2 : 1);
    const experiment = single(
      operator,
      operands.map((seed) => tensor(count, low, high, seed)),
      [],
      {},
      DType.float64,
    );
    const bytes = modelOf(experiment);
    const model = compile(readModel(bytes), { shapes: {} });
    const { operands: given } = experiment;
    return { bytes, model, operands: given, inputs: model.inputs.map(({ name }) => given[name]!.bytes) };
  };
  const min = async (count: number, run: () => unknown): Promise<number> => {
    let best = Infinity;
    for (let k = 0; k < RUNS; k++) {
      const before = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, user + system);
    }
    return (best * 1e3) / count;
  };
  const [few, many] = [made(FEW), made(MANY)];
  const executor = await createExecutor(many.model);
  const fast = await min(MANY, () => executor.run(many.inputs));
  await executor.close();
  const defined = await min(FEW, () => executeReference(few.model, few.inputs));
  const plain = await plainRun(many.bytes, many.operands).then(
    (run) => min(MANY, run),
    () => undefined,
  );
  return { operator, defined, fast, plain };
}

/** @throws where onnxruntime does not have the operator for float64 */
async function plainRun(
  bytes: Uint8Array,
  operands: Readonly<Record<string, TensorData>>,
): Promise<() => Promise<unknown>> {
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
  const session = await ort.InferenceSession.create(bytes, options);
  const feeds = Object.fromEntries(Object.entries(operands).map(([name, operand]) => [name, toOrt(operand)]));
  return () => session.run(feeds);
}

const values = readOptions({ json: file("a file for the figures") });
const rows: Float64Row[] = [];
for (const [operator, low, high] of OPERATORS) rows.push(await measure(operator, low, high));
console.table(
  rows.map(({ operator, defined, fast, plain }) => ({
    operator,
    "definition, ns": Math.round(defined),
    "executor, ns": Math.round(fast),
    "onnxruntime, ns": plain === undefined ? "" : Math.round(plain),
    "times faster": Math.round(defined / fast),
  })),
);
keepFigures(values.json, { float64: rows });
