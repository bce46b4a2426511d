import { zeroHash, type Address, type Hex } from "viem";
import { submittedList } from "../../src/dispute/disputed.ts";
import { claimContentOf, claimIdOf, claimKeyOf } from "../../src/market/ids.ts";
import { programFacts } from "../../src/player/execution.ts";
import type { RunExecution } from "../../src/player/runExecution.ts";
import { packState, type GameState } from "../../src/market/state.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../../src/market/history.ts";
import {
  Level,
  Outcome,
  Side,
  type Claim,
  type Job,
  type JobRequest,
  type StepProof,
} from "../../src/chain/structs.ts";
import { CHUNK_BYTES } from "../../src/merkle/sizes.ts";
import { concatenated } from "../../src/merkle/concatenated.ts";
import { toHex } from "../../src/merkle/hash.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import type { Prng } from "../random/prng.ts";
import { ETHER } from "../protocol/world.ts";
import type { SoakCall } from "./chain.ts";
import {
  confused,
  jumper,
  parasite,
  proofAt as stepProofAt,
  rootPick,
  watcher,
  type SoakChallenger,
} from "./challengers.ts";
import { lyingRun } from "./lies.ts";
import { soakProgram, type SoakProgram } from "./programs.ts";
import type { SoakMarket } from "./market.ts";
import { honestWorker, lyingWorker, type SoakWorker } from "./workers.ts";

/** Seconds in which an honest party usually notices and answers. */
const USUAL_SECONDS = 120;

/** One job, one claim, and every game on it, until nothing is left to do. */
export class Round {
  readonly #market: SoakMarket;
  readonly #prng: Prng;
  readonly #program: SoakProgram;
  readonly #worker: SoakWorker;
  readonly #workerAddress: Address;
  readonly #players = new Map<Hex, SoakChallenger>();
  /** The base fee when the claim died. */
  #deathFee = 0n;
  /**
   * What the gas of an honest worker's moves cost beyond what it drew, and of each honest challenger's beyond what it
   * was paid.
   */
  readonly #balances = new Map<string, bigint>();
  #job!: Job;
  #claim!: Claim;
  #claimId: Hex = zeroHash;
  #submittedAt = 0;
  #ended = false;
  #done: () => void = () => undefined;

  constructor(market: SoakMarket) {
    this.#market = market;
    this.#prng = market.prng;
    this.#program = soakProgram(this.#prng);
    const { arityBits } = market.chain.parameters;
    const honest = this.#prng.below(3) === 0;
    this.#worker = honest ? honestWorker(this.#program, arityBits) : lyingWorker(this.#prng, this.#program, arityBits);
    this.#workerAddress = this.#prng.pick(honest ? market.honestWorkers : market.liars);
  }

  /** @param done Called when the job is closed or finalised and no game is open any more. */
  begin(time: number, done: () => void): void {
    this.#done = done;
    this.#plan(time, () => this.#post());
  }

