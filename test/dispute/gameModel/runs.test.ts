import { expect } from "chai";
import { Level, Side } from "../../../src/chain/structs.ts";
import { pickBelow } from "../../../src/dispute/pick.ts";
import { buildStepProof } from "../../../src/dispute/stepProof.ts";
import { listOf } from "../../../src/dispute/workerMove.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { hopOf } from "../../../src/market/hop.ts";
import type { GameState } from "../../../src/market/state.ts";
import type { MerkleList } from "../../../src/merkle/list.ts";
import { chunkOf } from "../../../src/merkle/tensor.ts";
import { checkpointOf } from "../../../src/dispute/openings.ts";
import type { KnownProgram } from "../../../src/player/execution.ts";
import type { RunExecution } from "../../../src/player/runExecution.ts";
import { DisputedList } from "../../../src/trace/disputedList.ts";
import { RunInputs } from "../../../src/trace/runInputs.ts";
import { explore } from "../../../testkit/game/gameModel/explore.ts";
import {
  afterPick,
  afterWorker,
  crossings,
  isProvable,
  opening,
  patterns,
  picks,
  proof,
  workerMoves,
  type ModelState,
  type Shape,
} from "../../../testkit/game/gameModel/rules.ts";
import { runInputBytes, runProgram, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { createWorld, type World } from "../../../testkit/protocol/world.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { executedRun } from "../../../testkit/soak/executedRun.ts";

/** Elements of a chunk of int32. */
const CHUNK = 128;

const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

/** A run of which all items are held; in those that `lies` names, elements are changed while computed or later. */
function runWith(program: KnownProgram, items: number, prng: Prng, lies: ReadonlySet<number>): RunExecution {
  const { model } = program;
  const inputs = new RunInputs(model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));
  const change = (tensor: Uint8Array): void => void (tensor[4 * prng.below(tensor.length / 4)]! ^= 1);
  return executedRun({ known: program, inputs }, (item, own) => {
    const lied = lies.has(item) ? prng.below(model.program.steps.length) : -1;
    const late = prng.below(2) === 0;
    const tensors = executeReference(model, own, {
      onStep: (step, tensor) => step === lied && !late && change(tensor),
    });
    if (lied !== -1 && late) change(tensors[lied]!);
    return tensors;
  });
}

/** One game about a run on chain and in the model, side by side. */
class LockStep {
  readonly #prng: Prng;
  readonly #shape: Shape;
  readonly #game: RunGame;
  readonly #own: RunExecution;
  readonly #honest: RunExecution;
  #state!: ModelState;

