import { isAddressEqual, parseEventLogs, type Address, type Hex, type Log } from "viem";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { claimContentOf, claimKeyOf } from "../../src/chain/market/ids.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { packState, type GameState } from "../../src/chain/market/state.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../../src/chain/market/history.ts";
import { Level, Outcome, Side, type Claim, type StepProof } from "../../src/chain/structs.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import type { SoakCall } from "./chain.ts";
import { proofAt as stepProofAt, rootPick, type SoakChallenger } from "./challengers.ts";
import type { SoakProgram } from "./programs.ts";
import { errorName, type SoakMarket } from "./market.ts";
import type { SoakWorker } from "./workers.ts";

/** Seconds in which an honest party usually notices and answers. */
const USUAL_SECONDS = 120;

/**
 * The maximum gas by which a settlement, or the end of a game about a signed claim, may be underpaid: what an end that
 * fills an empty account burns more (docs/testing.md).
 */
const SHORT_GAS = 17_500n;

/** How a claim ended; halted: its worker was stopped by another claim. */
export type Ending = "finalised" | "refuted" | "accepted" | "halted";

/** A claim's market and game contracts. */
export type Venue = {
  onMarket: (functionName: string, args: readonly unknown[]) => SoakCall;
  onGame: (functionName: string, args: readonly unknown[]) => SoakCall;
};

/** A claim on chain, and who stands behind it. */
type Disputed = {
  program: SoakProgram;
  worker: SoakWorker;
  claim: Claim;
  claimId: Hex;
  venue: Venue;
  /** Whether an honest watcher looks at it. */
  watched: boolean;
};

/** Every game on a claim, until nothing remains to do. */
export class Disputes {
  readonly #market: SoakMarket;
  readonly #subject: Disputed;
  readonly #players = new Map<Hex, SoakChallenger>();
  readonly #submittedAt: number;
  readonly #over: (ending: Ending) => Promise<void>;
  /** The base fee when the claim died. */
  #deathFee = 0n;
  /**
   * The gas balances of honest parties: the worker's gas cost beyond the amount drawn, and each challenger's gas cost
   * beyond the amount paid.
   */
  readonly #balances = new Map<string, bigint>();
  /** Each balance's entries, reported in case of a loss. */
  readonly #items = new Map<string, string[]>();
  #ended = false;

  /** @param over Called once, when the claim is final, accepted or dead and no game is open any more. */
  constructor(market: SoakMarket, subject: Disputed, over: (ending: Ending) => Promise<void>) {
    [this.#market, this.#subject, this.#over] = [market, subject, over];
    this.#submittedAt = market.chain.now;
  }

  /** Plans the events in the claim's window and at the window's end. */
  begin(challengers: readonly SoakChallenger[]): void {
    const { prng, chain } = this.#market;
    const window = Number(this.#record.windowEnd) - chain.now;
    for (const challenger of challengers) {
      const wait = prng.below(10) === 0 ? window - 20 : prng.below(Math.max(window - 60, 1));
      this.#plan(chain.now + wait, () => this.#open(challenger));
    }
    this.#plan(Number(this.#record.windowEnd) + 5, () => this.#finalise());
  }

  /** The requester accepts the claim within the window. The market refuses while a game is open. */
  async acceptEarly(requester: Address, call: SoakCall): Promise<void> {
    const { chain, totals } = this.#market;
    const { games, refuted, finalised, windowEnd } = this.#record;
    if (this.#ended || refuted || finalised || chain.now >= Number(windowEnd)) return;
    if (games.some(({ closed }) => closed === undefined)) {
      const refusal = await chain.refusal(requester, call);
      if (refusal?.includes("GamesOpen") !== true) this.#market.fault("a disputed claim can be accepted early");
      return totals.count(totals.refusals, "acceptEarly: GamesOpen");
    }
    if ((await this.#market.must("requester", requester, call)) === undefined) return;
    totals.count(totals.verdicts, `${this.#subject.worker.kind}: accepted early`);
    await this.#end("accepted");
  }

  get #record(): ClaimRecord {
    return this.#market.chain.history.claims.get(this.#subject.claimId)!;
  }

  get #isHonest(): boolean {
    return this.#subject.worker.kind === "honest";
  }

  get #workerAddress(): Address {
    return this.#subject.claim.worker;
  }

  #onGame(functionName: string, args: readonly unknown[]): SoakCall {
    return this.#subject.venue.onGame(functionName, args);
  }

  #plan(time: number, run: () => Promise<void>): void {
    this.#market.agenda.plan(time, run);
  }

