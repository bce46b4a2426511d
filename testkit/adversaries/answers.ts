import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { rootPick } from "../soak/challengers.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { workerMove } from "../../src/dispute/workerMove.ts";
import { compile } from "../../src/compiler/compile.ts";
import { Move, Side } from "../../src/chain/structs.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { stateOf, type GameRecord } from "../../src/chain/market/history.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { knownProgram, type Execution, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { reference } from "../players/players.ts";
import { Prng } from "../random/prng.ts";
import { mutated } from "../soak/lies.ts";
import { Adversary } from "./adversary.ts";
import { Arena, type Posted } from "./arena.ts";
import { WrongExecution } from "./executions.ts";
import { LiarWorker } from "./liarWorker.ts";
import { expand, mustRefuse, open, pick, prove } from "./sendMoves.ts";
import type { Verdict } from "./verdict.ts";
import { liarOnSums, postSums } from "./workers.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Another trace with the same outputs: every other tensor is noise. */
function otherTrace(execution: Execution, seed: number): Execution {
  const prng = new Prng(seed);
  const { program } = execution.model;
  const outputs = new Set(program.outputs.map((checkpoint) => program.checkpoints[checkpoint]!.step));
  const tensors = program.steps.map((_, s) => {
    const tensor = execution.trace.tensor(s);
    return outputs.has(s) ? tensor : mutated(prng, tensor);
  });
  return { ...execution, trace: new Trace(program, tensors) };
}

/** Claims a wrong answer, and has only the right trace to show, which does not hold it. */
class TraceOfAnotherAnswer extends Adversary {
  readonly name = "expands an answer into a trace with another output";
  readonly expected = "refuted by the clock";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    await liar.submit(posted, lie);
    const game = await arena.gameOn(await arena.claimOn(posted), arena.watcherKey);
    const { arityBits } = posted.requester.deployment.parameters;
    const right = arena.runOf(await arena.execution(posted));
    const move = workerMove(right, stateOf(game), arityBits, 0n);
    if (move.kind !== "expand") throw new Error(`an output is not expanded: ${move.kind}`);
    await mustRefuse(expand(liar.session, game, move.children, move.siblings), "LeafNotInList");
    const claimed = workerMove(arena.runOf(lie), stateOf(game), arityBits, 0n);
    if (claimed.kind === "expand")
      await mustRefuse(expand(liar.session, game, move.children, claimed.siblings), "LeafNotInList");
    await arena.players.chain.advance(3_700);
    return arena.death(posted);
  }
}

/** Expands a wrong answer after the worker's clock has run out, or never. */
class LateExpansion extends Adversary {
  readonly name: string;
  readonly expected = "refuted by the clock";
  readonly #isTried: boolean;

  constructor(isTried: boolean) {
    super();
    this.#isTried = isTried;
    this.name = isTried ? "expands an answer too late" : "never expands an answer";
  }

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    await liar.submit(posted, lie);
    const game = await arena.gameOn(await arena.claimOn(posted), arena.watcherKey);
    const state = stateOf(game);
    await arena.players.chain.advance(state.workerSeconds + 1);
    const { arityBits } = posted.requester.deployment.parameters;
    const move = workerMove(arena.runOf(lie), state, arityBits, 0n);
    if (this.#isTried && move.kind === "expand") {
      const sent = expand(liar.session, game, move.children, move.siblings);
      await mustRefuse(sent, "ClockExpired", "ClaimDead", "StaleState");
    }
    return arena.death(posted);
  }
}

/** Shows each challenger another trace with the same wrong output. */
class ManyTraces extends Adversary {
  readonly name = "expands an answer into another trace in each game";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const otherKey = await arena.players.watcherKey();
    const before = await arena.wealth(otherKey);
    await liar.submit(posted, lie);
    const other = await arena.players.startWatcher(otherKey, arena.chainOfSums, reference());
    const claim = await arena.claimOn(posted);
    const games = [await arena.gameOn(claim, arena.watcherKey), await arena.gameOn(claim, otherKey)];
    const traces = new Map(games.map(({ id }, k) => [id, otherTrace(lie, k)]));
    const roots = new Set<string>();
    liar.answer((game) => {
      for (const { state } of game.moves) if (BigInt(state.traceRoot) !== 0n) roots.add(state.traceRoot);
      return traces.get(game.id) ?? "nothing";
    });
    const verdict = await arena.death(posted);
    await arena.until("settled games", () => games.every(({ closed }) => closed !== undefined) || undefined);
    await Promise.all([liar.stop(), other.stop()]);
    for (const { moves } of games)
      for (const { state } of moves) if (BigInt(state.traceRoot) !== 0n) roots.add(state.traceRoot);
    if (roots.size < 2) throw new Error("both games were about one trace");
    if ((await arena.wealth(otherKey)) < before) throw new Error("the other watcher lost");
    return verdict;
  }
}

