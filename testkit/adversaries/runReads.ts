import { executeReference } from "../../src/executor/reference.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { int32Words } from "../programs/int32Words.ts";
import { RUN_COUNT, runInputBytes } from "../programs/runProgram.ts";
import type { Adversary } from "./adversary.ts";
import { Arena } from "./arena.ts";
import { WrongExecution } from "./executions.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Not more: a state doubles from item to item, and what is wrong in the first must be left in the last one's words. */
const ITEMS = 17;

/** Bytes of a tensor of the program. */
const BYTES = 4 * RUN_COUNT;

/** An item's inputs, as `runProgram` has them. */
type Given = { state: Uint8Array; x: Uint8Array; seed: Uint8Array; index: Uint8Array };

/** A liar's replacement for an item's given data. @param history The states in which the items up to now began. */
type Misread = (item: number, given: Given, history: readonly Uint8Array[]) => Partial<Given>;

/** A run's worker that reads wrong data in some items. All later items follow from the wrong data. */
class MisreadingWorker extends WrongExecution {
  readonly name: string;
  protected override readonly items = ITEMS;
  protected execute: Execute;
  protected override program: () => KnownProgram;
  protected override inputs = (): Uint8Array[] => runInputBytes(ITEMS);

  constructor(program: KnownProgram, name: string, misread: Misread) {
    super();
    this.name = name;
    this.program = () => program;
    const history: Uint8Array[] = [];
    this.execute = (model, [state, x, seed, index]) => {
      const given = { state: state!, x: x!, seed: seed!, index: index! };
      const item = Number(new DataView(index!.buffer, index!.byteOffset).getBigInt64(0, true));
      history[item] = given.state;
      const read = { ...given, ...misread(item, given, history) };
      return Promise.resolve(executeReference(model, [read.state, read.x, read.seed, read.index]));
    };
  }
}

/** Another item's own tensor. */
const xOf = (item: number): Uint8Array => runInputBytes(ITEMS)[1]!.subarray(item * BYTES, (item + 1) * BYTES);
const indexOf = (index: number): Uint8Array => new Uint8Array(BigInt64Array.of(BigInt(index)).buffer);
const isIn =
  (wanted: number, misread: Misread): Misread =>
  (item, ...given) =>
    item === wanted ? misread(item, ...given) : {};

/** Returns a liar for each kind of input read by a run's item. @param program Like `runProgram`, with any outputs. */
export const runReaders = (program: KnownProgram): Adversary[] =>
  RUN_LIES.map(({ name, misread }) => new MisreadingWorker(program, name, misread));

/** The liars' misreadings. */
const RUN_LIES: readonly { name: string; misread: Misread }[] = [
  {
    name: "begins with another state than the job's",
    misread: isIn(0, () => ({ state: int32Words(RUN_COUNT, () => 1) })),
  },
  {
    name: "carries the state of two items before",
    misread: isIn(11, (item, _, history) => ({ state: history[item - 1]! })),
  },
  { name: "begins anew at every item", misread: (_, __, history) => ({ state: history[0]! }) },
  {
    name: "carries a state in which one bit is wrong",
    misread: isIn(ITEMS - 1, (_, { state }) => ({
      state: state.map((byte, k) => (k === BYTES - 1 ? byte ^ 128 : byte)),
    })),
  },
  { name: "reads the next item's own tensor", misread: isIn(14, (item) => ({ x: xOf(item + 1) })) },
  { name: "reads the first item's own tensor for all", misread: () => ({ x: xOf(0) }) },
  { name: "takes the items in reverse order", misread: (item) => ({ x: xOf(ITEMS - 1 - item) }) },
  { name: "reads another shared tensor in one item", misread: isIn(13, (_, { x }) => ({ seed: x })) },
  { name: "counts the items from 1", misread: (item) => ({ index: indexOf(item + 1) }) },
  { name: "counts one item twice", misread: isIn(8, (item) => ({ index: indexOf(item - 1) })) },
  { name: "counts beyond the run", misread: isIn(5, (item) => ({ index: indexOf(65_536 + item) })) },
];

/** Creates an arena whose watcher knows the liars' program. */
export async function runArena(program: KnownProgram, form: ClaimForm): Promise<Arena> {
  const arena = await Arena.create({ form });
  await arena.startWatcher([program]);
  return arena;
}
