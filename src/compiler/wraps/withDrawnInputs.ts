import { DType, dtypeBytes, dtypeName, isFloat, isSigned } from "../../numerics/dtype.ts";
import { elementCount, type Model, type ValueInfo } from "../../model/onnx/model.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { DrawnInputError } from "../errors.ts";
import { NodeList } from "../nodes.ts";

/** The input that all drawn ones come from: int64[4], 32 bytes. */
const DRAW_SEED = "draw_seed";

/** All names that drawing adds begin with it. */
const PREFIX = "draw.";

/** From which values an input is drawn. */
export type DrawnInput = {
  /** The least and the largest value, both included: numbers for floats, whole ones for integers, 0 and 1 for bools. */
  low: number;
  high: number;
  /** The input's shape where the model leaves it open. */
  shape?: readonly number[] | undefined;
};

/**
 * Returns the model with inputs drawn within the program. One input replaces the drawn inputs: `DRAW_SEED`, whose first
 * 16 bytes determine all drawn inputs. Values are uniform: floats in steps of 2^-32 of the range, rounded to float32;
 * integers with a bias below one in 2^32 / (high - low + 1). Different seeds draw different values, and no value is NaN
 * or out of range. A result therefore cannot be taken from memory.
 *
 * Words come from Philox (`operators/own/randomWords.ts`): the key is the seed's first number, the index the sum of the
 * seed's second number and the input's place in the model.
 * @throws DrawnInputError naming the input
 */
export function withDrawnInputs(model: Model, drawn: Readonly<Record<string, DrawnInput>>): Model {
  const names = Object.keys(drawn);
  if (names.length === 0) return model;
  const { graph, source } = model;
  const refuse = (what: string): never => {
    throw new DrawnInputError(`${source}: ${what}`);
  };
  const unknown = names.find((name) => graph.inputs.every((input) => input.name !== name));
  if (unknown !== undefined)
    refuse(`"${unknown}" cannot be drawn: the inputs are ${graph.inputs.map(({ name }) => `"${name}"`).join(", ")}`);
  const made = [...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)];
  const taken = [...made, ...graph.inputs.map(({ name }) => name)].find(
    (name) => name === DRAW_SEED || name.startsWith(PREFIX),
  );
  if (taken !== undefined) refuse(`it has a value "${taken}" of its own, a name that drawing needs`);

  const n = new NodeList(PREFIX);
  const word = (place: number): string => n.node("Gather", [DRAW_SEED, n.integers(place)], { axis: 0 });
  const [key, stream] = [word(0), word(1)];
  graph.inputs.forEach((input, place) => {
    const range = drawn[input.name];
    if (range === undefined) return;
    const shape = shapeOf(input, range, refuse);
    checkRange(input, range, refuse);
    const like = n.node("ConstantOfShape", [n.integers(elementCount(shape))]);
    const index = n.node("Add", [stream, n.integers(place)]);
    const words = n.own("RandomWords", [key, index, like]);
    const values = isFloat(input.dtype) ? floats(n, words, range) : integers(n, words, range);
    n.node("Cast", [n.reshape(values, shape)], { to: input.dtype }, { output: input.name });
  });
  return {
    ...model,
    graph: {
      ...graph,
      inputs: [
        { name: DRAW_SEED, dtype: DType.int64, shape: [4] },
        ...graph.inputs.filter(({ name }) => !names.includes(name)),
      ],
      nodes: [...n.nodes, ...graph.nodes],
      initializers: new Map([...graph.initializers, ...n.initializers]),
    },
  };
}

/** float32 from low to high. */
function floats(n: NodeList, words: string, { low, high }: DrawnInput): string {
  const f = (value: number): string => n.constant(floatTensor([value]));
  const part = n.node("Mul", [n.node("Cast", [words], { to: DType.float32 }), f((high - low) / 2 ** 32)]);
  // The sum may be rounded to a number beyond the range.
  return n.node("Max", [n.node("Min", [n.node("Add", [part, f(low)]), f(high)]), f(low)]);
}

/** int64 from low to high. */
function integers(n: NodeList, words: string, { low, high }: DrawnInput): string {
  const rest = n.node("Mod", [n.node("Cast", [words], { to: DType.int64 }), n.integers(high - low + 1)]);
  return n.node("Add", [rest, n.integers(low)]);
}

function shapeOf({ name, shape }: ValueInfo, range: DrawnInput, refuse: (what: string) => never): readonly number[] {
  const given = range.shape;
  const open = shape === undefined || shape.some((size) => typeof size !== "number");
  if (given === undefined)
    return open ? refuse(`the shape of "${name}" is open: say it where it is drawn`) : (shape as readonly number[]);
  const fits =
    shape === undefined || (shape.length === given.length && shape.every((size, k) => fitsIn(size, given[k])));
  return fits ? given : refuse(`"${name}" is drawn as [${given.join(", ")}], which is not the model's shape`);
}

const fitsIn = (size: unknown, given: number | undefined): boolean => typeof size !== "number" || size === given;

function checkRange({ name, dtype }: ValueInfo, { low, high }: DrawnInput, refuse: (what: string) => never): void {
  const range = `"${name}" (${dtypeName(dtype)}) cannot be drawn from ${low} to ${high}`;
  if (!(low < high)) refuse(`${range}: the first must be less than the second`);
  if (isFloat(dtype)) {
    const max = dtype === DType.float16 ? 65_504 : 2 ** 127;
    if (!(low >= -max && high <= max)) refuse(`${range}: it goes from -${max} to ${max} at most`);
    return;
  }
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) refuse(`${range}: expected whole numbers`);
  const bits = dtype === DType.bool ? 1 : 8 * dtypeBytes(dtype);
  const [min, largest] = isSigned(dtype) ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  if (low < min || high > largest) refuse(`${range}: the type goes from ${min} to ${largest}`);
  if (high - low >= 2 ** 32) refuse(`${range}: that are more than 2^32 values`);
}
