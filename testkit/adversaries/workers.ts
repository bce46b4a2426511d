import type { Execution } from "../../src/dispute/run/execution.ts";
import { workerMove } from "../../src/dispute/workerMove.ts";
import { stateOf } from "../../src/chain/market/history.ts";
import { Level, Side } from "../../src/chain/structs.ts";
import { reference } from "../players/players.ts";
import { sumsInput } from "../programs/randomSums.ts";
import { Prng } from "../random/prng.ts";
import { mutated } from "../soak/lies.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena, Posted } from "./arena.ts";
import { LiarWorker } from "./liarWorker.ts";
import { expand, mustRefuse, reveal } from "./sendMoves.ts";

let seed = 1_000;

/** Posts a job for the chain of sums with a fresh input. */
export const postSums = (arena: Arena): Promise<Posted> =>
  arena.post(arena.chainOfSums, [sumsInput(new Prng(seed++), arena.chainOfSums.model)]);

/** Executes the chain of sums wrongly: a single byte differs, and later steps follow from the wrong byte. */
export const lyingSums = (arena: Arena, posted: Posted, step = 4, element = 1): Promise<Execution> =>
  arena.execution(posted, (model, inputs) => reference({ step, element })(model, inputs));

/** Returns a job for the chain of sums, a worker that will lie about the job, and the lie. */
export async function liarOnSums(arena: Arena): Promise<{ posted: Posted; liar: LiarWorker; lie: Execution }> {
  const posted = await postSums(arena);
  const liar = await LiarWorker.create(arena);
  return { posted, liar, lie: await lyingSums(arena, posted) };
}

/** The same once the liar has submitted its lie and the arena's watcher has opened a game against it. */
async function liarInAGame(arena: Arena) {
  const { posted, liar, lie } = await liarOnSums(arena);
  await liar.submit(posted, lie);
  const game = await arena.gameOn(await arena.claimOn(posted), arena.watcherKey);
  return { posted, liar, lie, game, arityBits: posted.requester.deployment.parameters.arityBits };
}

/** Claims a root that is no list's hash. */
class GarbageRoot extends Adversary {
  readonly name = "garbage root";
  readonly expected = "refuted by the clock";

  async attack(arena: Arena): Promise<Verdict> {
    const posted = await postSums(arena);
    const liar = await LiarWorker.create(arena);
    await liar.submit(posted, `0x${"5a".repeat(32)}`);
    await arena.gameOn(await arena.claimOn(posted), arena.watcherKey);
    await arena.players.chain.advance(3_700);
    return arena.death(posted);
  }
}

/** Answers `moves` times and then never again. */
class WithheldReveals extends Adversary {
  readonly name: string;
  readonly expected = "refuted by the clock";
  readonly #moves: number;

  constructor(moves: number) {
    super();
    this.#moves = moves;
    this.name = `withheld reveals, after ${moves} moves`;
  }

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie, game } = await liarInAGame(arena);
    liar.answer(({ moves }) => (moves.length < 2 * this.#moves ? lie : "nothing"));
    await arena.until("silence", () => {
      const stuck = game.moves.length >= 2 * this.#moves && stateOf(game).turn === Side.worker;
      return stuck || undefined;
    });
    await arena.players.chain.advance(3_700);
    return liar.death(posted);
  }
}

/** Reveals in the last second of the worker's clock, and once more after the clock has run out. */
class LateReveals extends Adversary {
  readonly name = "late reveals";
  readonly expected = "refuted by the clock";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie, game, arityBits } = await liarInAGame(arena);
    const send = async () => {
      const move = workerMove(arena.runOf(lie), stateOf(game), arityBits, 0n);
      if (move.kind === "reveal") await reveal(liar.session, game, move.data);
      else if (move.kind === "expand") await expand(liar.session, game, move.children, move.siblings);
    };
    await arena.players.chain.advance(Number(stateOf(game).workerSeconds) - 5);
    await send();
    await arena.turnOf(Side.worker, game, "the watcher's pick");
    await arena.players.chain.advance(10);
    await send().then(
      () => {
        throw new Error("a late reveal is taken");
      },
      () => undefined,
    );
    return arena.death(posted);
  }
}

/** Shows each challenger another interior. */
class ManyFaces extends Adversary {
  readonly name = "different answers to different challengers";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const otherKey = await arena.players.watcherKey();
    const before = await arena.wealth(otherKey);
    await liar.submit(posted, lie);
    const other = await arena.players.startWatcher(otherKey, arena.chainOfSums, reference());
    const faces = new Map<string, Execution>();
    liar.answer((game) => {
      const { last, level, depth } = stateOf(game);
      if (level === Level.trace && depth > 0) return lie;
      const known = faces.get(game.id) ?? otherFace(lie, last, faces.size);
      faces.set(game.id, known);
      return known;
    });
    const verdict = await arena.death(posted);
    await arena.until("settled games", ({ claims }) => {
      const games = [...claims.values()].at(-1)!.games;
      return games.every(({ closed }) => closed !== undefined) || undefined;
    });
    await Promise.all([liar.stop(), other.stop()]);
    if ((await arena.wealth(otherKey)) < before) throw new Error("the other watcher lost");
    return verdict;
  }
}

