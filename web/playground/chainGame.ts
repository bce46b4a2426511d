import { createPublicClient, http, isAddressEqual, parseEther, type Hex } from "viem";
import { ContractRevertError, TransactionRevertedError } from "../../src/chain/errors.ts";
import { pause } from "../../src/chain/pause.ts";
import { Outcome, Side } from "../../src/chain/structs.ts";
import { CHAIN_ID, developmentAccount, PLAYGROUND } from "../../src/deploy/devnet/accounts.ts";
import type { ChallengerMove } from "../../src/dispute/challengerMove.ts";
import type { WorkerMove } from "../../src/dispute/workerMove.ts";
import { errorWithCode } from "../../src/base/errors.ts";
import { stateOf, type ClaimRecord, type GameRecord, type MoveRecord } from "../../src/chain/market/history.ts";
import { followMarket, openSession, type Session } from "../../src/chain/market/session.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { completeTerms, minWindow, postJob, usualClaimSeconds } from "../../src/parties/requester/postJob.ts";
import { sendMove } from "../../src/parties/worker/sendMove.ts";
import { claimProblem } from "../../src/parties/worker/jobPolicy.ts";
import { Responder } from "../../watcher/responder.ts";
import { counted } from "../format.ts";
import type { Target } from "../explorer/deployment.ts";
import type { Prepared } from "./messages.ts";

/** A chain on which the playground does not play, or cannot. */
class PlaygroundChainError extends errorWithCode("PLAYGROUND_CHAIN") {}

/** Both sides of a dispute about a changed number. The thread that has their executions plays them. */
export type Players = {
  /** @param arityBits log2 of a reveal's children. */
  prepare: (arityBits: number) => Promise<Prepared>;
  workerMove: (state: GameState, now: bigint) => Promise<WorkerMove>;
  watcherMove: (moves: readonly MoveRecord[], now: bigint) => Promise<ChallengerMove>;
};

/** What happens, in words; the job once it is posted. */
export type News = { what: string; jobId?: Hex };

const FEE = parseEther("0.01");

/** Seconds that remain for opening the dispute, at least: who looks on may take some of them. */
const WINDOW = 600;
const DAY = 86_400n;

/** Pauses between two looks at the chain: for a receipt, and for a move of somebody else. */
const [POLLING_MS, ROUND_MS] = [200, 500] as const;
const TIMEOUT_MS = 15_000;

/** Errors of moves that somebody else came before. */
const OVERTAKEN = new Set(["ClaimDead", "StaleState"]);

/**
 * Plays a dispute on a development chain: posts a job, claims it with the changed number, and disputes that claim to
 * its end. Both accounts are known to everybody, so that no other chain is played on.
 * @param tell Called with what was done.
 * @throws PlaygroundChainError, the errors of `openSession` and of transactions, the signal's reason
 */
export async function playOnChain(
  target: Target,
  players: Players,
  tell: (news: News) => void,
  signal: AbortSignal,
): Promise<void> {
  const { worker, watcher } = await openBoth(target);
  const { parameters } = watcher.deployment;
  const prepared = await players.prepare(parameters.arityBits);
  signal.throwIfAborted();
  const rare = { collateral: parameters.collateral, reservedFor: worker.sender.address };
  const { description, inputs, nodes, pick } = prepared;
  const claimSeconds = usualClaimSeconds(watcher, description);
  const { timestamp } = await watcher.publicClient.getBlock();
  const window = Math.max(WINDOW, minWindow(watcher, description));
  const terms = { fee: FEE, window, claimSeconds, deadline: timestamp + BigInt(claimSeconds) + DAY, rare };
  tell({ what: "The requester posts a job." });
  const { jobId, job } = await postJob(watcher, description, inputs, terms, (done, total) =>
    tell({ what: `Of its inputs, ${done} of ${counted(total, "part")} are on chain.` }),
  );
  signal.throwIfAborted();
  tell({ what: "The worker claims it, and submits the root of what it computed with the changed number.", jobId });
  await worker.market.claimAndSubmit(job, completeTerms(rare), nodes);
  signal.throwIfAborted();
  tell({ what: "The watcher finds another root, puts up a bond, and opens a dispute." });
  const game = new Game(players, worker, watcher, jobId);
  await game.open(pick);
  tell({ what: "Both sides move, as the clock allows." });
  const isOwn = await game.play(signal);
  if (!isOwn) tell({ what: "Another watcher, the devnet’s own, was first, and has refuted the claim." });
  tell({ what: "The claim is refuted: the worker has lost what it staked on it." });
}

