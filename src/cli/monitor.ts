import type { ServerResponse } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { Session } from "../market/session.ts";
import { HttpServer } from "../player/httpServer.ts";

/** An event of a worker or a watcher, as far as it is counted. */
export type CountedEvent = { kind: string; receipt?: { gasUsed: bigint } };

/** If the last round ended longer ago than this many intervals, and than a minute, the process is not ready. */
const STALE_INTERVALS = 5;
const MIN_STALE_MS = 60_000;

/** Shows a supervisor and Prometheus the state of a worker or a watcher. Serves on 127.0.0.1 only. */
export class Monitor {
  readonly #session: Pick<Session, "publicClient" | "sender">;
  readonly #staleMs: number;
  readonly #registry = new Registry();
  readonly #rounds: Counter<"outcome">;
  readonly #events: Counter<"kind">;
  readonly #gas: Counter<"kind">;
  readonly #balance: Gauge;
  readonly #lastGood: Gauge;
  readonly #hasCode: Gauge;
  readonly #server = new HttpServer((url, response) => this.#answer(url, response));
  #accountProblem: string | undefined;
  #lastRound: { outcome: "done" | "failed"; at: number } | undefined;

  /** @param intervalMs Pause between rounds. */
  constructor(session: Pick<Session, "publicClient" | "sender">, intervalMs: number) {
    this.#session = session;
    this.#staleMs = Math.max(MIN_STALE_MS, STALE_INTERVALS * intervalMs);
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#rounds = new Counter({ name: "refute_rounds_total", help: "Rounds", labelNames: ["outcome"], registers });
    this.#events = new Counter({ name: "refute_events_total", help: "Things done", labelNames: ["kind"], registers });
    this.#gas = new Counter({ name: "refute_gas_total", help: "Gas used", labelNames: ["kind"], registers });
    this.#balance = new Gauge({ name: "refute_balance_wei", help: "The account's ether", registers });
    this.#hasCode = new Gauge({
      name: "refute_account_has_code",
      help: "1 while the account is a contract or delegates to one: no games can be played from it",
      registers,
    });
    this.#lastGood = new Gauge({
      name: "refute_last_round_seconds",
      help: "Unix time of the last good round",
      registers,
    });
  }

  readonly onRound = (outcome: "done" | "failed"): void => {
    this.#rounds.inc({ outcome });
    this.#lastRound = { outcome, at: Date.now() };
    if (outcome === "done") this.#lastGood.setToCurrentTime();
  };

  readonly onAccount = (problem: { message: string } | undefined): void => {
    this.#accountProblem = problem?.message;
    this.#hasCode.set(problem === undefined ? 0 : 1);
  };

  readonly onEvent = ({ kind, receipt }: CountedEvent): void => {
    this.#events.inc({ kind });
    if (receipt !== undefined) this.#gas.inc({ kind }, Number(receipt.gasUsed));
  };

  /** Begins to serve. @param port 0 for any free one. @returns the port */
  listen(port: number): Promise<number> {
    return this.#server.listen(port);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    switch (url.split("?")[0]) {
      case "/healthz":
        response.writeHead(200).end("ok\n");
        break;
      case "/readyz": {
        const reason = await this.#notReady();
        response.writeHead(reason === undefined ? 200 : 503).end(`${reason ?? "ready"}\n`);
        break;
      }
      case "/metrics": {
        await this.#readBalance();
        const text = await this.#registry.metrics();
        response.writeHead(200, { "content-type": this.#registry.contentType }).end(text);
        break;
      }
      default:
        response.writeHead(404).end("only /healthz, /readyz and /metrics are here\n");
    }
  }

  /** Why this process should not be relied on now. */
  async #notReady(): Promise<string | undefined> {
    const last = this.#lastRound;
    if (last === undefined) return "no round has ended yet";
    if (last.outcome === "failed") return "the last round failed";
    if (Date.now() - last.at > this.#staleMs) return "the last round ended too long ago";
    if (this.#accountProblem !== undefined) return this.#accountProblem;
    const balance = await this.#readBalance();
    if (balance === undefined) return "no node answers";
    return balance === 0n ? "the account has no ether for gas" : undefined;
  }

  async #readBalance(): Promise<bigint | undefined> {
    const { publicClient, sender } = this.#session;
    const balance = await publicClient.getBalance({ address: sender.address }).catch(() => undefined);
    if (balance !== undefined) this.#balance.set(Number(balance));
    return balance;
  }
}
