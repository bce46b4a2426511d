import type { Hex } from "viem";
import type { Execution } from "../../src/dispute/run/execution.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { stateOf, type GameRecord } from "../../src/chain/market/history.ts";
import { followMarket, type Session } from "../../src/chain/market/session.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { Side } from "../../src/chain/structs.ts";
import { defend } from "../../src/parties/worker/sendMove.ts";
import type { Arena, Posted } from "./arena.ts";
import { claim, concede, runFor, submit } from "./sendMoves.ts";
import type { Verdict } from "./verdict.ts";

/** A liar's choice in a game: defend an execution, give up, or do nothing. */
type LiarsChoice = Execution | RunExecution | "concede" | "nothing";

/** A worker that claims, submits arbitrary executions, and answers each game arbitrarily. */
export class LiarWorker {
  readonly #arena: Arena;
  readonly session: Session;
  readonly key: Hex;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(arena: Arena, session: Session, key: Hex) {
    this.#arena = arena;
    this.session = session;
    this.key = key;
  }

  static async create(arena: Arena, key?: Hex): Promise<LiarWorker> {
    const own = key ?? (await arena.players.workerKey());
    return new LiarWorker(arena, await arena.players.chain.sessionOf(own), own);
  }

  /** Claims a job and submits an execution's root, or any root. */
  async submit({ record }: Posted, execution: Execution | RunExecution | Hex): Promise<void> {
    await claim(this.session, record);
    await submit(this.session, record, execution);
  }

  /** Answers games on the liar's claims until `stop`. Ignores late moves and moves refused by the contract. */
  answer(choose: (game: GameRecord) => LiarsChoice | Promise<LiarsChoice>): void {
    this.#running = this.#loop(choose);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Waits until its claim on a job is refuted, stops, and reports how the claim was refuted. */
  async death(posted: Posted): Promise<Verdict> {
    const verdict = await this.#arena.death(posted);
    await this.stop();
    return verdict;
  }

  async #loop(choose: (game: GameRecord) => LiarsChoice | Promise<LiarsChoice>): Promise<void> {
    const follow = followMarket(this.session);
    const me = this.session.sender.address;
    while (!this.#stopped) {
      const { history, now } = await follow();
      for (const { claim: own, jobId, games, refuted } of history.claims.values()) {
        if (own.worker !== me || refuted) continue;
        for (const game of games.filter(({ closed }) => closed === undefined)) {
          const choice = await choose(game);
          if (choice === "nothing") continue;
          try {
            if (choice === "concede") await concede(this.session, game);
            else if (stateOf(game).turn === Side.worker)
              await defend(this.session, game, runFor(history.jobs.get(jobId)!, choice), now);
          } catch (error) {
            if (!(error instanceof RefuteError)) throw error;
          }
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
