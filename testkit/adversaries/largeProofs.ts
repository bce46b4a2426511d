import { compile } from "../../src/compiler/compile.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { buildModel, type ModelSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";
import { Adversary } from "./adversary.ts";
import type { Arena } from "./arena.ts";
import type { Verdict } from "./verdict.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** The size of the input. A constant scales the input up, because the attack's own transactions are small. */
const INPUT_BYTES = 512;
const COLUMNS = INPUT_BYTES / 4;

/** The number of rows in a window or in a sum. A proof would have to open at least one chunk per row. */
const WINDOW = 250;
const ROWS = 300;

/** More seconds than the clocks of a game and a job's window together. */
const EVERYTHING_OVER = 200_000;

type Graph = Pick<ModelSpec, "nodes" | "initializers"> & { output: readonly number[] };

const constant = (...shape: number[]) => {
  const prng = new Prng(5);
  const count = shape.reduce((product, extent) => product * extent, 1);
  return floatTensor(
    Array.from({ length: count }, () => (prng.below(2_001) - 1_000) / 512),
    shape,
  );
};

/** A program with a single input of 512 bytes, compiled with the compiler's own limits. */
const programOf = ({ output, ...graph }: Graph): KnownProgram =>
  knownProgram(
    compile(
      readModel(
        buildModel({
          ...graph,
          inputs: [{ name: "x", dtype: DType.float32, shape: [1, COLUMNS] }],
          outputs: [{ name: "y", dtype: DType.float32, shape: output }],
        }),
      ),
      { shapes: {} },
    ),
  );

/** Sums along the first axis over 300 rows with two chunks each. */
const sumsOfRows = (): KnownProgram =>
  programOf({
    initializers: { scale: constant(ROWS, 2 * COLUMNS), axis: int64Tensor([0], []) },
    nodes: [
      { op: "Concat", inputs: ["x", "x"], outputs: ["twice"], attributes: { axis: 1 } },
      { op: "Mul", inputs: ["twice", "scale"], outputs: ["scaled"] },
      { op: "CumSum", inputs: ["scaled", "axis"], outputs: ["y"] },
    ],
    output: [ROWS, 2 * COLUMNS],
  });

/** The sum of a diagonal's 300 squared numbers: no two numbers share a chunk. */
const sumOfSquares = (): KnownProgram =>
  programOf({
    initializers: { scale: constant(ROWS, 1), wide: constant(COLUMNS, ROWS) },
    nodes: [
      { op: "MatMul", inputs: ["x", "wide"], outputs: ["row"] },
      { op: "Mul", inputs: ["row", "scale"], outputs: ["scaled"] },
      { op: "Einsum", inputs: ["scaled", "scaled"], outputs: ["y"], attributes: { equation: "ii,ii->" } },
    ],
    output: [],
  });

/** A window of 250 rows over an image. Each row fills a chunk. */
const tallWindow = (op: "Conv" | "MaxPool"): KnownProgram =>
  programOf({
    initializers: {
      scale: constant(1, 1, WINDOW, COLUMNS),
      ...(op === "Conv" ? { weights: constant(1, 1, WINDOW, 1) } : {}),
    },
    nodes: [
      { op: "Mul", inputs: ["x", "scale"], outputs: ["image"] },
      {
        op,
        inputs: op === "Conv" ? ["image", "weights"] : ["image"],
        outputs: ["y"],
        attributes: { kernel_shape: [WINDOW, 1] },
      },
    ],
    output: [1, 1, 1, COLUMNS],
  });

/** A lie in the output's last element. The proof would have to open a chunk for each term of the element. */
class LieBehindALargeProof extends Adversary {
  readonly expected = "refuted by a proof";

  readonly name: string;
  readonly make: () => KnownProgram;

  constructor(name: string, make: () => KnownProgram) {
    super();
    this.name = name;
    this.make = make;
  }

  async attack(arena: Arena): Promise<Verdict> {
    const program = this.make();
    const executors = new FastExecutors();
    await arena.startWatcher([program], executors.execute);
    const posted = await arena.post(program, [constant(COLUMNS).bytes], { maxOutputBytes: 0 });
    const key = await arena.players.workerKey();
    const own = await arena.wealth(arena.watcherKey);
    const liar = await arena.players.startWorker(key, program, lyingAtTheEnd(executors.execute));
    const verdict = await ending(arena, posted).finally(async () => {
      await liar.stop();
      await arena.startWatcher();
      await executors.close();
    });
    if (verdict === this.expected && (await arena.wealth(arena.watcherKey)) <= own)
      throw new Error("the watcher gained nothing");
    return verdict;
  }
}

/** Changes the last number of the first output, and nothing earlier. */
const lyingAtTheEnd =
  (execute: Execute): Execute =>
  async (model, inputs) => {
    const { checkpoints, outputs } = model.program;
    const { step } = checkpoints[outputs[0]!]!;
    const tensors = [...(await execute(model, inputs))];
    const wrong = Uint8Array.from(tensors[step]!);
    wrong[wrong.length - 1]! ^= 0x3f;
    tensors[step] = wrong;
    return tensors;
  };

/** How the claim ends. If nobody can refute it, all clocks run out. */
async function ending(arena: Arena, posted: Awaited<ReturnType<Arena["post"]>>): Promise<Verdict> {
  const { id } = await arena.claimOn(posted);
  const isRefuted = () =>
    arena.until("the refutation", ({ claims }) => claims.get(id)?.refuted === true || undefined).catch(() => false);
  if (await isRefuted()) return arena.death(posted);
  await arena.players.chain.advance(EVERYTHING_OVER);
  await arena.until("the claim's end", ({ claims }) => {
    const { refuted = false, finalised = false } = claims.get(id) ?? {};
    return refuted || finalised || undefined;
  });
  return (await arena.history()).claims.get(id)!.refuted ? arena.death(posted) : "finalised";
}

export const LARGE_PROOFS: readonly Adversary[] = [
  new LieBehindALargeProof("a lie in a sum over the rows of a large tensor", sumsOfRows),
  new LieBehindALargeProof("a lie in a sum over a diagonal", sumOfSquares),
  new LieBehindALargeProof("a lie in a convolution with a tall window", () => tallWindow("Conv")),
  new LieBehindALargeProof("a lie in a maximum over a tall window", () => tallWindow("MaxPool")),
];
