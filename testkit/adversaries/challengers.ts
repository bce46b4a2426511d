import { parseEther } from "viem";
import { hopOf } from "../../src/chain/market/revealLevels.ts";
import { openable } from "../../src/dispute/run/execution.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../../src/chain/market/history.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { Session } from "../../src/chain/market/session.ts";
import { Level, Side, type Pick } from "../../src/chain/structs.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { openChunks } from "../../src/program/trace/opening.ts";
import { Prng } from "../random/prng.ts";
import { first, reference } from "../players/players.ts";
import { firstDifference, jumper, proofAt, wanderer, type SoakChallenger } from "../soak/challengers.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena, Posted } from "./arena.ts";
import { LiarWorker } from "./liarWorker.ts";
import { concede, mustRefuse, open, pick, prove, refusalOf } from "./sendMoves.ts";
import { liarOnSums, postSums } from "./workers.ts";

/** Attacks a claim of the real worker, which must become final without a loss for the worker. */
abstract class AgainstAnHonestWorker extends Adversary {
  readonly expected: Verdict = "finalised";

  async attack(arena: Arena): Promise<Verdict> {
    const posted = await postSums(arena);
    const key = await arena.players.workerKey();
    const before = await arena.wealth(key);
    const worker = await arena.players.startWorker(key, posted.program, reference());
    const claim = await arena.claimOn(posted);
    await this.challenge(arena, posted, claim);
    const verdict = await arena.survival(posted);
    if (claim.games.length > 0) await first(worker, "collected");
    await worker.stop();
    const gain = (await arena.wealth(key)) - before;
    const minimum = this.minGain(posted.requester.deployment.bond);
    if (gain < minimum) throw new Error(`the honest worker gained ${gain}, expected ${minimum}`);
    return verdict;
  }

  protected abstract challenge(arena: Arena, posted: Posted, claim: ClaimRecord): Promise<void>;

  /** The bonds that come to the worker. */
  protected minGain(bond: bigint): bigint {
    return bond;
  }
}

/** A node that is in no tree. */
const OTHER = `0x${"11".repeat(32)}` as const;

/** Yields a player's picks in a game. Each pick follows the worker's answer to the pick before. */
async function* picksOf(player: SoakChallenger, arena: Arena, game: GameRecord): AsyncGenerator<Pick> {
  for (;;) {
    await arena.turnOf(Side.challenger, game, "the worker's answer");
    const reply = player.reply(game, 0n);
    if (reply.kind !== "pick") return;
    yield reply.pick;
  }
}

/** A watcher whose machine computes wrongly. */
class ChallengeWithoutCause extends AgainstAnHonestWorker {
  readonly name = "challenge without cause";

  protected async challenge(arena: Arena, posted: Posted, claim: ClaimRecord): Promise<void> {
    const key = await arena.players.watcherKey();
    const wrong = reference({ step: 4, element: 1 });
    const confused = await arena.players.startWatcher(key, posted.program, wrong);
    const game = await arena.gameOn(claim, key);
    await arena.until("its concession", () => game.closed);
    await confused.stop();
  }
}

/** Fifty accounts open a game each and never move again. */
class FiftyParasites extends AgainstAnHonestWorker {
  readonly name = "fifty parasitic challengers";

  protected async challenge(arena: Arena, posted: Posted, claim: ClaimRecord): Promise<void> {
    const rich = await arena.players.chain.newSession(parseEther("10"));
    const { bond } = posted.requester.deployment;
    const sessions: Session[] = [];
    for (let k = 0; k < 50; k++) {
      sessions.push(await arena.players.chain.sessionOf(await arena.players.chain.newAccount()));
      await deposit(rich, bond, sessions[k]!.sender.address);
    }
    const opening = await arena.openingOf(posted, claim);
    await Promise.all(sessions.map((session) => open(session, claim, opening)));
    const answered = ({ moves, closed }: GameRecord): boolean => moves.length > 1 || closed !== undefined;
    await arena.until("fifty answers", () => (claim.games.length === 50 && claim.games.every(answered)) || undefined);
    await arena.players.chain.advance(3_700);
    await arena.until("fifty ends", () => claim.games.every(({ closed }) => closed !== undefined) || undefined);
  }

  protected override minGain(bond: bigint): bigint {
    // The worker calls the timeouts itself, and therefore earns their reward too.
    return 50n * bond;
  }
}

/** Opens in the last seconds of the window and uses up its whole clock, to delay the result. */
class LastSecondDelay extends AgainstAnHonestWorker {
  readonly name = "delay: opened at the window's end, moves in the last second";

