import { readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { compile } from "../../../src/compiler/compile.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import type { Subject } from "./models.ts";

/** The data for a measurement, prepared once and handed to the processes in a file. */
export type Prepared = Subject & {
  model: CompiledModel;
  /** The program's inputs, in its order. */
  given: readonly Uint8Array[];
};

/**
 * Compiles a subject for its inputs' shapes.
 * @throws the compiler's errors
 */
export function prepare(subject: Subject, path: string): void {
  const { bytes, inputs, fixed = [] } = subject;
  const read = readModel(bytes);
  const { graph } = read;
  const isFixed = (name: string): boolean => fixed.includes(name);
  const initializers = new Map([...graph.initializers, ...[...inputs].filter(([name]) => isFixed(name))]);
  const open = graph.inputs.filter(({ name }) => !isFixed(name));
  const shapes = Object.fromEntries(open.map(({ name }) => [name, inputs.get(name)!.shape]));
  const model = compile({ ...read, graph: { ...graph, inputs: open, initializers } }, { shapes });
  const given = model.inputs.map(({ name }) => inputs.get(name)!.bytes);
  const prepared: Prepared = { ...subject, model: { ...model, valueLocations: new Map() }, given };
  writeFileSync(path, serialize(prepared));
}

export const readPrepared = (path: string): Prepared => deserialize(readFileSync(path)) as Prepared;