  async #open(challenger: SoakChallenger): Promise<void> {
    const record = this.#record;
    if (this.#ended || record.refuted || record.finalised || record.accepted) return;
    const { chain, prng, totals } = this.#market;
    const call = this.#onGame("open", [this.#subject.claim, prng.below(4), challenger.opening()]);
    // The account may have opened a game with the same number before, or another claim may have stopped the worker.
    const refusal = await chain.refusal(challenger.address, call);
    if (refusal?.includes("GameExists") === true || refusal?.includes("WorkerStopped") === true) return;
    const sent = await this.#market.must(challenger.kind, challenger.address, call);
    const moved = sent?.events.find((e) => e.eventName === "Picked");
    if (moved?.eventName !== "Picked" || sent === undefined) return;
    totals.games++;
    this.#players.set(moved.args.gameId, challenger);
    this.#book(moved.args.gameId, -sent.cost - chain.bond, "open");
    this.#schedule(chain.history.games.get(moved.args.gameId)!);
  }

  /** Plans both sides' actions for a game's current state. */
  #schedule(game: GameRecord): void {
    const { chain, prng } = this.#market;
    const state = stateOf(game);
    const version = game.moves.length;
    const challenger = this.#players.get(game.id)!;
    const worker = state.turn === Side.worker;
    const left = worker ? state.workerSeconds : state.challengerSeconds;
    const honest = worker ? this.#isHonest : challenger.honest;
    const isStale = () => game.moves.length !== version || game.closed !== undefined || this.#record.refuted;
    this.#plan(chain.now + this.#delay(honest, left), async () => {
      if (isStale() || chain.now + 1 - Number(state.since) > left) return;
      await (worker ? this.#answer(game) : this.#reply(game, challenger));
    });
    this.#plan(Number(state.since) + left + 1, async () => {
      if (isStale()) return;
      // An honest party must never get here.
      if (honest) this.#market.fault(`${worker ? "worker" : challenger.kind} ran out of time`);
      await this.#move(game, worker ? challenger.address : this.#workerAddress, "timeout", [game.key]);
    });
    if (!this.#isHonest && !worker && prng.below(25) === 0) {
      // Concedes before the proof.
      this.#plan(chain.now + 1, async () => {
        if (!isStale()) await this.#move(game, this.#workerAddress, "concede", [game.key]);
      });
    }
    if (prng.below(8) === 0) this.#plan(chain.now + 1 + prng.below(60), () => this.#meddle(game));
    if (worker && challenger.eager === true && state.level === Level.tensor && prng.below(2) === 0) {
      this.#plan(chain.now + 1 + prng.below(30), async () => {
        if (!isStale()) await this.#reply(game, challenger);
      });
    }
  }

  /** Returns a delay. Honest parties keep some of their time; other parties use any part of their time, or all. */
  #delay(honest: boolean, left: number): number {
    const { prng } = this.#market;
    if (prng.below(4) !== 0) return prng.below(Math.min(USUAL_SECONDS, left));
    return honest ? prng.below(Math.floor(left / 2)) : prng.pick([left, left - 1, prng.below(left)]);
  }

  async #answer(game: GameRecord): Promise<void> {
    const answer = this.#subject.worker.answer(game, BigInt(this.#market.chain.now));
    const from = this.#workerAddress;
    switch (answer.kind) {
      case "reveal":
        return this.#move(game, from, "reveal", [answer.data], !this.#isHonest);
      case "expand":
        return this.#move(
          game,
          from,
          "expand",
          [claimContentOf(game.key), answer.children, answer.siblings],
          !this.#isHonest,
        );
      case "concede":
        return this.#move(game, from, "concede", [game.key]);
      default:
        if (this.#isHonest) this.#market.fault(`the honest worker has no move: ${answer.kind}`);
    }
  }

  async #reply(game: GameRecord, challenger: SoakChallenger): Promise<void> {
    const reply = challenger.reply(game, BigInt(this.#market.chain.now));
    const from = challenger.address;
    switch (reply.kind) {
      case "pick":
        return this.#move(game, from, "pick", [reply.pick], !challenger.honest);
      case "prove":
        return this.#move(game, from, "prove", [this.#subject.claim, reply.proof], !challenger.honest);
      case "concede":
        if (challenger.honest) this.#market.fault(`${challenger.kind} against a wrong claim concedes`);
        return this.#move(game, from, "concede", [game.key]);
      default:
        if (challenger.honest) this.#market.fault(`${challenger.kind} has no move`);
    }
  }

  /** A stranger tries what only the parties may do, and anybody what nobody may do. All of it must be refused. */
  async #meddle(game: GameRecord): Promise<void> {
    if (game.closed !== undefined || this.#record.refuted) return;
    const { chain, requester, totals } = this.#market;
    const { program, worker, claim, venue } = this.#subject;
    const state = stateOf(game);
    const proof = worker.published === undefined ? undefined : proofAt(worker.published, state);
    const packed = packState(state);
    const { key } = game;
    const tries: [string, unknown[]][] = [
      ["concede", [packed, key]],
      ["settle", [packed]],
      ["timeout", [packState({ ...state, since: state.since - 1_000_000 }), key]],
      ["expand", [packed, claimContentOf(key), "0x", []]],
      ["reveal", [packed, toHex(new Uint8Array(512).fill(0xa5))]],
      ["pick", [packed, rootPick(program.right, submittedList(program.right, worker.nodes))]],
      ...(proof === undefined ? [] : ([["prove", [packed, claim, proof]]] as [string, unknown[]][])),
    ];
    for (const [name, args] of tries) {
      const refusal = await chain.refusal(requester, this.#onGame(name, args));
      if (refusal === undefined) this.#market.fault(`a stranger's ${name} is taken`);
      totals.count(totals.refusals, `stranger's ${name}`);
    }
    const refusal = await chain.refusal(requester, venue.onMarket("finalise", [claim]));
    if (refusal === undefined) this.#market.fault("a disputed claim can be finalised");
  }

  /** @param mayBeRefused If true, the soak counts a refusal, and the mover loses the turn. */
  async #move(
    game: GameRecord,
    from: Address,
    functionName: string,
    args: readonly unknown[],
    mayBeRefused = false,
  ): Promise<void> {
    const { chain, totals } = this.#market;
    const call = this.#onGame(functionName, [packState(stateOf(game)), ...args]);
    if (mayBeRefused) {
      const refusal = await chain.refusal(from, call);
      if (refusal !== undefined) {
        return totals.count(totals.refusals, `${functionName}: ${errorName(refusal)}`);
      }
    }
    const proof = functionName === "prove";
    if (proof && this.#subject.worker.right && this.#isHonest) this.#market.fault("an honest claim is proven wrong");
    const sent = await this.#market.must(functionName, from, call);
    if (sent === undefined) return;
    this.#book(from === this.#workerAddress ? "worker" : game.id, -sent.cost, functionName);
    if (game.closed !== undefined) this.#closed(game, functionName, sent);
    else this.#schedule(game);
  }

  #closed(game: GameRecord, how: string, { baseFee, logs }: { baseFee: bigint; logs: Log[] }): void {
    const { totals, chain, prng } = this.#market;
    const challenger = this.#players.get(game.id)!;
    const lost = game.closed!.outcome === Outcome.workerWon;
    // Includes the reward for ending the game by the clock.
    const given = parseEventLogs({ abi: stakeVaultAbi, logs, eventName: "Given" });
    for (const { args } of given) {
      if (isAddressEqual(args.account, challenger.address)) this.#book(game.id, args.amount, `given by ${how}`);
      if (isAddressEqual(args.account, this.#workerAddress)) this.#book("worker", args.amount, `given by ${how}`);
    }
    if (how === "prove") for (const read of this.#readsOf(stateOf(game))) totals.count(totals.proofs, read);
    totals.count(totals.endings, `${challenger.kind}: ${lost ? "lost" : "won"} by ${how}`);
    const record = this.#record;
    if (!record.refuted) {
      if (chain.now > Number(record.windowEnd)) this.#plan(chain.now + 1, () => this.#finalise());
      return;
    }
    this.#verdict(`refuted by ${how}`);
    this.#deathFee = baseFee;
    for (const other of record.games) {
      if (other.closed !== undefined) continue;
      this.#plan(chain.now + 1 + prng.below(5_000), () => this.#settle(other));
    }
    this.#plan(chain.now + 6_000, () => this.#end("refuted"));
  }

  /** Returns the sources that a proof's step reads, apart from constants and other steps. */
  #readsOf({ item, step }: GameState): Set<string> {
    const { inputs, steps } = this.#subject.program.known.model.program;
    return new Set(
      steps[step]!.inputs.flatMap((ref) => {
        if (ref.kind !== "input") return [];
        const kind = inputs[ref.index]!.source?.kind ?? "shared";
        return [kind === "carried" && item === 0 ? "carried, in the first item" : kind];
      }),
    );
  }

  async #settle(game: GameRecord): Promise<void> {
    const { chain, totals } = this.#market;
    const { address, kind } = this.#players.get(game.id)!;
    const call = this.#onGame("settle", [packState(stateOf(game))]);
    // A settlement has no deadline. The owed party settles in the next block, or waits until gas costs at most the next
    // block's highest possible price.
    const sent = await this.#market.must("settle", address, call, this.#deathFee + this.#deathFee / 8n);
    if (sent === undefined) return;
    this.#book(game.id, game.closed!.paid - sent.cost, "settle");
    totals.count(totals.endings, `${kind}: settled`);
    const again = await chain.refusal(address, this.#onGame("settle", [packState(stateOf(game))]));
    if (again === undefined) this.#market.fault("a game can be settled twice");
  }

  async #finalise(): Promise<void> {
    const { claim, venue, worker } = this.#subject;
    const record = this.#record;
    const open = record.games.some(({ closed }) => closed === undefined);
    if (this.#ended || record.refuted || record.finalised || open) return;
    const call = venue.onMarket("finalise", [claim]);
    const { chain, totals } = this.#market;
    if (!this.#isHonest && (await chain.refusal(this.#workerAddress, call))?.includes("WorkerStopped") === true) {
      totals.count(totals.verdicts, `${worker.kind}: halted`);
      return this.#end("halted");
    }
    await this.#market.must("finalise", this.#workerAddress, call);
    this.#verdict("finalised");
    await this.#end("finalised");
  }

  /** Judges the verdict. */
  #verdict(how: string): void {
    const { totals, chain } = this.#market;
    const { worker, claim, watched } = this.#subject;
    const { kind, right } = worker;
    totals.count(totals.verdicts, `${kind}: ${how}`);
    const refuted = how !== "finalised";
    if (!right && !refuted) totals[watched ? "wrongFinal" : "unwatchedFinal"]++;
    if (kind === "honest" ? refuted : !right && !refuted && watched) this.#market.fault(`claim of ${kind}: ${how}`);
    if (right && how === "refuted by prove") this.#market.fault("a right claim was proven wrong");
    const seconds = chain.now - this.#submittedAt;
    const { baseClock } = chain.parameters;
    const maximum = claim.job.window + 2 * baseClock;
    // The soak itself needs some seconds to send one transaction after the other.
    if (seconds > maximum + 600) this.#market.fault(`a verdict after ${seconds} s, at most ${maximum}`);
    totals.largestDelayBlocks = Math.max(totals.largestDelayBlocks, Math.ceil(seconds / 12));
  }

  async #end(ending: Ending): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const { chain, totals } = this.#market;
    const record = this.#record;
    const key = claimKeyOf(record.jobId, this.#subject.claim);
    const collect = this.#onGame("collect", [key]);
    if (record.games.length > 0 && (await chain.refusal(this.#workerAddress, collect)) === undefined) {
      const sent = await this.#market.must("collect", this.#workerAddress, collect);
      const collected = sent?.events.find((e) => e.eventName === "EarningsCollected");
      const amount = collected?.eventName === "EarningsCollected" ? collected.args.amount : 0n;
      this.#book("worker", amount - (sent?.cost ?? 0n), "collect");
    }
    if (record.games.some(({ closed }) => closed === undefined)) this.#market.fault("a game is open for ever");
    for (const [who, balance] of this.#balances) {
      const honest = who === "worker" ? this.#isHonest : this.#players.get(who as Hex)!.honest;
      if (!honest || balance >= 0n) continue;
      const { worker, claim } = this.#subject;
      const isSettled = this.#items.get(who)!.some((item) => item.startsWith("settle"));
      if ((isSettled || claim.job.claimSeconds === 0) && -balance <= SHORT_GAS * chain.parameters.priceCap) {
        totals.shortPaid -= balance;
        continue;
      }
      totals.honestLoss -= balance;
      const name = who === "worker" ? "worker" : this.#players.get(who as Hex)!.kind;
      const of = claim.job.claimSeconds === 0 ? `${worker.kind}, signed` : worker.kind;
      this.#market.fault(`honest ${name} lost ${-balance} wei about a claim of ${of}: ${this.#items.get(who)!.join()}`);
    }
    await this.#over(ending);
  }

  #book(who: string, amount: bigint, what: string): void {
    this.#items.set(who, [...(this.#items.get(who) ?? []), `${what} ${amount}`]);
    this.#balances.set(who, (this.#balances.get(who) ?? 0n) + amount);
  }
}

/** Returns a step proof for the first element at a game's position. */
function proofAt(theirs: RunExecution, state: GameState): StepProof | undefined {
  if (state.level !== Level.tensor) return undefined;
  const { dtype } = theirs.program.model.program.steps[state.step]!;
  const element = Math.floor((Number(state.index) * 2 ** state.depth * CHUNK_BYTES) / dtypeBytes(dtype));
  return stepProofAt(theirs, { item: state.item, step: state.step, element }, state);
}
