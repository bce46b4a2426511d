import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { challengerMove, type ChallengerMove } from "../../src/dispute/challengerMove.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { MemoryGame } from "../../src/dispute/memoryGame.ts";
import { openingPick } from "../../src/dispute/pick.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { Side, type Claim, type JobRequest, type Pick, type StepProof } from "../../src/chain/structs.ts";
import { workSeconds } from "../../src/chain/market/clock.ts";
import type { MoveRecord } from "../../src/chain/market/history.ts";
import { packState, unpackState, type GameState } from "../../src/chain/market/state.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { readHeader } from "../../src/program/header.ts";
import { runWork } from "../../src/program/run.ts";
import { claimContentOf } from "../../src/chain/market/ids.ts";
import { numberOf } from "./gameDriver.ts";
import { withItems, type OwnRun } from "../programs/runsOf.ts";
import { claimKey, factsOf, gameEvents, postJob } from "./world.ts";
import { ETHER, type Actor, type World } from "./deployWorld.ts";

/** A worker's claim of a run on chain, with the execution and the nodes shown. */
export type ClaimedRun = { worker: OwnRun; claim: Claim; nodes: Hex };

/** The maximum total of input bytes posted with a job. For larger inputs, the job has only the roots. */
const POSTED_BYTES = 60_000;

/** A request for a run. */
async function runRequest(
  { parameters, networkHelpers }: World,
  { inputs, program, items, form }: OwnRun["run"],
  changes: Partial<JobRequest> = {},
): Promise<JobRequest> {
  const together = inputs.size <= POSTED_BYTES;
  const work = runWork(items, readHeader(program.commitment.header).work);
  return {
    program: factsOf(program.commitment),
    inputRoots: inputs.roots,
    inputs: together ? inputs.roots.map((_, k) => toHex(Buffer.concat(inputs.tensors(k)))) : [],
    items,
    firstItem: inputs.length.firstItem,
    fee: ETHER,
    window: parameters.baseWindow + workSeconds(work, parameters.rate),
    claimSeconds: 600,
    deadline: BigInt((await networkHelpers.time.latest()) + 86_400),
    callbackGas: 0,
    maxOutputBytes: 4_096,
    rootOnly: !together,
    terms: [],
    answer: form === "answer",
    salt: zeroHash,
    ...changes,
  };
}

/** Posts a run. A worker claims the run and submits the execution. */
export async function claimedRun(world: World, worker: OwnRun, changes: Partial<JobRequest> = {}): Promise<ClaimedRun> {
  const { run } = worker;
  const job = await postJob(world, await runRequest(world, run, changes));
  const { account } = world.worker;
  await world.market.write.claim([job], { account });
  const nodes = submissionOf(run.claimed, world.parameters.arityBits, run.form);
  await world.market.write.submit([job, nodes], { account });
  return {
    worker,
    claim: { job, worker: account.address, root: run.root, collateral: world.parameters.collateral },
    nodes,
  };
}

/** Parts of a state that a game without a chain, clocks and money does not have. */
const OF_CHAIN = [
  ...["claimId", "programRoot", "challenger", "number", "workerSeconds", "challengerSeconds", "since", "bond", "spent"],
] as (keyof GameState)[];

/** A state without these parts. */
const rulesOf = (state: GameState): Partial<GameState> =>
  Object.fromEntries(Object.entries(state).filter(([key]) => !OF_CHAIN.includes(key as keyof GameState)));

/**
 * A game about a claim of a run on chain. The sides play like worker and watcher, with separate executions. Each move
 * that the contract takes is also played in a `MemoryGame`, which must come to the contract's state.
 */
export class RunGame {
  gameId: Hex = "0x";
  readonly moves: MoveRecord[] = [];
  readonly #world: World;
  readonly #claimed: ClaimedRun;
  readonly #own: OwnRun;
  readonly #challenger: Actor;
  #memory: MemoryGame | undefined;

