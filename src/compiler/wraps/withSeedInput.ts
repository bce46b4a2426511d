import { DType } from "../../numerics/dtype.ts";
import type { Model, ValueInfo } from "../../model/onnx/model.ts";
import { SeedInputError } from "../errors.ts";
import type { RunWiring } from "../runWiring.ts";

/** The inputs that random operators draw from: a seed, int64[1], and the item's number where items have none yet. */
const RANDOM = { seed: "random_seed", index: "random_index" } as const;

/**
 * Returns the model with random operators that draw from a job input, `random_seed`: the same program gives another
 * result for another seed. In a run other than a batch, an item's draws also depend on the item's number; in a batch
 * each item has a separate seed. Item 0 draws the same numbers as with an equal seed given to the compiler.
 * @throws SeedInputError if the model already uses such a name
 */
export function withSeedInput(model: Model, run: RunWiring | undefined): { model: Model; run: RunWiring | undefined } {
  const { graph, source } = model;
  const made = [...graph.initializers.keys(), ...graph.nodes.flatMap(({ outputs }) => outputs)];
  const taken = [...made, ...graph.inputs.map(({ name }) => name)].find(
    (name) => name === RANDOM.seed || name === RANDOM.index,
  );
  if (taken !== undefined)
    throw new SeedInputError(`${source}: it has a value "${taken}" of its own, a name that --seed-input needs`);
  const hasNumbers = run !== undefined && run.batch !== true;
  const given = hasNumbers ? run.index?.[0] : undefined;
  const isAdded = hasNumbers && given === undefined;
  const index = isAdded ? RANDOM.index : given;
  const int64 = (name: string): ValueInfo => ({ name, dtype: DType.int64, shape: [1] });
  return {
    run: isAdded ? { ...run, index: [RANDOM.index] } : run,
    model: {
      ...model,
      seedInputs: { seed: RANDOM.seed, ...(index !== undefined && { index }) },
      graph: { ...graph, inputs: [int64(RANDOM.seed), ...(isAdded ? [int64(RANDOM.index)] : []), ...graph.inputs] },
    },
  };
}
