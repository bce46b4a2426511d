import { dtypeName } from "../../numerics/dtype.ts";
import { programFacts, type KnownProgram } from "../../dispute/run/execution.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import { programWork } from "../../program/work.ts";
import type { OutputDescription, ProgramDescription, TensorDescription } from "./description.ts";
import { DescriptionError } from "./errors.ts";

/** Human-readable names for the positions in an output's last dimension, by the output's name. */
export type Labels = Readonly<Record<string, readonly string[]>>;

/**
 * Describes a compiled program for requesters.
 * @throws DescriptionError for labels that fit no output
 */
export function describeProgram({ model, commitment }: KnownProgram, labels: Labels = {}): ProgramDescription {
  const unknown = Object.keys(labels).find((name) => !model.outputs.some((output) => output.name === name));
  if (unknown !== undefined)
    throw new DescriptionError(
      `labels of "${unknown}": the model's outputs are ${model.outputs.map(({ name }) => name).join(", ")}`,
    );
  const { program } = model;
  return {
    format: 1,
    programRoot: commitment.programRoot,
    ...programFacts(commitment),
    inputs: model.inputs.map(tensor),
    outputs: model.outputs.map((output) => ({
      ...tensor(output),
      ...labelled(output, labels),
      ...(output.bounded && { bounded: output.bounded }),
    })),
    work: String(programWork(program)),
    maxStepGas: program.maxStepGas,
    maxStepBytes: program.maxStepBytes,
  };
}

const tensor = ({ name, dtype, shape }: TensorInfo): TensorDescription => ({ name, dtype: dtypeName(dtype), shape });

function labelled({ name, shape }: TensorInfo, labels: Labels): Pick<OutputDescription, "labels"> {
  const own = Object.hasOwn(labels, name) ? labels[name] : undefined;
  if (own === undefined) return {};
  const last = shape.at(-1) ?? 1;
  if (own.length !== last)
    throw new DescriptionError(`labels of "${name}": ${own.length} texts, its last dimension has ${last} positions`);
  return { labels: own };
}
