import { hexToBytes, type Hex } from "viem";
import type { ProgramFacts } from "../../chain/structs.ts";
import { dtypeName, isDType, DType, type DTypeName } from "../../numerics/dtype.ts";
import { readHeader, type HeaderFacts, type HeaderTensor } from "../../program/header.ts";
import { rootOf } from "../../program/root.ts";
import { ProgramFormatError } from "../../program/errors.ts";
import { DescriptionError } from "./errors.ts";
import { Fields } from "../../base/fields.ts";

/** A tensor that a requester gives or gets: row-major. */
export type TensorDescription = { name: string; dtype: DTypeName; shape: readonly number[] };

/** An output. */
export type OutputDescription = TensorDescription & {
  /** The meanings of positions in the output's last dimension, for example the classes of a classifier. */
  labels?: readonly string[];
  /** For an output with spare room along an axis: the axis, and the output that counts the used positions. */
  bounded?: { axis: number; count: string };
};

/**
 * The parts of a compiled program needed by a requester. The description is plain JSON: a dapp ships the description in
 * place of the model.
 */
export type ProgramDescription = {
  /** Format number of the description: 1. */
  format: 1;
  /** The root that jobs name and workers know. The root commits to the header and both lists. */
  programRoot: Hex;
  header: Hex;
  stepsRoot: Hex;
  checkpointsRoot: Hex;
  inputs: readonly TensorDescription[];
  outputs: readonly OutputDescription[];
  /** Terms that an execution evaluates, a decimal number: the dispute window grows with it. */
  work: string;
  /** Gas of the largest step proof. */
  maxStepGas: number;
  /** Bytes of the largest transaction with a step proof. */
  maxStepBytes: number;
};

/** The preimage of a described program's root. */
export const factsOf = ({ header, stepsRoot, checkpointsRoot }: ProgramDescription): ProgramFacts => ({
  header,
  stepsRoot,
  checkpointsRoot,
});

/** The number of elements of a tensor. */
export const elementsOf = ({ shape }: Pick<TensorDescription, "shape">): number =>
  shape.reduce((product, extent) => product * extent, 1);

/**
 * Reads a description from JSON and checks the description against the named program root: types and sizes of all
 * inputs and outputs, and all limits, must match the program. Names, shape dimensions and labels are accepted
 * unchecked: no root commits to them. The root must come from a trusted source.
 * @param from The text of a JSON document, or the parsed document.
 * @throws DescriptionError that names the field
 */
export function parseDescription(from: unknown, name = "the program's description"): ProgramDescription {
  const fields = new Fields(typeof from === "string" ? parseJson(from, name) : from, name, DescriptionError);
  if (fields.count("format") !== 1) fields.refuse("format", "1");
  const description: ProgramDescription = {
    format: 1,
    programRoot: fields.hex("programRoot", 32),
    header: fields.hex("header"),
    stepsRoot: fields.hex("stepsRoot", 32),
    checkpointsRoot: fields.hex("checkpointsRoot", 32),
    inputs: fields.objects("inputs").map(tensorIn),
    outputs: fields
      .objects("outputs")
      .map((output) => ({ ...tensorIn(output), ...labelsIn(output), ...boundedIn(output) })),
    work: fields.text("work"),
    maxStepGas: fields.count("maxStepGas"),
    maxStepBytes: fields.count("maxStepBytes"),
  };
  requireGenuine(description);
  return description;
}

/**
 * Checks that a description matches the named root's program, within the root's commitment.
 * @returns the facts in the program's header
 * @throws DescriptionError that names the field
 */
export function requireGenuine(description: ProgramDescription): HeaderFacts {
  const { header, stepsRoot, checkpointsRoot, programRoot } = description;
  const bytes = hexToBytes(header);
  if (rootOf(bytes, stepsRoot, checkpointsRoot) !== programRoot)
    throw new DescriptionError(
      `the program's description: field "programRoot": it is not the root of "header", "stepsRoot" and ` +
        `"checkpointsRoot"; describe the compiled program again`,
    );
  const facts = headerIn(bytes);
  const differs = (field: string, given: unknown, has: unknown): never => {
    throw new DescriptionError(
      `the program's description: field "${field}": it says ${String(given)}, the program that its root names has ` +
        `${String(has)}; describe the compiled program again`,
    );
  };
  for (const field of ["work", "maxStepGas", "maxStepBytes"] as const)
    if (String(description[field]) !== String(facts[field])) differs(field, description[field], facts[field]);
  for (const field of ["inputs", "outputs"] as const) {
    const [given, has] = [description[field], facts[field]];
    if (given.length !== has.length) differs(field, `${given.length} tensors`, `${has.length}`);
    given.forEach((tensor, k) => {
      const [own, true_] = [`${elementsOf(tensor)} x ${tensor.dtype}`, tensorText(has[k]!)];
      if (own !== true_) differs(`${field}[${k}]`, own, true_);
    });
  }
  return facts;
}

const tensorText = ({ dtype, count }: HeaderTensor): string => `${count} x ${dtypeName(dtype)}`;

function headerIn(bytes: Uint8Array): HeaderFacts {
  try {
    return readHeader(bytes);
  } catch (cause) {
    if (!(cause instanceof ProgramFormatError)) throw cause;
    throw new DescriptionError(`the program's description: field "header": ${cause.message}`, { cause });
  }
}

const isExtent = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
const isText = (value: unknown): value is string => typeof value === "string";

function tensorIn(fields: Fields): TensorDescription {
  const dtype = fields.text("dtype");
  if (!isTypeName(dtype)) fields.refuse("dtype", "an element type such as float32");
  return { name: fields.text("name"), dtype, shape: fields.list("shape", isExtent, "a list of whole numbers above 0") };
}

const isTypeName = (name: string): name is DTypeName => Object.hasOwn(DType, name) && isDType(DType[name as DTypeName]);

function labelsIn(fields: Fields): Pick<OutputDescription, "labels"> {
  if (!fields.has("labels")) return {};
  const labels = fields.list("labels", isText, "a list of texts");
  const wanted = fields.list("shape", isExtent, "a list").at(-1) ?? 1;
  if (labels.length !== wanted) fields.refuse("labels", `${wanted} texts, as the last dimension`, `${labels.length}`);
  return { labels };
}

function boundedIn(fields: Fields): Pick<OutputDescription, "bounded"> {
  if (!fields.has("bounded")) return {};
  const own = fields.object("bounded");
  const axis = own.count("axis");
  const { length } = fields.list("shape", isExtent, "a list");
  if (axis >= length) own.refuse("axis", `a whole number below ${length}`);
  return { bounded: { axis, count: own.text("count") } };
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DescriptionError(`${name} is no JSON document: ${(cause as Error).message}`, { cause });
  }
}
