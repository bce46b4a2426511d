import { expect } from "chai";
import { ClaimStatus, Level, Side } from "../../../src/chain/structs.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import {
  afterPick,
  afterWorker,
  isProvable,
  opening,
  crossings,
  patterns,
  picks,
  proof,
  workerMoves,
  type ModelState,
  type Shape,
} from "../../../testkit/game/gameModel/rules.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, chainProgram, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { claimKey, createWorld, submitted } from "../../../testkit/protocol/world.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/** A program of any shape that the model covers. */
function randomChainProgram(prng: Prng): GameProgram {
  const ranges = Array.from({ length: 1 + prng.below(8) }, () => 1 + prng.below(prng.below(3) === 0 ? 8 : 3));
  return chainProgram(128 * (1 + prng.below(8)) - prng.below(127), ranges);
}

/** A trace with some elements changed after the execution, and sometimes a consistent one from a lie on. */
function randomLie(prng: Prng, subject: GameProgram): Trace {
  const lies = Array.from({ length: 1 + prng.below(4) }, () => prng.below(subject.program.steps.length));
  const tensors = executeReference(subject.model, [subject.input], {
    onStep: (step, tensor) => {
      if (prng.below(3) !== 0 && lies.includes(step)) tensor[4 * prng.below(tensor.length / 4)]! ^= 1;
    },
  });
  for (const step of lies) if (prng.below(2) === 0) tensors[step]![4 * prng.below(tensors[step]!.length / 4)]! ^= 2;
  return new Trace(subject.program, tensors);
}

/** One game on chain and in the model, side by side. */
class LockStep {
  readonly #prng: Prng;
  readonly #shape: Shape;
  readonly #game: GameDriver;
  readonly #honest: Trace;
  #state!: ModelState;

  constructor(prng: Prng, game: GameDriver) {
    this.#prng = prng;
    this.#shape = { arityBits: game.world.parameters.arityBits, flaw: "none" };
    this.#game = game;
    this.#honest = honestTrace(game.subject);
  }

