import { compile } from "../../src/compiler/compile.ts";
import type { RunWiring } from "../../src/compiler/runWiring.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import type { JobTerms } from "../../src/parties/requester/postJob.ts";
import { mlpBytes, mlpInput, seededWeights } from "../models/mlp.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { reference } from "../players/players.ts";
import { Prng } from "../random/prng.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A job about a model that a process reads from a file, and an execution with one wrong item. */
export type KilledJob = {
  name: string;
  bytes: Uint8Array;
  run?: RunWiring;
  program: KnownProgram;
  inputs: readonly Uint8Array[];
  terms: Partial<JobTerms>;
  wrong: Execute;
};

/** The seed makes the weights and the inputs. */
type MakeJob = (seed: number) => KilledJob;

const ITEMS = 5;

/** The position of the lie. The first step's tensor has enough elements. */
const LIE = { step: 0, element: 150 };
const WIDTH = 200;

/**
 * Returns a network that accumulates its inputs: h -> Relu(x w + h), and y = v times the first ten numbers of the new
 * state.
 */
function recurrentBytes(seed: number): Uint8Array {
  const prng = new Prng(seed);
  const weights = (rows: number, columns: number) => seededWeights(prng, rows, columns);
  return buildModel({
    inputs: [
      { name: "h", dtype: DType.float32, shape: [1, WIDTH] },
      { name: "x", dtype: DType.float32, shape: [1, 64] },
    ],
    outputs: [
      { name: "next", dtype: DType.float32, shape: [1, WIDTH] },
      { name: "y", dtype: DType.float32, shape: [1, 10] },
    ],
    initializers: { w: weights(64, WIDTH), v: weights(WIDTH, 10) },
    nodes: [
      { op: "MatMul", inputs: ["x", "w"], outputs: ["xw"] },
      { op: "Add", inputs: ["xw", "h"], outputs: ["sum"] },
      { op: "Relu", inputs: ["sum"], outputs: ["next"] },
      { op: "MatMul", inputs: ["next", "v"], outputs: ["y"] },
    ],
  });
}

const programOf = (bytes: Uint8Array, run?: RunWiring): KnownProgram =>
  knownProgram(compile(readModel(bytes), { shapes: {}, ...(run && { run }) }));

/** Executes by the definition, but for a lie in the item that has this input. */
const wrongAt =
  (own: Uint8Array): Execute =>
  (...given) =>
    reference(given[1].some((input) => Buffer.compare(input, own) === 0) ? LIE : undefined)(...given);

const tensorsOfItems = (seed: number): Uint8Array[] => Array.from({ length: ITEMS }, (_, k) => mlpInput(seed + 10 * k));

const single =
  (form: "trace" | "answer"): MakeJob =>
  (seed) => {
    const bytes = mlpBytes(seed);
    const job = { bytes, program: programOf(bytes), inputs: [mlpInput(seed)], wrong: reference(LIE) };
    return { name: `one item, ${form}`, ...job, terms: { answer: form === "answer" } };
  };

/** Items that take the state from the item before. The last item gives the output. */
const carried =
  (form: "trace" | "answer"): MakeJob =>
  (seed) => {
    const bytes = recurrentBytes(seed);
    const run = { each: ["x"], carried: { h: "next" } };
    const items = tensorsOfItems(seed);
    const inputs = [new Uint8Array(4 * WIDTH), Buffer.concat(items)];
    const job = { bytes, run, program: programOf(bytes, run), inputs, wrong: wrongAt(items[2]!) };
    return { name: `items that carry state, ${form}`, ...job, terms: { items: ITEMS, answer: form === "answer" } };
  };

/** Items apart from each other, each with its output. */
const batch: MakeJob = (seed) => {
  const bytes = mlpBytes(seed);
  const run = { batch: true } as const;
  const items = tensorsOfItems(seed);
  const job = { bytes, run, program: programOf(bytes, run), inputs: [Buffer.concat(items)], wrong: wrongAt(items[3]!) };
  return { name: "a batch, answer", ...job, terms: { items: ITEMS, answer: true } };
};

/** Jobs with one item or several items, about traces and about answers. */
export const KILLED_JOBS = {
  trace: single("trace"),
  answer: single("answer"),
  carriedTrace: carried("trace"),
  carriedAnswer: carried("answer"),
  batchAnswer: batch,
} as const satisfies Record<string, MakeJob>;
