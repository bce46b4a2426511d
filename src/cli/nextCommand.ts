import { requiredShape } from "../compiler/graph/bindShapes.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { modelFlags } from "./modelOptions.ts";
import { programWords } from "./words/programWords.ts";

/** Writes the words of a command for a shell: a pasted command must do nothing but the printed command. */
export const commandText = (words: readonly string[]): string => [programWords(), ...words.map(shellWord)].join(" ");

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the flags for a program's inputs: for a decoder a prompt; else a file for each required input. */
export function inputFlags({ decoder }: ModelSpec, { inputs, program }: CompiledModel): string[] {
  if (decoder !== undefined) return ["--prompt", "1,2,3", "--tokens", "8"];
  return inputs.flatMap(({ name }, k) => {
    const kind = program.inputs[k]!.source?.kind;
    return kind === "index" || kind === "carried" ? [] : ["--input", `${name}=${fileNameFor(name)}.json`];
  });
}

/** Names in a model are anybody's: a slash would be a folder. */
const fileNameFor = (name: string): string => name.replaceAll("/", "_");

/** The command that goes on after `refute check` of a model that can be served; undefined for a training run. */
export function runCommandOf(spec: ModelSpec, compiled: CompiledModel): string | undefined {
  if (spec.train !== undefined) return undefined;
  return commandText(["run", spec.path, ...modelFlags(spec), ...inputFlags(spec, compiled)]);
}

/** The command that checks a model for some shapes, after a check for none or for wrong ones. */
export function checkCommandOf(spec: ModelSpec, { graph }: Model): string {
  const open = graph.inputs.flatMap(({ name, shape }) => {
    const given = spec.shapes[name];
    return shape === undefined ? [] : [[name, requiredShape(shape, given)] as const];
  });
  const shapes = { ...spec.shapes, ...Object.fromEntries(open) };
  return commandText(["check", spec.path, ...modelFlags({ ...spec, shapes })]);
}