  /** Plays any legal moves to the end. @returns What the model said of the proof and whether it held. */
  async play(): Promise<{ said: string; held: boolean }> {
    const game = this.#game;
    const { list } = game.trace;
    const levels = this.#prng.below(list.depth + 1);
    const index = Math.floor(this.#prng.below(list.width) / 2 ** (list.depth - levels));
    const root = opening(list.width, list.root === this.#honest.list.root);
    await game.open(levels, index);
    const same = list.node(list.depth - levels, index) === this.#honest.list.node(list.depth - levels, index);
    const at = {
      ...root,
      depth: list.depth - levels,
      index,
      same,
      clean: this.#cleanBefore(Level.trace, index, root.depth - levels),
    };
    this.#enter(crossings(at, this.#shape));
    for (;;) {
      const s = this.#state;
      if (isProvable(s)) return { said: proof(s), held: await this.#prove() };
      if (s.turn === Side.worker) await this.#worker(s);
      else await this.#challenger(s);
    }
  }

  async #worker(s: ModelState): Promise<void> {
    const game = this.#game;
    const moves = workerMoves(s, this.#shape, 8);
    const expands = s.level === Level.trace && s.depth === 0;
    // The other kind of move is refused.
    if (!expands && s.level !== Level.trace) await rejection(game.expand());
    if (expands) {
      await rejection(game.reveal());
      await game.expand();
      const children = this.#sameness(hopOf(game.state.depth, this.#shape.arityBits), game.state.depth, 0);
      const move = moves.find(
        (m) =>
          m.kind === "expand" && m.list.width === Number(game.state.width) && String(m.children) === String(children),
      );
      expect(move, "the model knows this expansion").to.not.equal(undefined);
      this.#follow(afterWorker(s, move!));
      return;
    }
    const leaf = s.depth === 0;
    const children = leaf ? [] : this.#sameness(hopOf(s.depth, this.#shape.arityBits), s.depth, s.index);
    if (!leaf) expect(patterns(s, this.#shape).map(String), "the model knows this reveal").to.include(String(children));
    await game.reveal();
    this.#follow(afterWorker(s, leaf ? { kind: "chunk" } : { kind: "reveal", children }));
  }

  async #challenger(s: ModelState): Promise<void> {
    const game = this.#game;
    const all = picks(s, this.#shape);
    const { levels, index } = this.#prng.pick(all);
    const depth = s.depth - levels;
    const [own, honest] = [this.#listOf(this.#game.trace), this.#listOf(this.#honest)];
    const same = own.node(depth, index) === honest.node(depth, index);
    const clean = s.clean && this.#cleanBefore(s.level, index, depth);
    const chosen = all.find((p) => p.levels === levels && p.index === index && p.same === same && p.clean === clean);
    expect(chosen, `the model knows this pick: ${JSON.stringify({ s, levels, index, same, clean })}`).to.not.equal(
      undefined,
    );
    const hop = hopOf(s.depth, this.#shape.arityBits);
    if (hop > 1) await rejection(game.pick(index * 2 ** depth, hop - 1));
    // Past the width, where there is such a node.
    const past = Math.ceil(s.width / 2 ** (s.depth - hop));
    if (past < (s.index + 1) * 2 ** hop) await rejection(game.pick(past * 2 ** (s.depth - hop), hop));
    await game.pick(index * 2 ** depth, levels);
    this.#enter(afterPick(s, chosen!, this.#shape));
  }

  /** Proves an element that differs, or else any. */
  async #prove(): Promise<boolean> {
    const game = this.#game;
    const { step, index } = game.state;
    const [own, honest] = [game.trace.tensor(step), this.#honest.tensor(step)];
    const first = 128 * Number(index);
    const elements = Array.from({ length: Math.min(128, own.length / 4 - first) }, (_, k) => first + k);
    const different = elements.find((e) => own[4 * e] !== honest[4 * e]);
    const element = different ?? this.#prng.pick(elements);
    return game.prove(element).then(
      () => true,
      () => false,
    );
  }

  /** Whether each of the children of a node is the honest one's. */
  #sameness(hop: number, depth: number, index: number): boolean[] {
    const [own, honest] = [this.#listOf(this.#game.trace), this.#listOf(this.#honest)];
    const first = index * 2 ** hop;
    return Array.from(
      { length: 2 ** hop },
      (_, k) => own.node(depth - hop, first + k) === honest.node(depth - hop, first + k),
    );
  }

  /** Whether every leaf left of a node is the honest one's. */
  #cleanBefore(level: number, index: number, depth: number): boolean {
    const lists =
      level === Level.trace
        ? [this.#game.trace.list, this.#honest.list]
        : [this.#listOf(this.#game.trace), this.#listOf(this.#honest)];
    // What is left of a chunk does not matter to the proof of an element in it.
    const leaves = Array.from({ length: index * 2 ** depth }, (_, k) => k);
    return leaves.every((k) => lists[0]!.node(0, k) === lists[1]!.node(0, k));
  }

  #listOf(trace: Trace): MerkleList {
    const { level, step } = this.#game.state;
    if (level === Level.trace) return trace.list;
    return level === Level.interior ? trace.interior(this.#game.checkpoint) : trace.tree(step);
  }

  /** Goes on in the one of the possible states that the program leads to. */
  #enter(possible: readonly ModelState[]): void {
    const { level, width } = this.#game.state;
    const next = possible.find((s) => s.level === level && s.width === Number(width));
    expect(next, "the model knows where this leads").to.not.equal(undefined);
    this.#follow(next!);
  }

  #follow(s: ModelState): void {
    const { level, turn, width, depth, index } = this.#game.state;
    const chain = { level, turn, width: Number(width), depth, index: Number(index) };
    expect(chain).to.deep.equal({ level: s.level, turn: s.turn, width: s.width, depth: s.depth, index: s.index });
    this.#state = s;
  }
}

describe("the model and the contract, in lock step", function () {
  for (const arityBits of [1, 2, 3]) {
    it(`arity2^${arityBits}_randomPlays_takeTheSameStates_andProofsComeOutAsTheModelSays`, async function () {
      const prng = new Prng(31 * arityBits);
      const world: World = await createWorld({ arityBits, bondGas: 4_000_000 });
      for (let n = 0; n < 5; n++) {
        const subject = randomChainProgram(prng);
        const trace = prng.below(4) === 0 ? honestTrace(subject) : randomLie(prng, subject);
        const claim = await submitted(world, subject, trace, { salt: `0x${n.toString(16).padStart(64, "0")}` });
        const { said, held } = await new LockStep(prng, new GameDriver(world, subject, trace, claim)).play();
        if (said !== "either") expect(held, said).to.equal(said === "holds");
        const [status] = await world.market.read.claimOf([claimKey(world, claim)]);
        expect(status).to.equal(held ? ClaimStatus.refuted : ClaimStatus.submitted);
        if (!held) await world.networkHelpers.time.increase(20_000);
      }
    });
  }
});