  get #record(): ClaimRecord {
    return this.#market.chain.history.claims.get(this.#claimId)!;
  }

  get #isHonest(): boolean {
    return this.#worker.kind === "honest";
  }

  #plan(time: number, run: () => Promise<void>): void {
    this.#market.agenda.plan(time, run);
  }

  async #post(): Promise<void> {
    const { chain, requester } = this.#market;
    const { known, inputs } = this.#program;
    const request: JobRequest = {
      program: programFacts(known.commitment),
      inputRoots: inputs.roots,
      inputs: inputs.roots.map((_, k) => toHex(concatenated(inputs.posted(k)))),
      ...inputs.length,
      fee: (BigInt(this.#prng.below(100)) * ETHER) / 100n,
      window: chain.parameters.baseWindow + 1 + this.#prng.below(3_600),
      claimSeconds: 600,
      deadline: BigInt(chain.now + 400_000),
      callbackGas: 0,
      maxOutputBytes: this.#prng.pick([0, 4_096]),
      rootOnly: false,
      terms: [],
      answer: this.#program.form === "answer",
      salt: this.#market.nextSalt(),
    };
    const sent = await this.#market.must("requester", requester, chain.onMarket("post", [request]));
    const posted = sent?.events.find((e) => e.eventName === "JobPosted");
    if (posted?.eventName !== "JobPosted") return;
    this.#job = posted.args.job;
    if (this.#job.inputsRoot !== inputs.list.root) this.#market.fault("another inputs root");
    this.#plan(chain.now + 1 + this.#prng.below(300), () => this.#take());
  }

  async #take(): Promise<void> {
    const { chain } = this.#market;
    await this.#market.must("worker", this.#workerAddress, chain.onMarket("claim", [this.#job]));
    this.#plan(chain.now + 1 + this.#prng.below(500), () => this.#submit());
  }

  async #submit(): Promise<void> {
    const { chain } = this.#market;
    const { root, nodes } = this.#worker;
    const call = chain.onMarket("submit", [this.#job, nodes]);
    const refusal = this.#isHonest ? undefined : await chain.refusal(this.#workerAddress, call);
    if (refusal !== undefined) return this.#abandoned(refusal);
    const sent = await this.#market.must("worker", this.#workerAddress, call);
    const submitted = sent?.events.find((e) => e.eventName === "ClaimSubmitted");
    if (submitted?.eventName !== "ClaimSubmitted") return;
    const { collateral } = chain.parameters;
    this.#claim = { job: this.#job, worker: this.#workerAddress, root, collateral };
    this.#claimId = submitted.args.claimId;
    if (claimIdOf(claimKeyOf(submitted.args.jobId, this.#claim)) !== this.#claimId) this.#market.fault("another id");
    this.#submittedAt = chain.now;
    const window = Number(submitted.args.windowEnd) - chain.now;
    for (const challenger of this.#challengers()) {
      const wait = this.#prng.below(10) === 0 ? window - 20 : this.#prng.below(Math.max(window - 60, 1));
      this.#plan(chain.now + wait, () => this.#open(challenger));
    }
    this.#plan(Number(submitted.args.windowEnd) + 5, () => this.#finalise());
  }

  /** A submission that is refused: the job is freed when the claim's time is over, and costs the worker the penalty. */
  #abandoned(refusal: string): void {
    const { chain, totals, requester } = this.#market;
    totals.count(totals.refusals, `submit: ${errorName(refusal)}`);
    totals.count(totals.verdicts, `${this.#worker.kind}: refused at submission`);
    this.#plan(chain.now + 1_000, async () => {
      await this.#market.must("expire", requester, chain.onMarket("expire", [this.#job]));
      await this.#market.must("cancel", requester, chain.onMarket("cancel", [this.#job]));
      this.#done();
    });
  }

  /** Draws challengers: at least one honest one against a wrong claim, none against a right one. */
  #challengers(): SoakChallenger[] {
    const { prng, chain, watchers, parasites } = this.#market;
    const { arityBits } = chain.parameters;
    const own = this.#program.right;
    const worker = this.#worker;
    const wrong = () => lyingRun(prng, this.#program, "bit");
    const list: SoakChallenger[] = [];
    if (!worker.right) {
      const first = prng.below(watchers.length);
      for (let k = 0; k <= prng.below(2); k++) {
        const address = watchers[(first + k) % watchers.length]!;
        const { published } = worker;
        const jumps = published !== undefined && prng.below(2) === 0;
        list.push(
          jumps ? jumper(prng, address, own, published, arityBits) : watcher(address, own, worker.nodes, arityBits),
        );
      }
    } else if (worker.kind === "deserter") {
      list.push(confused(prng.pick(parasites), wrong(), worker.nodes, arityBits));
    }
    const others = prng.below(40) === 0 ? 20 : prng.below(worker.right ? 5 : 3);
    for (let k = 0; k < others; k++) {
      list.push(parasite(prng, prng.pick(parasites), worker, own, wrong, arityBits));
    }
    return list;
  }

  async #open(challenger: SoakChallenger): Promise<void> {
    const record = this.#record;
    if (record.refuted || record.finalised) return;
    const { chain } = this.#market;
    const call = chain.onGame("open", [this.#claim, this.#prng.below(4), challenger.opening()]);
    // The same account may have opened a game of this number before.
    const refusal = await chain.refusal(challenger.address, call);
    if (refusal?.includes("GameExists")) return;
    const sent = await this.#market.must(challenger.kind, challenger.address, call);
    const moved = sent?.events.find((e) => e.eventName === "Picked");
    if (moved?.eventName !== "Picked" || sent === undefined) return;
    this.#market.totals.games++;
    this.#players.set(moved.args.gameId, challenger);
    this.#book(moved.args.gameId, -sent.cost - chain.bond);
    this.#schedule(chain.history.games.get(moved.args.gameId)!);
  }

  /** Plans what the sides of a game do in its current state. */
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

  /** Honest parties keep some of their time; the others use any part of theirs, or all of it. */
  #delay(honest: boolean, left: number): number {
    const prng = this.#prng;
    if (prng.below(4) !== 0) return prng.below(Math.min(USUAL_SECONDS, left));
    return honest ? prng.below(Math.floor(left / 2)) : prng.pick([left, left - 1, prng.below(left)]);
  }

  async #answer(game: GameRecord): Promise<void> {
    const answer = this.#worker.answer(game, BigInt(this.#market.chain.now));
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
        return this.#move(game, from, "prove", [this.#claim, reply.proof], !challenger.honest);
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
    const state = stateOf(game);
    const proof = this.#worker.published === undefined ? undefined : proofAt(this.#worker.published, state);
    const packed = packState(state);
    const { key } = game;
    const tries: [string, unknown[]][] = [
      ["concede", [packed, key]],
      ["settle", [packed]],
      ["timeout", [packState({ ...state, since: state.since - 1_000_000 }), key]],
      ["expand", [packed, claimContentOf(key), "0x", []]],
      ["reveal", [packed, toHex(new Uint8Array(512).fill(0xa5))]],
      ["pick", [packed, rootPick(this.#program.right, submittedList(this.#program.right, this.#worker.nodes))]],
      ...(proof === undefined ? [] : ([["prove", [packed, this.#claim, proof]]] as [string, unknown[]][])),
    ];
    for (const [name, args] of tries) {
      const refusal = await chain.refusal(requester, chain.onGame(name, args));
      if (refusal === undefined) this.#market.fault(`a stranger's ${name} is taken`);
      totals.count(totals.refusals, `stranger's ${name}`);
    }
    const refusal = await chain.refusal(requester, chain.onMarket("finalise", [this.#claim]));
    if (refusal === undefined) this.#market.fault("a disputed claim can be finalised");
  }

  /** @param mayBeRefused A refusal is counted, and costs the mover its turn. */
  async #move(
    game: GameRecord,
    from: Address,
    functionName: string,
    args: readonly unknown[],
    mayBeRefused = false,
  ): Promise<void> {
    const { chain, totals } = this.#market;
    const call = chain.onGame(functionName, [packState(stateOf(game)), ...args]);
    if (mayBeRefused) {
      const refusal = await chain.refusal(from, call);
      if (refusal !== undefined) {
        return totals.count(totals.refusals, `${functionName}: ${errorName(refusal)}`);
      }
    }
    const proof = functionName === "prove";
    if (proof && this.#worker.right && this.#isHonest) this.#market.fault("an honest claim is proven wrong");
    const sent = await this.#market.must(functionName, from, call);
    if (sent === undefined) return;
    this.#book(from === this.#workerAddress ? "worker" : game.id, -sent.cost);
    if (game.closed !== undefined) this.#closed(game, functionName, sent.baseFee);
    else this.#schedule(game);
  }

  #closed(game: GameRecord, how: string, baseFee: bigint): void {
    const { totals, chain, prng } = this.#market;
    const challenger = this.#players.get(game.id)!;
    const { outcome, paid } = game.closed!;
    const lost = outcome === Outcome.workerWon;
    this.#book(lost ? "worker" : game.id, paid);
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
    this.#plan(chain.now + 6_000, () => this.#end());
  }

  /** What the step of a proof reads, apart from constants and other steps. */
  #readsOf({ item, step }: GameState): Set<string> {
    const { inputs, steps } = this.#program.known.model.program;
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
    const call = chain.onGame("settle", [packState(stateOf(game))]);
    // It has no deadline: whoever is owed settles in the next block, or waits until gas costs no more than it could
    // cost there.
    const sent = await this.#market.must("settle", address, call, this.#deathFee + this.#deathFee / 8n);
    if (sent === undefined) return;
    this.#book(game.id, game.closed!.paid - sent.cost);
    totals.count(totals.endings, `${kind}: settled`);
    const again = await chain.refusal(address, chain.onGame("settle", [packState(stateOf(game))]));
    if (again === undefined) this.#market.fault("a game can be settled twice");
  }

  async #finalise(): Promise<void> {
    const { chain } = this.#market;
    const record = this.#record;
    const open = record.games.some(({ closed }) => closed === undefined);
    if (this.#ended || record.refuted || record.finalised || open) return;
    await this.#market.must("finalise", this.#workerAddress, chain.onMarket("finalise", [this.#claim]));
    this.#verdict("finalised");
    await this.#end();
  }

  /** Judges the verdict. */
  #verdict(how: string): void {
    const { totals, chain } = this.#market;
    const { kind, right } = this.#worker;
    totals.count(totals.verdicts, `${kind}: ${how}`);
    const refuted = how !== "finalised";
    if (kind === "honest" ? refuted : !right && !refuted) this.#market.fault(`claim of ${kind}: ${how}`);
    if (kind === "deserter" && how === "refuted by prove") this.#market.fault("a right claim was proven wrong");
    const seconds = chain.now - this.#submittedAt;
    const { baseClock } = chain.parameters;
    const maximum = this.#job.window + 2 * baseClock;
    // The soak itself needs some seconds to send one transaction after the other.
    if (seconds > maximum + 600) this.#market.fault(`a verdict after ${seconds} s, at most ${maximum}`);
    totals.largestDelayBlocks = Math.max(totals.largestDelayBlocks, Math.ceil(seconds / 12));
  }

  async #end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const { chain, totals, requester } = this.#market;
    const record = this.#record;
    const key = claimKeyOf(record.jobId, this.#claim);
    const collect = chain.onGame("collect", [key]);
    if (record.games.length > 0 && (await chain.refusal(this.#workerAddress, collect)) === undefined) {
      const sent = await this.#market.must("collect", this.#workerAddress, collect);
      const collected = sent?.events.find((e) => e.eventName === "EarningsCollected");
      const amount = collected?.eventName === "EarningsCollected" ? collected.args.amount : 0n;
      this.#book("worker", amount - (sent?.cost ?? 0n));
    }
    await this.#freeTheJob(record, requester);
    if (record.games.some(({ closed }) => closed === undefined)) this.#market.fault("a game is open for ever");
    for (const [who, balance] of this.#balances) {
      const honest = who === "worker" ? this.#isHonest : this.#players.get(who as Hex)!.honest;
      if (!honest || balance >= 0n) continue;
      totals.honestLoss -= balance;
      const name = who === "worker" ? "worker" : this.#players.get(who as Hex)!.kind;
      this.#market.fault(`honest ${name} lost ${-balance} wei`);
    }
    this.#done();
  }

  async #freeTheJob(record: ClaimRecord, requester: Address): Promise<void> {
    const { chain } = this.#market;
    const call = (name: string, ...args: unknown[]): SoakCall => chain.onMarket(name, args);
    if (record.refuted) await this.#market.must("cancel", requester, call("cancel", this.#job));
    else if (!record.paid) await this.#market.must("accept", requester, call("accept", this.#claim));
  }

  #book(who: string, amount: bigint): void {
    this.#balances.set(who, (this.#balances.get(who) ?? 0n) + amount);
  }
}

/** The name of the error in what a node says of a revert. */
const errorName = (refusal: string): string => /custom error '(\w+)/.exec(refusal)?.[1] ?? refusal;

/** A step proof where a game stands, of the first element there. */
function proofAt(theirs: RunExecution, state: GameState): StepProof | undefined {
  if (state.level !== Level.tensor) return undefined;
  const { dtype } = theirs.program.model.program.steps[state.step]!;
  const element = Math.floor((Number(state.index) * 2 ** state.depth * CHUNK_BYTES) / dtypeBytes(dtype));
  return stepProofAt(theirs, { item: state.item, step: state.step, element }, state);
}