/** An execution with the same tensors at `last` and the checkpoints, and others that are wrong. */
function otherFace(lie: Execution, last: number, n: number): Execution {
  const prng = new Prng(n);
  const { program } = lie.model;
  const tensors = program.steps.map((_, s) =>
    s === last || program.checkpoints.some(({ step }) => step === s)
      ? lie.trace.tensor(s)
      : mutated(prng, lie.trace.tensor(s)),
  );
  return { ...lie, trace: new Trace(program, tensors) };
}

/** Answers with every kind of malformed reveal before falling silent. */
class MalformedReveals extends Adversary {
  readonly name = "malformed openings by the worker";
  readonly expected = "refuted by the clock";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie, game, arityBits } = await liarInAGame(arena);
    const { session } = liar;
    for (let seen = 0; ;) {
      const move = workerMove(arena.runOf(lie), stateOf(game), arityBits, 0n);
      if (move.kind === "reveal") {
        const { data } = move;
        await mustRefuse(reveal(session, game, `0x${data.slice(4)}`), "WrongDataLength");
        await mustRefuse(reveal(session, game, `${data}00`), "WrongDataLength");
        await mustRefuse(reveal(session, game, "0x"), "WrongDataLength");
        await mustRefuse(reveal(session, game, `0x${"a5"}${data.slice(4)}`), "NotTheNode");
        const last = `0x${data.slice(2, -2)}${data.endsWith("00") ? "01" : "00"}` as const;
        await mustRefuse(reveal(session, game, last), "NotTheNode", "PaddingNotZero");
        // At the chunk only the proof is left.
        if (stateOf(game).level === Level.tensor && stateOf(game).depth === 0) break;
        await reveal(session, game, data);
      } else if (move.kind === "expand") {
        const { children, siblings } = move;
        await mustRefuse(expand(session, game, `0x${children.slice(66)}`, siblings), "WrongDataLength");
        await mustRefuse(expand(session, game, children, [...siblings, `0x${"11".repeat(32)}`]), "SiblingCount");
        const others = `0x${"0f".repeat(children.length / 2 - 1)}` as const;
        await mustRefuse(expand(session, game, others, siblings), "LeafNotInList", "PaddingNotZero");
        await expand(session, game, children, siblings);
      }
      await arena.turnOf(Side.worker, game, `the watcher's answer ${++seen}`);
    }
    await arena.players.chain.advance(3_700);
    return arena.death(posted);
  }
}

/** Sends every earlier move again, with its state. */
class ReplayedMoves extends Adversary {
  readonly name = "replayed moves";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie, game } = await liarInAGame(arena);
    let replayed = 0;
    liar.answer(async () => {
      for (const { data, state } of game.moves.slice(0, -1)) {
        await mustRefuse(reveal(liar.session, game, data, state), "StaleState");
        replayed++;
      }
      return lie;
    });
    const verdict = await liar.death(posted);
    for (const { data, state } of game.moves) await mustRefuse(reveal(liar.session, game, data, state), "StaleState");
    if (replayed === 0) throw new Error("nothing was replayed");
    return verdict;
  }
}

/** Concedes on seeing that the next move will be the proof. */
class FrontRunningConcession extends Adversary {
  readonly name = "concession that front-runs the proof";
  readonly expected = "refuted by concession";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const [own, wealth] = [await arena.wealth(arena.watcherKey), await arena.wealth(liar.key)];
    await liar.submit(posted, lie);
    liar.answer((game) => {
      const { level, depth, turn } = stateOf(game);
      return level === Level.tensor && depth === 0 && turn === Side.worker ? "concede" : lie;
    });
    const verdict = await liar.death(posted);
    const { bounty, collateral } = posted.requester.deployment.parameters;
    if ((await arena.wealth(arena.watcherKey)) < own + bounty) throw new Error("the watcher lost its bounty");
    if ((await arena.wealth(liar.key)) > wealth - (collateral * 9n) / 10n) throw new Error("conceding pays");
    return verdict;
  }
}

/** Challenges the own claim from another account and concedes to that account, to get the collateral back. */
class SelfChallenge extends Adversary {
  readonly name = "self-challenge beside an honest challenge";
  readonly expected = "refuted by concession";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const accomplice = await arena.challenger();
    const league = (): Promise<bigint> => arena.wealth(liar.key, accomplice.key);
    const [own, before] = [await arena.wealth(arena.watcherKey), await league()];
    await liar.submit(posted, lie);
    const claim = await arena.claimOn(posted);
    const honest = await arena.gameOn(claim, arena.watcherKey);
    const sham = await arena.openAtRoot(accomplice, posted, claim);
    liar.answer((game) => (game.id === sham.id && honest.moves.length > 2 ? "concede" : lie));
    const verdict = await arena.death(posted);
    await arena.until("the settled game", () => honest.closed);
    await liar.stop();
    const { collateral } = posted.requester.deployment.parameters;
    if ((await arena.wealth(arena.watcherKey)) < own) throw new Error("the honest challenger lost");
    const loss = before - (await league());
    if (loss < (collateral * 9n) / 10n) throw new Error(`the league lost only ${loss}`);
    return verdict;
  }
}

export const LYING_WORKERS: readonly Adversary[] = [
  new GarbageRoot(),
  ...[0, 1, 2].map((moves) => new WithheldReveals(moves)),
  new LateReveals(),
  new ManyFaces(),
  new MalformedReveals(),
  new ReplayedMoves(),
  new FrontRunningConcession(),
  new SelfChallenge(),
];