/**
 * Claims the right answer, which honest watchers leave alone; to a stranger who opens a game without cause it shows a
 * wrong trace. That loses the collateral: nobody else does.
 */
class WrongTraceOfARightAnswer extends Adversary {
  readonly name = "a right answer with a wrong trace";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const posted = await postSums(arena);
    const liar = await LiarWorker.create(arena);
    const stranger = await arena.challenger();
    const [own, wealth] = [await arena.wealth(arena.watcherKey), await arena.wealth(liar.key)];
    const right = await arena.execution(posted);
    await liar.submit(posted, right);
    const claim = await arena.claimOn(posted);
    const run = arena.runOf(right);
    const { session } = stranger;
    await open(session, claim, rootPick(run, submittedList(run, claim.nodes)));
    const game = await arena.gameOn(claim, stranger.key);
    liar.answer(() => otherTrace(right, 1));
    await this.#play(arena, posted, game, session);
    const verdict = await liar.death(posted);
    if (claim.games.length !== 1) throw new Error("an honest watcher disputed a right answer");
    if ((await arena.wealth(arena.watcherKey)) !== own) throw new Error("the honest watcher has other money");
    const { collateral } = posted.requester.deployment.parameters;
    if ((await arena.wealth(liar.key)) > wealth - (collateral * 9n) / 10n) throw new Error("the liar lost too little");
    return verdict;
  }

  async #play(arena: Arena, posted: Posted, game: GameRecord, session: LiarWorker["session"]): Promise<void> {
    const { arityBits } = posted.requester.deployment.parameters;
    const run = arena.runOf(await arena.execution(posted));
    const { nodes } = await arena.claimOn(posted);
    for (;;) {
      await arena.turnOf(Side.challenger, game, "the worker's answer");
      const move = challengerMove(run, nodes, game.moves, arityBits, 0n);
      if (move.kind === "prove") return void (await prove(session, posted.record, game, move.proof));
      if (move.kind !== "pick") throw new Error(`the stranger does not go on: ${move.kind}`);
      await pick(session, game, move.pick);
      if (stateOf(game).move !== Move.pick) continue;
      await arena.turnOf(Side.worker, game, "the pick");
    }
  }
}

/** The logarithms of numbers, each with a flag for NaN. NaN and true are among the outputs. */
const decisions = knownProgram(
  compile(
    readModel(
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: [4] }],
        outputs: [
          { name: "log", dtype: DType.float32, shape: [4] },
          { name: "none", dtype: DType.bool, shape: [4] },
        ],
        nodes: [
          { op: "Log", inputs: ["x"], outputs: ["log"] },
          { op: "IsNaN", inputs: ["log"], outputs: ["none"] },
        ],
      }),
    ),
    { shapes: {} },
  ),
);
const X = new Uint8Array(Float32Array.of(-1, 1, 2, 0.5).buffer);

/** Claims an answer with the right values, but with a non-canonical word for a value. */
class OtherWord extends WrongExecution {
  readonly name: string;
  protected execute: Execute;
  protected override program = (): KnownProgram => decisions;
  protected override inputs = (): Uint8Array[] => [X];

  /** @param change Of the output's bytes. */
  constructor(name: string, output: number, change: (bytes: Uint8Array) => void) {
    super();
    this.name = name;
    this.execute = (model, inputs) => {
      const { checkpoints, outputs } = model.program;
      const tensors = executeReference(model, inputs);
      change(tensors[checkpoints[outputs[output]!]!.step]!);
      return Promise.resolve(tensors);
    };
  }
}

export const LYING_ANSWERS: readonly Adversary[] = [
  new TraceOfAnotherAnswer(),
  new LateExpansion(true),
  new LateExpansion(false),
  new ManyTraces(),
  new WrongTraceOfARightAnswer(),
  new OtherWord("an answer with another NaN", 0, (bytes) => void (bytes[0]! ^= 1)),
  new OtherWord("an answer with another word for true", 1, (bytes) => void (bytes[0] = 2)),
];

/** Creates an arena with answer jobs. The watcher knows the lying answerers' programs. */
export async function answerArena(): Promise<Arena> {
  const arena = await Arena.create({ form: "answer" });
  await arena.startWatcher([decisions]);
  return arena;
}