  /** @param own The challenger's execution. */
  constructor(world: World, claimed: ClaimedRun, own: OwnRun, challenger: Actor = world.watcher) {
    [this.#world, this.#claimed, this.#own, this.#challenger] = [world, claimed, own, challenger];
  }

  get state(): GameState {
    return this.moves.at(-1)!.state;
  }

  get claim(): Claim {
    return this.#claimed.claim;
  }

  /** The pick with which a watcher would open. */
  get firstPick(): Pick {
    const { run } = this.#own;
    const list = submittedList(run, this.#claimed.nodes);
    return openingPick(run, list, this.#world.parameters.arityBits)!;
  }

  async open(pick: Pick = this.firstPick, number = numberOf(pick.siblings.length, Number(pick.index))): Promise<this> {
    const { game } = this.#world;
    await this.#send("0x", game.write.open([this.#claimed.claim, number, pick], { account: this.#challenger.account }));
    const { program, items, form } = this.#claimed.worker.run;
    this.#memory = new MemoryGame(program, this.claim.root, pick, items, form);
    this.#compare();
    return this;
  }

  /** Plays both sides until the challenger neither picks nor waits. @returns what it does then */
  async play(): Promise<ChallengerMove> {
    if (this.gameId === "0x") await this.open();
    for (;;) {
      if (this.state.turn === Side.worker) await this.answer();
      else {
        const move = await this.next();
        if (move.kind !== "pick") return move;
        await this.pick(move.pick);
      }
    }
  }

  async pick(pick: Pick): Promise<void> {
    const { game } = this.#world;
    await this.#send("0x", game.write.pick([packState(this.state), pick], { account: this.#challenger.account }));
    this.#memory?.pick(pick);
    this.#compare();
  }

  /** Plays until the challenger has a proof. @throws Error if it concedes */
  async proof(): Promise<StepProof> {
    const move = await this.play();
    if (move.kind !== "prove") throw new Error(`the challenger does not prove: ${JSON.stringify(move)}`);
    return move.proof;
  }

  prove(proof: StepProof, claim: Claim = this.#claimed.claim): Promise<Hex> {
    const options = { account: this.#challenger.account };
    return this.#world.game.write.prove([packState(this.state), claim, proof], options);
  }

  /** The claim's status on chain. */
  async status(): Promise<number> {
    const [status] = await this.#world.market.read.claimOf([claimKey(this.#world, this.#claimed.claim)]);
    return status;
  }

  /** Returns the challenger's next move. */
  next(): Promise<ChallengerMove> {
    const { nodes } = this.#claimed;
    const now = BigInt(this.state.since);
    return withItems(this.#own, () =>
      challengerMove(this.#own.run, nodes, this.moves, this.#world.parameters.arityBits, now),
    );
  }

  /** Plays the challenger's pick. @throws Error if it does another thing */
  async pickNext(): Promise<void> {
    const move = await this.next();
    if (move.kind !== "pick") throw new Error(`the challenger does not pick: ${move.kind}`);
    await this.pick(move.pick);
  }

  /** Plays the worker's move. */
  async answer(): Promise<void> {
    const { parameters } = this.#world;
    const { worker } = this.#claimed;
    const now = BigInt(this.state.since);
    const move = await withItems(worker, () => workerMove(worker.run, this.state, parameters.arityBits, now));
    if (move.kind === "reveal") await this.reveal(move.data);
    else if (move.kind === "expand") await this.expand(move.children, move.siblings);
    else throw new Error(`the worker does not move: ${move.kind}`);
  }

  async reveal(data: Hex): Promise<void> {
    const { game, worker } = this.#world;
    await this.#send(data, game.write.reveal([packState(this.state), data], { account: worker.account }));
    this.#memory?.answer({ kind: "reveal", data });
    this.#compare();
  }

  async expand(children: Hex, siblings: readonly Hex[]): Promise<void> {
    const { game, worker } = this.#world;
    const key = claimKey(this.#world, this.claim);
    const args = [packState(this.state), claimContentOf(key), children, siblings] as const;
    await this.#send(children, game.write.expand(args, { account: worker.account }));
    this.#memory?.answer({ kind: "expand", children, siblings: [...siblings] });
    this.#compare();
  }

  /** Ends the game to the conceding side's disadvantage. */
  async concede({ account }: Actor): Promise<void> {
    await this.#world.game.write.concede([packState(this.state), claimKey(this.#world, this.claim)], { account });
  }

  /** Pays the worker's earnings for moves about the claim. */
  async collectEarned(): Promise<void> {
    await this.#world.game.write.collect([claimKey(this.#world, this.claim)]);
  }

  /** Compares the contract's state with that of the game in memory. */
  #compare(): void {
    if (this.#memory !== undefined) expect(rulesOf(this.#memory.state)).to.deep.equal(rulesOf(this.state));
  }

  async #send(data: Hex, sent: Promise<Hex>): Promise<void> {
    const transactionHash = await sent;
    for (const event of await gameEvents(this.#world, transactionHash)) {
      if (event.eventName !== "Moved" && event.eventName !== "Picked") continue;
      this.gameId = event.args.gameId;
      const state = unpackState(event.args.state);
      this.moves.push({ move: state.move, state, data, transactionHash });
    }
  }
}