  protected async challenge(arena: Arena, posted: Posted, claim: ClaimRecord): Promise<void> {
    const late = await arena.challenger();
    await arena.players.chain.advance(Number(claim.windowEnd - (await arena.now())) - 5);
    const game = await arena.openAtRoot(late, posted, claim);
    await arena.turnOf(Side.challenger, game, "the worker's answer");
    await arena.players.chain.advance(Number(stateOf(game).challengerSeconds) + 10);
    await arena.until("its end", () => game.closed);
    const { baseClock } = posted.requester.deployment.parameters;
    if ((await arena.now()) > claim.windowEnd + 2n * BigInt(baseClock)) throw new Error("the delay is not bounded");
  }
}

/** Sends every kind of malformed pick and proof, then a well-formed proof about a right step. */
class MalformedPicksAndProofs extends AgainstAnHonestWorker {
  readonly name = "malformed openings by the challenger";

  protected async challenge(arena: Arena, posted: Posted, claim: ClaimRecord): Promise<void> {
    const challenger = await arena.challenger();
    const { session } = challenger;
    const theirs = await arena.execution(posted);
    const { arityBits } = posted.requester.deployment.parameters;
    const player = wanderer(new Prng(5), "wanderer", session.sender.address, arena.runOf(theirs), arityBits);
    const game = await arena.openAtRoot(challenger, posted, claim);
    for await (const good of picksOf(player, arena, game)) {
      const hop = BigInt(hopOf(stateOf(game).depth, arityBits));
      await mustRefuse(
        pick(session, game, { ...good, siblings: good.siblings.slice(1) }),
        "PickShortOfReveal",
        "PickNotBelowNode",
        "NotTheNode",
      );
      await mustRefuse(
        pick(session, game, { ...good, siblings: [...good.siblings, OTHER] }),
        "WrongPathLength",
        "PickNotBelowNode",
        "NotTheNode",
      );
      await mustRefuse(
        pick(session, game, { ...good, index: good.index + (1n << BigInt(good.siblings.length)) }),
        "PickNotBelowNode",
        "PickPastWidth",
      );
      await mustRefuse(pick(session, game, { ...good, index: good.index ^ 1n }), "NotTheNode", "PickPastWidth");
      await mustRefuse(pick(session, game, { ...good, node: OTHER }), "NotTheNode");
      if (hop > 0n) await mustRefuse(pick(session, game, { ...good, siblings: [] }), "PickShortOfReveal");
      await pick(session, game, good);
    }
    await this.#proofs(session, posted, game, arena.runOf(theirs));
    await concede(session, game);
  }

  async #proofs(session: Session, posted: Posted, game: GameRecord, theirs: RunExecution): Promise<void> {
    const state = stateOf(game);
    const element = Number(state.index) * 128;
    const good = proofAt(theirs, { item: 0, step: state.step, element }, state);
    const send = (changes: Partial<typeof good>) => prove(session, posted.record, game, { ...good, ...changes });
    await mustRefuse(send({}), "ProofFails");
    await mustRefuse(send({ chunk: `${good.chunk}00` }), "WrongDataLength");
    await mustRefuse(send({ chunk: `0x${"ee".repeat(512)}` }), "NotTheNode");
    await mustRefuse(send({ chunkSiblings: [OTHER] }), "SiblingCount");
    await mustRefuse(send({ element: good.element + (1n << 40n) }), "ElementOutOfRange");
    await mustRefuse(send({ body: `${good.body}00` }), "WrongBody");
    await mustRefuse(send({ inputs: [] }), "WrongInputCount");
    const roots = good.inputs.map((input) => ({ ...input, root: OTHER }));
    await mustRefuse(send({ inputs: roots }), "InputNotProven", "ProofFails");
    await refusalOf(
      send({ openings: good.openings.map((opening) => ({ ...opening, siblings: [...opening.siblings, OTHER] })) }),
    );
    await refusalOf(send({ openings: good.openings.map((opening) => ({ ...opening, chunks: "0x" as const })) }));
  }
}