  constructor(prng: Prng, world: World, claimed: ClaimedRun, honest: RunExecution) {
    [this.#prng, this.#own, this.#honest] = [prng, claimed.worker.run, honest];
    this.#shape = { arityBits: world.parameters.arityBits, flaw: "none" };
    this.#game = new RunGame(world, claimed, claimed.worker);
  }

  /** Plays any legal moves to the end. @returns What the model said of the proof and whether it held. */
  async play(): Promise<{ said: string; held: boolean }> {
    const { list, program } = this.#own;
    const root = opening(list.width, list.root === this.#honest.root, Level.run);
    const levels = this.#prng.below(list.depth + 1);
    const depth = list.depth - levels;
    const different = range(list.width).find((k) => list.node(0, k) !== this.#honest.list.node(0, k));
    const leaf = this.#prng.below(3) === 0 ? this.#prng.below(list.width) : (different ?? 0);
    const index = Math.floor(leaf / 2 ** depth);
    const landing = { depth, index, node: list.node(depth, index), siblings: list.path(index, depth) };
    await this.#game.open(pickBelow(program, { level: Level.run, first: 0 } as GameState, landing));
    const same = landing.node === this.#honest.list.node(depth, index);
    const clean = isCleanBefore(list, this.#honest.list, index * 2 ** depth);
    this.#enter(crossings({ ...root, depth, index, same, clean }, this.#shape));
    for (;;) {
      const s = this.#state;
      if (isProvable(s)) return { said: proof(s), held: await this.#prove() };
      if (s.turn === Side.worker) await this.#worker(s);
      else await this.#challenger(s);
    }
  }

  async #worker(s: ModelState): Promise<void> {
    await this.#game.answer();
    const expands = s.level === Level.trace && s.depth === 0;
    const { depth, index, width } = this.#game.state;
    if (s.level === Level.tensor && s.depth === 0) return this.#follow(afterWorker(s, { kind: "chunk" }));
    const children = this.#sameness(depth, index);
    if (!expands) {
      expect(patterns(s, this.#shape).map(String), "the model knows this reveal").to.include(String(children));
      return this.#follow(afterWorker(s, { kind: "reveal", children }));
    }
    const move = workerMoves(s, this.#shape).find(
      (m) => m.kind === "expand" && m.width === width && String(m.children) === String(children),
    );
    expect(move, "the model knows this expansion").to.not.equal(undefined);
    this.#follow(afterWorker(s, move!));
  }

  async #challenger(s: ModelState): Promise<void> {
    const all = picks(s, this.#shape);
    // Often what the watcher picks: the first that differs of those shown.
    const different = all.find(({ same, levels }) => !same && levels === all[0]!.levels);
    const { levels, index } = this.#prng.below(3) === 0 ? this.#prng.pick(all) : (different ?? this.#prng.pick(all));
    const depth = s.depth - levels;
    const [own, honest] = this.#lists();
    const same = own.node(depth, index) === honest.node(depth, index);
    const clean = s.clean && isCleanBefore(own, honest, index * 2 ** depth);
    const chosen = all.find((p) => p.levels === levels && p.index === index && p.same === same && p.clean === clean);
    expect(chosen, "the model knows this pick").to.not.equal(undefined);
    const landing = { depth, index, node: own.node(depth, index), siblings: own.path(index, depth, s.depth) };
    await this.#game.pick(pickBelow(this.#own.program, this.#game.state, landing));
    this.#enter(afterPick(s, chosen!, this.#shape));
  }

  /** Proves an element that differs, or else any, by what the worker has. */
  async #prove(): Promise<boolean> {
    const { item, step, first, last, index } = this.#game.state;
    const { trace, ...program } = this.#own.item(item);
    const [own, honest] = [trace.tensor(step), this.#honest.item(item).trace.tensor(step)];
    const elements = range(Math.min(CHUNK, own.length / 4 - CHUNK * index)).map((k) => CHUNK * index + k);
    const element = elements.find((e) => own[4 * e] !== honest[4 * e]) ?? this.#prng.pick(elements);
    const disputed = {
      run: new DisputedList(this.#own.list),
      trace: new DisputedList(trace.list),
      interior: new DisputedList(trace.interior(checkpointOf(program, last))),
    };
    const target = { item, step, first, element, chunk: chunkOf(own, index) };
    return this.#game.prove(buildStepProof(this.#own, disputed, target).proof).then(
      () => true,
      () => false,
    );
  }

  /** Whether each of the children just shown of a node is the honest one's. */
  #sameness(depth: number, index: number): boolean[] {
    const [own, honest] = this.#lists();
    const hop = hopOf(depth, this.#shape.arityBits);
    return range(2 ** hop)
      .map((c) => index * 2 ** hop + c)
      .map((k) => own.node(depth - hop, k) === honest.node(depth - hop, k));
  }

  /** The list that the game is in, as the worker and as the honest execution have it. */
  #lists(): [MerkleList, MerkleList] {
    return [listOf(this.#own, this.#game.state), listOf(this.#honest, this.#game.state)];
  }

  /** Goes on in the one of the possible states that the program leads to. */
  #enter(possible: readonly ModelState[]): void {
    const { level, width } = this.#game.state;
    const next = possible.find((s) => s.level === level && s.width === width);
    expect(next, "the model knows where this leads").to.not.equal(undefined);
    this.#follow(next!);
  }

  #follow(s: ModelState): void {
    const { level, turn, width, depth, index } = this.#game.state;
    const model = { level: s.level, turn: s.turn, width: s.width, depth: s.depth, index: s.index };
    expect({ level, turn, width, depth, index }).to.deep.equal(model);
    this.#state = s;
  }
}

/** Whether the first leaves of two lists are the same. */
function isCleanBefore(own: MerkleList, honest: MerkleList, leaves: number): boolean {
  return range(leaves).every((k) => own.node(0, k) === honest.node(0, k));
}

describe("the rules of runs", () => {
  it("itemBefore_unproven_aWrongRunStands", () => {
    const { lostByTheWatcher, lostByAll } = explore({ arityBits: 2, flaw: "item before unproven" }, 5);
    expect(lostByTheWatcher).to.be.above(0);
    expect(lostByAll).to.be.above(0);
  });

  for (const arityBits of [1, 2, 3]) {
    it(`model_andContract_inLockStep_withArity2^${arityBits}`, async () => {
      const prng = new Prng(77 * arityBits);
      const world = await createWorld({ arityBits, bondGas: 4_000_000 });
      const verdicts = new Map<string, number>();
      for (let n = 0; n < 24; n++) {
        const program = runProgram((["two", "one", "step"] as const satisfies RunRanges[])[n % 3]);
        const items = 2 + prng.below(7);
        const honest = runWith(program, items, prng, new Set());
        const lies = new Set(prng.below(4) === 0 ? [] : [prng.below(items), prng.below(items)]);
        const run = runWith(program, items, prng, lies);
        const snapshot = await world.networkHelpers.takeSnapshot();
        const claimed = await claimedRun(world, { run, execute: executionOf() });
        const { said, held } = await new LockStep(prng, world, claimed, honest).play();
        if (said !== "either") expect(held, said).to.equal(said === "holds");
        verdicts.set(`${said} ${held}`, (verdicts.get(`${said} ${held}`) ?? 0) + 1);
        await snapshot.restore();
      }
      console.log(`      the model says, and the contract: ${JSON.stringify(Object.fromEntries(verdicts))}`);
      expect(verdicts.get("holds true") ?? 0).to.be.above(0);
      expect(verdicts.get("fails false") ?? 0).to.be.above(0);
    });
  }
});
