import { expect } from "chai";
import { ClaimStatus, Level, Side } from "../../../src/chain/structs.ts";
import { expansionOf } from "../../../src/dispute/expansion.ts";
import { pickAt, pickBelow } from "../../../src/dispute/pick.ts";
import { buildStepProof } from "../../../src/dispute/stepProof.ts";
import { listOf } from "../../../src/dispute/workerMove.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import type { ClaimForm } from "../../../src/chain/market/claimForm.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import type { GameState } from "../../../src/chain/market/state.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { chunkOf } from "../../../src/program/merkle/tensor.ts";
import { checkpointOf } from "../../../src/dispute/openings.ts";
import type { KnownProgram } from "../../../src/dispute/run/execution.ts";
import type { RunExecution } from "../../../src/dispute/run/runExecution.ts";
import { DisputedList } from "../../../src/program/trace/disputedList.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import {
  afterPick,
  afterWorker,
  crossings,
  isProvable,
  opening,
  outputOpening,
  patterns,
  picks,
  proof,
  workerMoves,
  type ModelState,
  type Shape,
} from "../../../testkit/game/gameModel/rules.ts";
import { everyFourth } from "../../../testkit/atLength.ts";
import { apartAnswers, carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { runInputBytes, runProgram, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import { executionOf } from "../../../testkit/programs/runsOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { claimKey, createWorld } from "../../../testkit/protocol/world.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { executedRun } from "../../../testkit/soak/executedRun.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";

/** Elements of a chunk of int32. */
const CHUNK = 128;

const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

/** Items of which elements are changed, while they are computed or later. */
type Lies = ReadonlySet<number>;

/** A run of which all items are held, with those lies. */
function runWith(
  known: KnownProgram,
  { items, form }: { items: number; form: ClaimForm },
  prng: Prng,
  lies: Lies,
): RunExecution {
  const { program } = known.model;
  const inputs = new RunInputs(program.inputs, { items, firstItem: 0 }, runInputBytes(items));
  const change = (tensor: Uint8Array): void => void (tensor[4 * prng.below(tensor.length / 4)]! ^= 1);
  return executedRun({ known, inputs, form }, (item, own) => {
    const lied = lies.has(item) ? prng.below(program.steps.length) : -1;
    const late = prng.below(2) === 0;
    const tensors = executeReference(known.model, own, {
      onStep: (step, tensor) => step === lied && !late && change(tensor),
    });
    if (lied !== -1 && late) change(tensors[lied]!);
    return tensors;
  });
}

/** What a proof comes to: what the model says of it, and whether the contract took it. */
type Ending = { said: string; held: boolean };

/** One game about a run on chain and in the model, side by side. */
class LockStep {
  readonly #prng: Prng;
  readonly #shape: Shape;
  readonly #game: RunGame;
  readonly #own: RunExecution;
  readonly #honest: RunExecution;
  readonly #number: number;
  /** The checkpoint that the disputed output of an answer is. */
  #checkpoint: number | undefined;
  #state!: ModelState;
  /** The lists that the game was in. */
  readonly levels = new Set<number>();

  /** @param number Of the game; its worker answers by the claimed run. */
  constructor(prng: Prng, world: World, claimed: ClaimedRun, honest: RunExecution, number: number) {
    [this.#prng, this.#own, this.#honest] = [prng, claimed.worker.run, honest];
    this.#shape = { arityBits: world.parameters.arityBits, flaw: "none" };
    this.#game = new RunGame(world, claimed, claimed.worker);
    this.#number = number;
  }

  /** Opens the game. */
  async open(): Promise<void> {
    if (this.#own.form === "answer") return this.#openOutput();
    const { list, program } = this.#own;
    const root = opening(list.width, list.root === this.#honest.runRoot, Level.run);
    const levels = this.#prng.below(list.depth + 1);
    const depth = list.depth - levels;
    const different = range(list.width).find((k) => list.node(0, k) !== this.#honest.list.node(0, k));
    const leaf = this.#prng.below(3) === 0 ? this.#prng.below(list.width) : (different ?? 0);
    const index = Math.floor(leaf / 2 ** depth);
    const landing = { depth, index, node: list.node(depth, index), siblings: list.path(index, depth) };
    await this.#game.open(pickBelow(program, { level: Level.run, first: 0 } as GameState, landing), this.#number);
    const same = landing.node === this.#honest.list.node(depth, index);
    const clean = isCleanBefore(list, this.#honest.list, index * 2 ** depth);
    this.#enter(crossings({ ...root, depth, index, same, clean }, this.#shape));
  }

  /** Plays any legal move. @returns undefined until a proof ends the game, or fails. */
  async move(): Promise<Ending | undefined> {
    const s = this.#state;
    if (isProvable(s)) return { said: proof(s), held: await this.#prove() };
    if (s.turn === Side.worker) await this.#worker(s);
    else await this.#challenger(s);
    return undefined;
  }

  /** At an output, often one that differs. */
  async #openOutput(): Promise<void> {
    const { list } = this.#own.answer;
    const outputs = range(list.width);
    const different = outputs.find((k) => list.node(0, k) !== this.#honest.answer.list.node(0, k));
    const output = this.#prng.below(3) === 0 ? this.#prng.pick(outputs) : (different ?? this.#prng.pick(outputs));
    const pick = (depth: number) => {
      const index = output >> depth;
      return pickAt(this.#own, { depth, index, node: list.node(depth, index), siblings: list.path(index, depth) });
    };
    // All outputs were submitted: there is nothing to reveal above them.
    if (list.depth > 0) await rejection(this.#game.open(pick(list.depth), this.#number));
    await this.#game.open(pick(0), this.#number);
    await rejection(this.#game.open(pick(0), this.#number));
    this.#checkpoint = this.#own.program.model.program.outputs[output]!;
    const same = list.node(0, output) === this.#honest.answer.list.node(0, output);
    this.#enter(crossings(outputOpening(list.width, output, same), this.#shape));
  }

  async #worker(s: ModelState): Promise<void> {
    const expands = s.level !== Level.tensor && s.depth === 0;
    if (expands && s.level !== Level.trace) await this.#refusedAtOutput(s);
    await this.#game.answer();
    const { depth, index, width } = this.#game.state;
    if (s.level === Level.tensor && s.depth === 0) return this.#follow(afterWorker(s, { kind: "chunk" }));
    const children = this.#sameness(depth, index);
    if (!expands) {
      expect(patterns(s, this.#shape).map(String), "the model knows this reveal").to.include(String(children));
      return this.#follow(afterWorker(s, { kind: "reveal", children }));
    }
    const move = workerMoves(s, this.#shape).find(
      (m) =>
        m.kind === "expand" &&
        m.list.width === width &&
        this.#isAtOutput(m.list) &&
        String(m.children) === String(children),
    );
    expect(move, "the model knows this expansion").to.not.equal(undefined);
    this.#follow(afterWorker(s, move!));
  }

  /** At an output there is nothing to reveal; a list that does not hold a wrong one is refused. */
  async #refusedAtOutput({ same }: ModelState): Promise<void> {
    const { list, path } = expansionOf(this.#honest, this.#game.state);
    const hop = hopOf(list.depth, this.#shape.arityBits);
    const children = range(2 ** hop).map((k) => list.node(list.depth - hop, k));
    const data = `0x${children.map((child) => child.slice(2)).join("")}` as const;
    await rejection(this.#game.reveal(data));
    if (!same) await rejection(this.#game.expand(data, path.slice(0, path.length - hop)));
  }

  /** Whether a trace of the model that holds the disputed output has it where the program has it. */
  #isAtOutput({ level, bound }: ModelState): boolean {
    return level !== Level.trace || bound === undefined || bound.index === this.#checkpoint;
  }

  async #challenger(s: ModelState): Promise<void> {
    const all = picks(s, this.#shape);
    // Often what the watcher picks: the first that differs of those shown.
    const different = all.find(({ same, levels }) => !same && levels === all[0]!.levels);
    const { levels, index } = this.#prng.below(3) === 0 ? this.#prng.pick(all) : (different ?? this.#prng.pick(all));
    const depth = s.depth - levels;
    const [own, honest] = this.#lists();
    const same = own.node(depth, index) === honest.node(depth, index);
    const clean = s.clean && (s.level === Level.items || isCleanBefore(own, honest, index * 2 ** depth));
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
    const next = possible.find((s) => s.level === level && s.width === width && this.#isAtOutput(s));
    expect(next, "the model knows where this leads").to.not.equal(undefined);
    this.#follow(next!);
  }

  #follow(s: ModelState): void {
    const { level, turn, width, depth, index } = this.#game.state;
    const model = { level: s.level, turn: s.turn, width: s.width, depth: s.depth, index: s.index };
    expect({ level, turn, width, depth, index }).to.deep.equal(model);
    this.#state = s;
    this.levels.add(level);
  }
}

/** Whether the first leaves of two lists are the same. */
function isCleanBefore(own: MerkleList, honest: MerkleList, leaves: number): boolean {
  return range(leaves).every((k) => own.node(0, k) === honest.node(0, k));
}

/** The same run but for one tensor that no output shows, if there is one: what a worker may show in another game. */
function otherFace(run: RunExecution, prng: Prng): RunExecution {
  const { program: known, inputs, form } = run;
  for (let tries = 0; tries < 8; tries++) {
    const [item, step] = [prng.below(run.items), prng.below(known.model.program.steps.length)];
    const face = executedRun({ known, inputs, form }, (k) => {
      const { trace } = run.item(k);
      const tensors = known.model.program.steps.map((_, s) => Uint8Array.from(trace.tensor(s)));
      if (k === item) tensors[step]![4 * prng.below(tensors[step]!.length / 4)]! ^= 1;
      return tensors;
    });
    if (face.root === run.root) return face;
  }
  return run;
}

const RANGES = ["two", "one", "step"] as const satisfies RunRanges[];

/** The games of a claim, played side by side, each in lock step with the model. @returns What came of their proofs. */
async function played(prng: Prng, games: readonly LockStep[]): Promise<Ending[]> {
  for (const game of games) await game.open();
  const endings = new Map<LockStep, Ending>();
  for (;;) {
    const open = games.filter((game) => !endings.has(game));
    if (open.length === 0) return [...endings.values()];
    const game = prng.pick(open);
    const ending = await game.move();
    if (ending !== undefined) endings.set(game, ending);
    // The claim is dead, and all its games with it.
    if (ending?.held === true) return [...endings.values()];
  }
}

describe("the rules of runs", () => {
  const forms = ["trace", "answer"] as const;
  const shapes = forms.flatMap((form) => [1, 2, 3].map((arityBits) => [form, arityBits] as const));
  for (const [form, arityBits] of everyFourth(shapes, 0)) {
    it(`model_andContract_inLockStep_withArity2^${arityBits}_inTheFormOf_${form}`, async () => {
      const prng = new Prng(77 * arityBits + (form === "answer" ? 5 : 0));
      const world = await createWorld({ arityBits, bondGas: 4_000_000 });
      const verdicts = new Map<string, number>();
      const levels = new Set<number>();
      for (let n = 0; n < 12; n++) {
        const ranges = RANGES[n % 3]!;
        const answers = n % 2 === 0 ? carriedAnswers(ranges) : apartAnswers(ranges);
        const program = form === "trace" ? runProgram(ranges) : answers;
        const items = form === "trace" ? 2 + prng.below(7) : 1 + prng.below(8);
        const honest = runWith(program, { items, form }, prng, new Set());
        const lies = new Set(prng.below(4) === 0 ? [] : [prng.below(items), prng.below(items)]);
        const run = runWith(program, { items, form }, prng, lies);
        const snapshot = await world.networkHelpers.takeSnapshot();
        const claimed = await claimedRun(world, { run, execute: executionOf() });
        // A worker of an answer may show each game another run.
        const faces = form === "trace" ? [run] : [run, otherFace(run, prng)];
        const games = faces.map((face, k) => {
          const shown = { ...claimed, worker: { ...claimed.worker, run: face } };
          return new LockStep(prng, world, shown, honest, 7 * k);
        });
        const endings = await played(prng, games);
        games.forEach((game) => game.levels.forEach((level) => levels.add(level)));
        for (const { said, held } of endings) {
          if (said !== "either") expect(held, said).to.equal(said === "holds");
          verdicts.set(`${said} ${held}`, (verdicts.get(`${said} ${held}`) ?? 0) + 1);
        }
        const [status] = await world.market.read.claimOf([claimKey(world, claimed.claim)]);
        const isRefuted = endings.some(({ held }) => held);
        expect(status).to.equal(isRefuted ? ClaimStatus.refuted : ClaimStatus.submitted);
        await snapshot.restore();
      }
      console.log(`      the model says, and the contract: ${JSON.stringify(Object.fromEntries(verdicts))}`);
      const ofTraces = [Level.run, Level.trace, Level.interior, Level.tensor];
      expect([...levels]).to.have.members(form === "trace" ? ofTraces : [Level.answer, Level.items, ...ofTraces]);
      expect(verdicts.get("holds true") ?? 0).to.be.above(0);
      expect(verdicts.get("fails false") ?? 0).to.be.above(0);
    });
  }
});