/** Sees the honest challenge in the mempool, copies the challenge, and gets included first. */
class CopiedChallenge extends Adversary {
  readonly name = "front-run and copied challenge";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const copycat = await arena.challenger();
    const [own, copy] = [await arena.wealth(arena.watcherKey), await arena.wealth(copycat.key)];
    await arena.watcher.stop();
    await liar.submit(posted, lie);
    const claim = await arena.claimOn(posted);
    await arena.openAtRoot(copycat, posted, claim);
    await arena.startWatcher();
    const honest = await arena.gameOn(claim, arena.watcherKey);
    let tried = 0;
    liar.answer(async () => {
      const state = stateOf(honest);
      if (state.level === Level.tensor) {
        // The honest challenger's proof, sent by another account, and on the copycat's own game.
        const run = arena.runOf(lie);
        const proof = proofAt(run, firstDifference(arena.runOf(await arena.execution(posted)), run), state);
        await mustRefuse(
          prove(copycat.session, posted.record, honest, proof),
          "NotChallenger",
          "StaleState",
          "ClaimDead",
        );
        tried++;
      }
      return lie;
    });
    const verdict = await arena.death(posted);
    await arena.until("settled games", () => honest.closed);
    await liar.stop();
    if (tried === 0) throw new Error("nothing was copied");
    const { bounty, bondGas, priceCap } = posted.requester.deployment.parameters;
    if ((await arena.wealth(arena.watcherKey)) < own) throw new Error("the honest challenger lost");
    if ((await arena.wealth(copycat.key)) > copy + bounty + BigInt(bondGas) * priceCap) throw new Error("copying pays");
    return verdict;
  }
}

/** Opens every chunk of every input in its proof, to have more gas paid. */
class GasGriefingOpenings extends Adversary {
  readonly name = "gas-griefing openings";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    const { posted, liar, lie } = await liarOnSums(arena);
    const challenger = await arena.challenger();
    const { key, session } = challenger;
    const before = await arena.wealth(key);
    await arena.watcher.stop();
    await liar.submit(posted, lie);
    const claim = await arena.claimOn(posted);
    const [own, run] = [arena.runOf(await arena.execution(posted)), arena.runOf(lie)];
    const goal = firstDifference(own, run);
    const game = await arena.openAtRoot(challenger, posted, claim);
    liar.answer(() => lie);
    const { arityBits } = posted.requester.deployment.parameters;
    const player = jumper(new Prng(6), session.sender.address, own, run, arityBits);
    for await (const chosen of picksOf(player, arena, game)) await pick(session, game, chosen);
    const proof = proofAt(run, goal, stateOf(game));
    const { inputs } = lie.model.program.steps[goal.step]!;
    // Opens every chunk of each input read by the step.
    const openings = inputs.map((ref, i) => {
      const tensor = openable(lie, ref);
      const all = Array.from({ length: tensor.tree().width }, (_, k) => k);
      return proof.openings[i]!.indices.length === 0 ? proof.openings[i]! : openChunks(tensor, all);
    });
    await prove(session, posted.record, game, { ...proof, openings });
    const verdict = await liar.death(posted);
    await arena.startWatcher();
    const { maxStepGas } = posted.program.model.program;
    const { bounty, priceCap } = posted.requester.deployment.parameters;
    const maximum = bounty + BigInt(maxStepGas + 1_500_000) * priceCap;
    if ((await arena.wealth(key)) > before + maximum) throw new Error("inflating the proof pays without bound");
    return verdict;
  }
}

/** A worker and a challenger in league play against each other, without cause. */
class League extends Adversary {
  readonly name = "worker and challenger in league";
  readonly expected = "finalised";

  async attack(arena: Arena): Promise<Verdict> {
    const posted = await postSums(arena);
    const worker = await LiarWorker.create(arena);
    const accomplice = await arena.challenger();
    const league = (): Promise<bigint> => arena.wealth(worker.key, accomplice.key);
    const before = await league();
    const execution = await arena.execution(posted);
    await worker.submit(posted, execution);
    const claim = await arena.claimOn(posted);
    const game = await arena.openAtRoot(accomplice, posted, claim);
    worker.answer(() => execution);
    await arena.turnOf(Side.challenger, game, "the answer");
    await concede(accomplice.session, game);
    await worker.stop();
    // The real worker's program finalises and collects for the league.
    const settler = await arena.players.startWorker(worker.key, posted.program, reference());
    const verdict = await arena.survival(posted);
    await first(settler, "collected");
    await arena.until("the fee", ({ claims }) => claims.get(claim.id)?.paid || undefined);
    await settler.stop();
    const gain = (await league()) - before;
    if (gain !== posted.record.job.fee) throw new Error(`the league made ${gain} of a fee of ${posted.record.job.fee}`);
    return verdict;
  }
}

export const LYING_CHALLENGERS: readonly Adversary[] = [
  new ChallengeWithoutCause(),
  new MalformedPicksAndProofs(),
  new LastSecondDelay(),
  new CopiedChallenge(),
  new GasGriefingOpenings(),
  new League(),
  new FiftyParasites(),
];
