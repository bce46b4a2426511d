import { RefuteError } from "../../src/base/errors.ts";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { modelOf, type Experiment } from "../onnx/agreement.ts";
import type { NodeSpec } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { experimentIn } from "./otherFloats.ts";

const TRAINING = "ai.onnx.preview.training";

/** How far operands are moved: differences err by about the square of the step, and by rounding over the step. */
const STEP = 2 ** -16;

/** The derivative of an experiment along a direction: by the gradient rules, and by central differences. */
type Derivatives = { byRule: number; byDifferences: number };

/**
 * Differentiates an experiment in float64: the sum of the sines of all outputs, by all operands of floats.
 * @returns the two derivatives, or why there are none
 */
export function derivativesOf(experiment: Experiment, random: RandomTensors): Derivatives | string {
  const wide = experimentIn(experiment, DType.float64);
  const { operands, outputs, nodes } = wide;
  const xs = Object.keys(operands).filter((name) => operands[name]!.dtype === DType.float64);
  const ys = Object.keys(outputs).filter((name) => outputs[name] === DType.float64);
  if (xs.length === 0 || ys.length === 0) return "it has no operands or no outputs of floats";
  const loss: NodeSpec[] = [
    ...ys.flatMap((y, k) => [
      { op: "Sin", inputs: [y], outputs: [`sin${k}`] },
      { op: "ReduceSum", inputs: [`sin${k}`], outputs: [`sum${k}`], attributes: { keepdims: 0 } },
    ]),
    { op: "Sum", inputs: ys.map((_, k) => `sum${k}`), outputs: ["loss"] },
  ];
  const gradients = xs.map((_, k) => `gradient${k}`);
  const attributes = { xs: { strings: xs }, y: "loss" };
  const gradient: NodeSpec = { op: "Gradient", domain: TRAINING, inputs: xs, outputs: gradients, attributes };
  const run = (wanted: readonly string[], more: readonly NodeSpec[]): CompiledModel =>
    compile(
      readModel(
        modelOf({
          ...wide,
          imports: { ...wide.imports, [TRAINING]: 1 },
          nodes: [...nodes, ...more],
          outputs: Object.fromEntries(wanted.map((name) => [name, DType.float64])),
        }),
      ),
      { shapes: {} },
    );
  try {
    const value = run(["loss"], loss);
    if (value.outputs[0]!.dtype !== DType.float64) return "it gives no float64";
    const given = numbersOf(run(gradients, [...loss, gradient]), operands);
    const direction = xs.map((name) => numbers(operands[name]!).map(() => random.int(-100, 100) / 100));
    const at = (distance: number): number => {
      const moved = xs.map((name, k) => {
        const x = numbers(operands[name]!).map((element, i) => element + distance * direction[k]![i]!);
        return [name, { ...operands[name]!, bytes: new Uint8Array(x.buffer) }] as const;
      });
      return numbersOf(value, { ...operands, ...Object.fromEntries(moved) })[0]![0]!;
    };
    const [below, here, above] = [at(-STEP), at(0), at(STEP)];
    const [left, right] = [(here - below) / STEP, (above - here) / STEP];
    // The second derivative alone makes them differ by about a step.
    if (!(Math.abs(left - right) < 0.01 * (1 + Math.abs(left)))) return "it has a kink there, or is not finite";
    const byRule = given.reduce(
      (sum, own, k) => own.reduce((inner, element, i) => inner + element * direction[k]![i]!, sum),
      0,
    );
    return { byRule, byDifferences: (above - below) / (2 * STEP) };
  } catch (error) {
    if (error instanceof RefuteError) return error.message;
    throw error;
  }
}

const numbers = ({ bytes }: TensorData): Float64Array<ArrayBuffer> => new Float64Array(Uint8Array.from(bytes).buffer);

/** The outputs of a program of float64. */
function numbersOf(model: CompiledModel, operands: Readonly<Record<string, TensorData>>): Float64Array[] {
  const inputs = model.inputs.map(({ name }) => operands[name]!.bytes);
  const tensors = executeReference(model, inputs);
  const { outputs, checkpoints } = model.program;
  return outputs.map((output, k) => {
    const { dtype, shape } = model.outputs[k]!;
    return numbers({ dtype, shape, bytes: tensors[checkpoints[output]!.step]! });
  });
}
