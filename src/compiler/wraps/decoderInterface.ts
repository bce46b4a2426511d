import { DType, dtypeName, isFloat } from "../../numerics/dtype.ts";
import type { Dim, Model, ValueInfo } from "../../model/onnx/model.ts";
import { DecoderError } from "../errors.ts";

/** Past keys or values of a layer: the input, the output that has them with the new row, and their sizes. */
export type Cache = { past: string; present: string; dtype: DType; heads: number; size: number };

/** A decoder's inputs and outputs, found by the names that export tools give. */
export type DecoderInterface = {
  ids: ValueInfo;
  mask: ValueInfo;
  positions: ValueInfo | undefined;
  caches: readonly Cache[];
  logits: string;
  /** The number of tokens that the model knows; undefined if the file does not say it. */
  vocabulary: number | undefined;
};

/** How past and present are named, by the layer and the part. */
const NAMES: readonly { past: RegExp; present: (layer: string, part: string) => readonly string[] }[] = [
  {
    past: /^past_key_values\.(?<layer>\d+)\.(?<part>key|value)$/,
    present: (layer, part) => [`present.${layer}.${part}`, `present_key_values.${layer}.${part}`],
  },
  {
    past: /^past\.(?<layer>\d+)\.(?<part>key|value)$/,
    present: (layer, part) => [`present.${layer}.${part}`],
  },
  {
    past: /^past_(?<part>key|value)_self_(?<layer>\d+)$/,
    present: (layer, part) => [`present_${part}_self_${layer}`],
  },
  {
    past: /^past_(?<part>key|value)_(?<layer>\d+)$/,
    present: (layer, part) => [`present_${part}_${layer}`],
  },
];

const INTEGERS: readonly DType[] = [DType.int64, DType.int32];

/**
 * Finds a decoder's inputs and outputs: input_ids, attention_mask, position_ids if present, a cache for keys and a
 * cache for values per layer, [batch, heads, past, size], and logits.
 * @throws DecoderError by the missing or unfit input or output
 */
export function decoderInterface({ graph, source }: Model): DecoderInterface {
  const refuse = (what: string): never => {
    throw new DecoderError(`${source} cannot be wrapped as a decoder: ${what}`);
  };
  const outputs = graph.outputs.map(({ name }) => name);
  const given = (name: string): ValueInfo | undefined => graph.inputs.find((input) => input.name === name);
  const required = (name: string, why: string): ValueInfo =>
    given(name) ?? refuse(`it has no input "${name}", ${why}; its inputs are ${quoted(graph.inputs)}`);
  const ids = required("input_ids", "the token of a step");
  if (!INTEGERS.includes(ids.dtype) || (ids.shape ?? [0, 0]).length !== 2)
    refuse(`"input_ids" is ${infoText(ids)}, expected integers [batch, sequence]`);
  const mask = required("attention_mask", "without which slots that are not written could not be masked");
  if ((mask.shape ?? [0, 0]).length !== 2)
    refuse(`"attention_mask" is ${infoText(mask)}, expected [batch, past and sequence]`);
  const positions = given("position_ids");
  if (positions !== undefined && (!INTEGERS.includes(positions.dtype) || (positions.shape ?? [0, 0]).length !== 2))
    refuse(`"position_ids" is ${infoText(positions)}, expected integers [batch, sequence]`);
  if (!outputs.includes("logits")) refuse(`it has no output "logits"; its outputs are ${quoted(graph.outputs)}`);
  const caches: Cache[] = [];
  for (const input of graph.inputs) {
    if ([ids, mask, positions].includes(input)) continue;
    const present = presentNames(input.name);
    if (present === undefined)
      return refuse(`the input "${input.name}" is none that decoders have: give its value with --bind`);
    const name = present.find((each) => outputs.includes(each));
    if (name === undefined) return refuse(`it has no output "${present.join('" or "')}" for the input "${input.name}"`);
    const [batch, heads, , size] = input.shape ?? [];
    if (!isFloat(input.dtype) || input.shape?.length !== 4 || !isSize(heads) || !isSize(size) || !isOne(batch))
      return refuse(
        `"${input.name}" is ${infoText(input)}, expected floats [batch, heads, past, size], two of them known`,
      );
    caches.push({ past: input.name, present: name, dtype: input.dtype, heads, size });
  }
  if (caches.length === 0) refuse('it has no inputs such as "past_key_values.0.key": export it with a cache');
  const vocabulary = graph.outputs.find(({ name }) => name === "logits")?.shape?.at(-1);
  return { ids, mask, positions, caches, logits: "logits", vocabulary: isSize(vocabulary) ? vocabulary : undefined };
}

const isSize = (dim: Dim | undefined): dim is number => typeof dim === "number" && dim > 0;
const isOne = (dim: Dim): boolean => !isSize(dim) || dim === 1;

/** Returns the possible names of a cache's output; undefined if the input's name is no cache name. */
function presentNames(input: string): readonly string[] | undefined {
  for (const { past, present } of NAMES) {
    const groups = past.exec(input)?.groups;
    if (groups !== undefined) return present(groups.layer!, groups.part!);
  }
  return undefined;
}

const quoted = (values: readonly { name: string }[]): string => values.map(({ name }) => `"${name}"`).join(", ");

const infoText = ({ dtype, shape }: ValueInfo): string =>
  `${dtypeName(dtype)}${shape === undefined ? " of any rank" : `[${shape.map((dim) => dim ?? "?").join(", ")}]`}`;
