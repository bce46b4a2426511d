import { DType, dtypeName } from "../../numerics/dtype.ts";
import { elementCount, type Model, type ValueInfo } from "../../model/onnx/model.ts";
import { renamed } from "../../model/onnx/names.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { NoiseError } from "../errors.ts";
import type { RunWiring } from "../runWiring.ts";
import { NodeList } from "../nodes.ts";

/** The inputs that noise comes from: a seed, int64[1], and the item's number where the model takes none itself. */
export const NOISE = { seed: "noise_seed", index: "noise_index" } as const;

/** The prefix of all names added for noise. */
const PREFIX = "noise.";

/**
 * The model with seeded normal noise added to inputs of float32: what the graph reads is `input + scale * z`. Of an
 * item of a run, z depends on the job's seed and the item's number, so that outputs of one job cannot be had from
 * memory of another.
 *
 * z = sqrt(-2 log u) * cos(2 pi v), Box and Muller, each operation rounded; u = (word + 1/2) / 2^32 and v = word / 2^32
 * of words of Philox (`operators/own/randomWords.ts`). The key is the seed plus the input's place in the model; the
 * counter has the item's number. |z| is at most 6.8.
 * @param noise The scale of each input's noise.
 * @returns the model and the wiring of its run
 * @throws NoiseError by the input
 */
export function withNoise(
  model: Model,
  noise: Readonly<Record<string, number>>,
  run: RunWiring | undefined,
): { model: Model; run: RunWiring | undefined } {
  const names = Object.keys(noise);
  if (names.length === 0) return { model, run };
  const { graph, source } = model;
  const refuse = (what: string): never => {
    throw new NoiseError(`${source}: ${what}`);
  };
  const unknown = names.find((name) => graph.inputs.every((input) => input.name !== name));
  if (unknown !== undefined)
    refuse(`no noise for "${unknown}": the inputs are ${graph.inputs.map(({ name }) => `"${name}"`).join(", ")}`);
  if (run?.batch === true) refuse("noise has one seed for all items: wire the batch with --each and --each-output");
  const made = [...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)];
  const taken = [...made, ...graph.inputs.map(({ name }) => name)].find(
    (name) => name === NOISE.seed || name === NOISE.index || name.startsWith(PREFIX),
  );
  if (taken !== undefined) refuse(`it has a value "${taken}" of its own, a name that noise needs`);

  const given = run?.index?.[0];
  const n = new NodeList(PREFIX);
  const noisy = new Map<string, string>();
  graph.inputs.forEach((input, place) => {
    const scale = noise[input.name];
    if (scale === undefined) return;
    const shape = shapeOf(input, scale, refuse);
    const z = normal(n, place, given ?? NOISE.index, elementCount(shape));
    const scaled = n.node("Mul", [z, n.constant(floatTensor([scale]))]);
    noisy.set(input.name, n.node("Add", [input.name, n.reshape(scaled, shape)]));
  });
  const int64 = (name: string): ValueInfo => ({ name, dtype: DType.int64, shape: [1] });
  return {
    run: given === undefined ? { ...run, index: [NOISE.index] } : run,
    model: {
      ...model,
      graph: {
        ...graph,
        inputs: [int64(NOISE.seed), ...(given === undefined ? [int64(NOISE.index)] : []), ...graph.inputs],
        nodes: [...n.nodes, ...graph.nodes.map((node) => ({ ...node, ...renamed(node, noisy) }))],
        initializers: new Map([...graph.initializers, ...n.initializers]),
      },
    },
  };
}

/** So many normal numbers of variance 1, float32. */
function normal(n: NodeList, place: number, index: string, count: number): string {
  const f = (value: number): string => n.constant(floatTensor([value]));
  const like = n.node("ConstantOfShape", [n.integers(2 * count)]);
  const key = n.node("Add", [NOISE.seed, n.integers(place)]);
  const words = n.node("Cast", [n.own("RandomWords", [key, index, like])], { to: DType.float32 });
  const half = (from: number): string => n.node("Slice", [words, n.integers(from), n.integers(from + count)]);
  const u = n.node("Mul", [n.node("Add", [half(0), f(0.5)]), f(2 ** -32)]);
  const radius = n.node("Sqrt", [n.node("Mul", [n.node("Log", [u]), f(-2)])]);
  const angle = n.node("Mul", [half(count), f((2 * Math.PI) / 2 ** 32)]);
  return n.node("Mul", [radius, n.node("Cos", [angle])]);
}

function shapeOf({ name, dtype, shape }: ValueInfo, scale: number, refuse: (what: string) => never): readonly number[] {
  if (dtype !== DType.float32) refuse(`"${name}" is ${dtypeName(dtype)}: noise is added to float32`);
  if (!(scale > 0) || !Number.isFinite(scale))
    refuse(`the noise of "${name}" has the scale ${scale}: expected above 0`);
  if (shape === undefined || shape.some((dim) => typeof dim !== "number"))
    refuse(`the shape of "${name}" is open: noise needs a model that fixes it`);
  return shape as readonly number[];
}
