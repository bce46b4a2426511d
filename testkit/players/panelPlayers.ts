import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther, type Address, type Hex } from "viem";
import type { Panel } from "../../src/chain/clients/panel.ts";
import type { Session } from "../../src/chain/market/session.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { followPanel, type FollowPanelOptions } from "../../src/parties/requester/followPanel.ts";
import { openPanel, panelTimes, postPanel } from "../../src/parties/requester/panel.ts";
import type { PanelState } from "../../src/parties/requester/panelState.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import type { WorkerOptions } from "../../src/parties/worker/options.ts";
import { SealBook } from "../../src/parties/worker/sealBook.ts";
import { first, Players, type Running } from "./players.ts";
import type { Execute } from "../../src/runs/execute.ts";

const CLAIM_SECONDS = 1_800;
export const WINDOW = 3_600;
export const FEE = parseEther("0.1");

/** A posted panel and its poster. */
export type PostedPanel = {
  poster: Session;
  panel: Panel;
  panelId: Hex;
  jobs: readonly Hex[];
  deadline: bigint;
  openFrom: number;
};

/** A worker with the file of its seals. */
type SealingWorker = { key: Hex; address: Address; running: Running<WorkerEvent>; stop: () => Promise<void> };

/** Players with panels on their chain. */
export class PanelPlayers {
  readonly players: Players;
  readonly panel: Address;
  readonly folder: string;
  readonly #program: KnownProgram;

  private constructor(players: Players, panel: Address, program: KnownProgram) {
    [this.players, this.panel, this.#program] = [players, panel, program];
    this.folder = mkdtempSync(join(tmpdir(), "refute-panels-"));
  }

  static async create(program: KnownProgram): Promise<PanelPlayers> {
    const players = await Players.create();
    return new PanelPlayers(players, await players.chain.deploy("Panel", [players.chain.market]), program);
  }

  async close(): Promise<void> {
    await this.players.chain.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A poster asks so many workers. */
  async post(inputs: readonly Uint8Array[], seats: number, hasAudit = false): Promise<PostedPanel> {
    const poster = await this.players.chain.newSession(parseEther("2"));
    const panel = await openPanel(poster, this.panel);
    const times = panelTimes(await this.players.chain.now(), CLAIM_SECONDS, { hasAudit });
    const terms = { fee: FEE, window: WINDOW, claimSeconds: CLAIM_SECONDS, seats, ...times };
    const posted = await postPanel(poster, panel, describeProgram(this.#program), inputs, terms);
    return { poster, panel, ...posted, deadline: times.deadline, openFrom: times.openFrom };
  }

  /**
   * Starts a sealing worker, with a fresh key unless a key is given. The key's file holds the data that opens the
   * worker's seals.
   */
  async work(execute: Execute, key?: Hex, options: Partial<WorkerOptions> = {}): Promise<SealingWorker> {
    const own = key ?? (await this.players.workerKey());
    const address = this.players.addressOf(own);
    const seals = await SealBook.at(join(this.folder, `${address}.db`));
    const running = await this.players.startWorker(own, this.#program, execute, { seals, ...options });
    const stop = async (): Promise<void> => {
      await running.stop();
      seals.close();
    };
    return { key: own, address, running, stop };
  }

  async watch(execute: Execute) {
    return this.players.startWatcher(await this.players.watcherKey(), this.#program, execute);
  }

  /** Brings a panel to an end, in parallel with all other panels. */
  follow({ poster, panel, panelId }: PostedPanel, options: FollowPanelOptions = {}): Promise<PanelState> {
    return followPanel(poster, panel, panelId, { intervalMs: 30, ...options });
  }

  /** Has the chain reach a time. */
  async reach(time: bigint | number): Promise<void> {
    const now = await this.players.chain.now();
    if (BigInt(time) > now) await this.players.chain.advance(Number(BigInt(time) - now));
  }

  /** Waits until workers have sealed, and lets the seals be opened. */
  async sealAndOpen({ openFrom }: PostedPanel, workers: readonly SealingWorker[]): Promise<void> {
    await Promise.all(workers.map(({ running }) => first(running, "sealed")));
    await this.reach(openFrom);
    await Promise.all(workers.map(({ running }) => first(running, "submitted")));
  }
}
