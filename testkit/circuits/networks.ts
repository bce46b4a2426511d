import { compileCircuit, type ProgramCircuit } from "../../src/circuits/compileCircuit.ts";
import type { Secrets } from "../../src/circuits/groth16/setup.ts";
import type { Domain } from "../../src/circuits/words.ts";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { buildModel, type NodeSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** The domain for test networks' inputs. */
export const AROUND_ONE: Domain = { lowest: -20, highest: 1, signed: true };

/** A network's bytes: Gemm and Relu with seeded weights. @param sizes Layer sizes, the inputs' first. */
export function networkBytes(sizes: readonly number[], seed = 1): Uint8Array {
  const prng = new Prng(seed);
  const weights = (rows: number, columns: number) =>
    floatTensor(
      Array.from({ length: rows * columns }, () => ((prng.below(200_001) - 100_000) / 70_000) * rows ** -0.5),
      [rows, columns],
    );
  const initializers: Record<string, ReturnType<typeof weights>> = {};
  const nodes: NodeSpec[] = [];
  sizes.slice(1).forEach((size, k) => {
    const isLast = k === sizes.length - 2;
    initializers[`w${k}`] = weights(sizes[k]!, size);
    initializers[`b${k}`] = weights(1, size);
    nodes.push({ op: "Gemm", inputs: [`h${k}`, `w${k}`, `b${k}`], outputs: [isLast ? "y" : `g${k}`] });
    if (!isLast) nodes.push({ op: "Relu", inputs: [`g${k}`], outputs: [`h${k + 1}`] });
  });
  return buildModel({
    inputs: [{ name: "h0", dtype: DType.float32, shape: [1, sizes[0]!] }],
    outputs: [{ name: "y", dtype: DType.float32, shape: [1, sizes.at(-1)!] }],
    initializers,
    nodes,
  });
}

/** A network's input: multiples of 1/255 between -1 and 1, like in pictures. */
export function networkInput(count: number, seed: number): Uint8Array {
  const prng = new Prng(seed);
  return floatTensor(Array.from({ length: count }, () => (prng.below(511) - 255) / 255)).bytes;
}

/** A compiled network, and its circuit. */
export type Network = { model: CompiledModel; circuit: ProgramCircuit };

/** Compiles the network of some sizes. */
export function network(sizes: readonly number[], seed = 1): Network {
  const model = compile(readModel(networkBytes(sizes, seed)), { shapes: {} });
  return { model, circuit: compileCircuit(model, [AROUND_ONE]) };
}

/** The outputs of a program by the reference executor. */
export function outputsOf(model: CompiledModel, inputs: readonly Uint8Array[]): Uint8Array[] {
  const tensors = executeReference(model, inputs);
  return model.program.outputs.map((checkpoint) => tensors[model.program.checkpoints[checkpoint]!.step]!);
}

/** Secrets of keys of tests, known to everybody. */
export const SECRETS: Secrets = {
  tau: 3n ** 150n,
  alpha: 5n ** 90n,
  beta: 7n ** 80n,
  gamma: 11n ** 70n,
  delta: 13n ** 60n,
};