/** @throws PlaygroundChainError, and the errors of `openSession` */
async function openBoth({ rpc, market, fromBlock }: Target): Promise<{ worker: Session; watcher: Session }> {
  const transport = http(rpc, { retryCount: 1, timeout: TIMEOUT_MS });
  const chainId = await createPublicClient({ transport }).getChainId();
  if (chainId !== CHAIN_ID)
    throw new PlaygroundChainError(
      `the chain is ${chainId}: the playground signs with keys that everybody knows, and plays on development chains ` +
        `(${CHAIN_ID}) only: start one with refute devnet`,
    );
  const session = (index: number): Promise<Session> =>
    openSession({
      endpoint: { transport },
      chainId,
      market,
      fromBlock,
      account: developmentAccount(index),
      patience: { pollingMs: POLLING_MS },
    });
  const [worker, watcher] = await Promise.all([session(PLAYGROUND.worker), session(PLAYGROUND.watcher)]);
  const problem = await claimProblem(worker, worker.deployment.parameters.collateral);
  if (problem !== undefined)
    throw new PlaygroundChainError(`the playground's worker cannot claim here (${problem.reason}): restart the devnet`);
  return { worker, watcher };
}

/** The dispute about the claim on a job. */
class Game {
  readonly #players: Players;
  readonly #worker: Session;
  readonly #watcher: Session;
  readonly #responder: Responder;
  readonly #jobId: Hex;
  readonly #follow;

  constructor(players: Players, worker: Session, watcher: Session, jobId: Hex) {
    [this.#players, this.#worker, this.#watcher, this.#jobId] = [players, worker, watcher, jobId];
    this.#responder = new Responder(watcher);
    this.#follow = followMarket(watcher);
  }

  async open(pick: Prepared["pick"]): Promise<void> {
    const { claim } = await this.#look();
    await ignoreOvertaken(this.#responder.open(claim, 0, pick));
  }

  /**
   * Has both sides move until the claim is refuted.
   * @returns whether it was this watcher that refuted it
   * @throws PlaygroundChainError if the watcher loses
   */
  async play(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      const { claim, now } = await this.#look();
      const own = claim.games.filter(({ challenger }) => isAddressEqual(challenger, this.#watcher.sender.address));
      const open = claim.games.filter(({ closed }) => closed === undefined);
      if (claim.refuted) {
        for (const game of own.filter((each) => open.includes(each))) await this.#responder.settle(game);
        return own.some(({ closed }) => closed?.outcome === Outcome.challengerWon);
      }
      if (own.some(({ closed }) => closed?.outcome === Outcome.workerWon))
        throw new PlaygroundChainError("the watcher's time was over before its move: play it again");
      let hasMoved = false;
      for (const game of open) hasMoved = (await this.#move(claim, game, now)) || hasMoved;
      if (!hasMoved) await pause(ROUND_MS, signal);
    }
  }

  /** Has the side that is to move make its move. @returns whether there was one */
  async #move(claim: ClaimRecord, game: GameRecord, now: bigint): Promise<boolean> {
    const state = stateOf(game);
    if (state.turn === Side.worker) {
      const move = await this.#players.workerMove(state, now);
      return ignoreOvertaken(sendMove(this.#worker, game, move).then((made) => made !== undefined));
    }
    if (!isAddressEqual(game.challenger, this.#watcher.sender.address)) return false;
    const move = await this.#players.watcherMove(game.moves, now);
    if (move.kind === "wait") return false;
    return ignoreOvertaken(this.#responder.move(claim, game, move).then(() => true));
  }

  async #look(): Promise<{ claim: ClaimRecord; now: bigint }> {
    const { history, now } = await this.#follow();
    const claim = history.jobs.get(this.#jobId)?.claims.at(-1);
    if (claim === undefined) throw new PlaygroundChainError("the node does not show the claim: ask another node");
    return { claim, now };
  }
}

/**
 * Another watcher may refute the same claim, and come first: before a move is sent, or while it is. Then the chain is
 * looked at again, which shows what is left to do.
 * @returns false then
 */
export const ignoreOvertaken = <T>(sent: Promise<T>): Promise<T | false> =>
  sent.catch((error: unknown) => {
    if (error instanceof TransactionRevertedError) return false;
    if (error instanceof ContractRevertError && OVERTAKEN.has(error.errorName)) return false;
    throw error;
  });
