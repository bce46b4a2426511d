import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther, zeroHash, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { attest } from "../../src/attestation/attest.ts";
import { SoftwareDevice } from "../../src/attestation/device.ts";
import { AnswerService } from "../../src/parties/tickets/answerService.ts";
import type { ServiceOptions } from "../../src/parties/tickets/serviceOptions.ts";
import { Cashier } from "../../src/parties/tickets/cashier.ts";
import { heldInputs } from "../../src/runs/inputs/heldInputs.ts";
import { endpointOf, listen } from "../../src/parties/tickets/http.ts";
import { Payer, type PayerOptions } from "../../src/parties/tickets/payer.ts";
import { PayerLedger } from "../../src/parties/tickets/payerLedger.ts";
import { serveClaims } from "../../src/parties/tickets/serveClaims.ts";
import { loadFindSigner } from "../../src/parties/tickets/signatures.ts";
import { openTickets, type TicketSession } from "../../src/parties/tickets/ticketSession.ts";
import type { Health } from "../../src/base/health.ts";
import type { Logger } from "../../src/base/log.ts";
import { WorkerLedger } from "../../src/parties/tickets/workerLedger.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import type { WatcherEvent } from "../../watcher/events.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { Players, quiet, start } from "./players.ts";
import type { Execute } from "../../src/runs/execute.ts";

export const FACE = parseEther("0.01");

/** A worker that serves answers, and the objects for tests. */
export type Serving = {
  at: TicketSession;
  ledger: WorkerLedger;
  service: AnswerService;
  cashier: Cashier;
  url: string;
  path: string;
  stop: () => Promise<void>;
};

/** Players with pledged claims and tickets on their chain. */
export class TicketPlayers {
  readonly players: Players;
  readonly tickets: Address;
  readonly folder: string;
  #files = 0;

  private constructor(players: Players, tickets: Address) {
    [this.players, this.tickets] = [players, tickets];
    this.folder = mkdtempSync(join(tmpdir(), "refute-tickets-"));
  }

  /** @param parameters Of the deployment, where they are not the usual ones of tests. */
  static async create(parameters: Parameters<typeof Players.create>[0] = {}): Promise<TicketPlayers> {
    const players = await Players.create(parameters);
    return new TicketPlayers(players, (await players.chain.deployTickets()).tickets);
  }

  async close(): Promise<void> {
    await this.players.chain.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A session of an account about these tickets. */
  open(key: Hex, tickets = this.tickets): Promise<TicketSession> {
    const { transport, chainId } = this.players.chain;
    return openTickets({ endpoint: { transport }, chainId, tickets, account: privateKeyToAccount(key) });
  }

  /** Returns the key of an attested worker with a pledge. */
  async workerKey(): Promise<Hex> {
    const key = await this.players.chain.newAccount(parseEther("5"));
    const { session, pledges } = await this.open(key);
    await attest(session, new SoftwareDevice(this.players.manufacturer), zeroHash);
    const { collateral } = session.deployment.parameters;
    await deposit(session, collateral);
    await session.vault.stake(collateral);
    await pledges.pledge();
    return key;
  }

  /** A payer's session, with a deposit for a worker and credit for a bond. */
  async payer(worker: Address, amount = parseEther("1")): Promise<TicketSession> {
    const at = await this.open(await this.players.chain.newAccount(amount + parseEther("1")));
    await deposit(at.session, at.session.deployment.bond);
    if (amount > 0n) {
      await at.session.asset.approve(this.tickets, amount);
      await at.tickets.deposit(at.account.address, worker, amount);
    }
    return at;
  }

  /** A path for a ledger. */
  path(): string {
    return join(this.folder, `${this.#files++}.db`);
  }

  /** Has a worker serve. */
  async serve(
    key: Hex,
    program: KnownProgram,
    execute: Execute,
    changes: Partial<ServiceOptions> = {},
    path = this.path(),
  ): Promise<Serving> {
    const at = await this.open(key);
    const programs = ProgramLibrary.of([program]);
    const ledger = await WorkerLedger.open(path);
    const clock = () => Math.floor(Date.now() / 1_000) + this.ahead;
    const price = { face: FACE, oneIn: 1 };
    const service = new AnswerService({
      ...{ at, ledger, programs, execute, price, clock, maxBodyBytes: 2 ** 20 },
      findSigner: await loadFindSigner(),
      ...changes,
    });
    const endpoint = await listen(endpointOf(service), 0);
    const cashier = new Cashier({ at, ledger, programs, log: quiet });
    return {
      ...{ at, ledger, service, cashier, path },
      url: `http://127.0.0.1:${endpoint.port}`,
      stop: async () => {
        await service.stop();
        await endpoint.close();
        ledger.end();
      },
    };
  }

  /** The seconds from the machine's time to the chain's time, positive if the chain runs ahead. */
  ahead = 0;

  /** Takes over the chain's time. */
  async setClock(): Promise<void> {
    this.ahead = Number(await this.players.chain.now()) - Math.floor(Date.now() / 1_000);
  }

  /** Has the worker follow its claims: it defends them and makes them final. */
  follow(
    { at, ledger }: Pick<Serving, "at" | "ledger">,
    program: KnownProgram,
    execute: Execute,
    more: { log?: Logger; health?: Health; cashier?: Pick<Cashier, "round"> } = {},
  ) {
    const role = { programs: ProgramLibrary.of([program]), execute, at, ledger };
    const held = heldInputs((root) => ledger.inputsOf(root));
    // Tests cash by themselves.
    const cashier = { round: () => Promise.resolve({ cashed: [], collected: [], lost: [], failed: undefined }) };
    return start<WorkerEvent>(at.session, (all) =>
      serveClaims({ ...all, ...role, cashier, heldInputs: held, ...more }),
    );
  }

  /**
   * Starts a payer's watcher. The watcher refutes claims that the payer put on chain, with the inputs that the payer
   * holds.
   */
  watch(at: TicketSession, ledger: PayerLedger, program: KnownProgram, execute: Execute) {
    const role = { programs: ProgramLibrary.of([program]), execute, mode: "defend" as const };
    const held = heldInputs((root) => ledger.inputsOf(root));
    return start<WatcherEvent>(at.session, (all) => runWatcher({ ...all, ...role, heldInputs: held }));
  }

  async ask(at: TicketSession, url: string, changes: Partial<PayerOptions> = {}, path = this.path()) {
    const ledger = await PayerLedger.open(path);
    const clock = () => Math.floor(Date.now() / 1_000) + this.ahead;
    const payer = await Payer.open({ at, ledger, url, limits: { face: FACE, oneIn: 1 }, clock, ...changes });
    return { payer, ledger, path };
  }
}
