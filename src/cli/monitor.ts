import type { ServerResponse } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { getOrAdd } from "../base/getOrAdd.ts";
import type { Figures, Meter } from "../runs/figures.ts";
import type { Health } from "../base/health.ts";
import { HttpServer } from "../base/httpServer.ts";
import { printable } from "../base/text.ts";

/** The counted fields of a worker's or a watcher's event. */
export type CountedEvent = { kind: string; receipt?: { gasUsed: bigint } };

/** A request to a node that got no useful answer. */
type RpcFailure = { node: string; method: string; reason: string };

/** If the last round ended longer ago than this many intervals, and than a minute, the process is not ready. */
const STALE_INTERVALS = 5;
const MIN_STALE_MS = 60_000;

const UNIT = "in the smallest unit of the stake asset";

/** Figures of a role as gauges. */
const FIGURES: Record<keyof Figures, { name: string; help: string }> = {
  openClaims: {
    name: "refute_open_claims",
    help: "Own claims that are neither final nor refuted, accepted early or proven",
  },
  openGames: { name: "refute_open_games", help: "Games that the account plays" },
  minClock: { name: "refute_least_clock_seconds", help: "Time left for the account's next move in any game" },
  headLag: { name: "refute_head_lag_seconds", help: "Age of the newest block that the nodes show" },
  balance: { name: "refute_balance_wei", help: "The account's ether, in wei" },
  gasPrice: { name: "refute_gas_price_wei", help: "Base fee and usual tip, in wei of ether" },
  credit: { name: "refute_credit_wei", help: `The account's credit in the vault, ${UNIT}` },
  staked: { name: "refute_stake_wei", help: `The account's stake, ${UNIT}` },
  locked: { name: "refute_locked_stake_wei", help: `The part of the stake that backs claims, ${UNIT}` },
  bond: { name: "refute_bond_wei", help: `Credit that opening a game takes, ${UNIT}` },
  attestation: { name: "refute_attestation_seconds", help: "Time until the attestation ends, 0 without one" },
  classes: { name: "refute_classes_held", help: "Classes that exams have shown" },
  blobsAtRisk: {
    name: "refute_blobs_at_risk",
    help: "Jobs in blobs that nodes may forget before their disputes end, and that are not fetched yet",
  },
};

/** Seconds: a small model's execution to the longest that a usual claim leaves time for. */
const EXECUTION_BUCKETS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000];

const NO_ROUND = "no round has ended yet";

/** Reasons of failed requests that are told apart. A node's own words could be any number. */
const MAX_REASONS = 32;

/**
 * Shows a supervisor and Prometheus the state of a worker or a watcher. Serves on 127.0.0.1 only. It reads nothing from
 * the chain itself: being asked often costs no requests.
 */
export class Monitor {
  readonly #health: Health;
  readonly #staleMs: number;
  readonly #now: () => number;
  readonly #registry = new Registry();
  readonly #rounds: Counter<"outcome">;
  readonly #events: Counter<"kind">;
  readonly #gas: Counter<"kind">;
  readonly #failedAudits: Counter;
  readonly #native: Counter<"outcome">;
  readonly #fleet: Counter<"outcome">;
  readonly #rpcErrors: Counter<"node" | "reason">;
  readonly #execution: Histogram;
  readonly #lastGood: Gauge;
  readonly #info: Gauge<"role" | "version" | "chain" | "market">;
  readonly #device: Gauge<"name">;
  readonly #gpuSeconds: Counter<"name">;
  readonly #figures = new Map<string, Gauge>();
  readonly #reasons = new Set<string>();
  readonly #server = new HttpServer((url, response) => this.#answer(url, response));
  #deviceName: string | undefined;
  #lastRoundAt: number;
  #hasRounds = false;

  /** @param intervalMs Pause between rounds. @param now The time, milliseconds. */
  constructor(health: Health, intervalMs: number, now: () => number = Date.now) {
    this.#health = health;
    this.#staleMs = Math.max(MIN_STALE_MS, STALE_INTERVALS * intervalMs);
    [this.#now, this.#lastRoundAt] = [now, now()];
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#info = new Gauge({
      name: "refute_info",
      help: "Which role this is, of which version, on which market",
      labelNames: ["role", "version", "chain", "market"],
      registers,
    });
    this.#device = new Gauge({
      name: "refute_device",
      help: "1 for the device that computes now, 0 for a GPU that was stopped",
      labelNames: ["name"],
      registers,
    });
    this.#gpuSeconds = new Counter({
      name: "refute_gpu_seconds_total",
      help: "Seconds of executions on a GPU",
      labelNames: ["name"],
      registers,
    });
    this.#rounds = new Counter({ name: "refute_rounds_total", help: "Rounds", labelNames: ["outcome"], registers });
    this.#events = new Counter({
      name: "refute_events_total",
      help: "What the role did and saw, by kind",
      labelNames: ["kind"],
      registers,
    });
    this.#gas = new Counter({
      name: "refute_gas_total",
      help: "Gas of its transactions, by kind of event",
      labelNames: ["kind"],
      registers,
    });
    this.#failedAudits = new Counter({
      name: "refute_failed_audits_total",
      help: "Audits without a verdict, and self-audits that found an execution wrong",
      registers,
    });
    this.#native = new Counter({
      name: "refute_native_total",
      help: "Jobs that might be answered natively",
      labelNames: ["outcome"],
      registers,
    });
    this.#fleet = new Counter({
      name: "refute_fleet_total",
      help: "Executions that other machines were asked for",
      labelNames: ["outcome"],
      registers,
    });
    this.#rpcErrors = new Counter({
      name: "refute_rpc_errors_total",
      help: "Requests to nodes without a useful answer",
      labelNames: ["node", "reason"],
      registers,
    });
    this.#execution = new Histogram({
      name: "refute_execution_seconds",
      help: "How long executions take",
      buckets: EXECUTION_BUCKETS,
      registers,
    });
    this.#lastGood = new Gauge({
      name: "refute_last_round_timestamp_seconds",
      help: "Unix time of the last good round",
      registers,
    });
    new Gauge({
      name: "refute_condition",
      help: "1 while a condition holds, 0 while it does not",
      labelNames: ["name"],
      registers,
      collect() {
        for (const { condition, holds } of health.conditions) this.set({ name: condition }, holds ? 1 : 0);
      },
    });
  }

  /** Shows role, version, chain and market as labels of a metric with the value 1. */
  about(labels: { role: string; version: string; chain: string; market: string }): void {
    this.#info.set(labels, 1);
  }

  /** Shows where executions are computed from now on: a GPU's name, or `cpu`. */
  onDevice(name: string): void {
    if (this.#deviceName !== undefined) this.#device.set({ name: this.#deviceName }, 0);
    this.#deviceName = name;
    this.#device.set({ name }, 1);
  }

  /** Counts what an execution took on the GPU that computes. */
  readonly onGpuSeconds = (seconds: number): void => {
    this.#gpuSeconds.inc({ name: this.#deviceName ?? "unknown" }, seconds);
  };

  readonly onRound = (outcome: "done" | "failed"): void => {
    this.#rounds.inc({ outcome });
    [this.#lastRoundAt, this.#hasRounds] = [this.#now(), true];
    this.#health.set("rounds", outcome === "done" ? undefined : { reason: "the last round failed" });
    if (outcome === "done") this.#lastGood.set(this.#now() / 1_000);
  };

  readonly onEvent = ({ kind, receipt }: CountedEvent): void => {
    this.#events.inc({ kind });
    if (receipt !== undefined) this.#gas.inc({ kind }, Number(receipt.gasUsed));
  };

  /** Counts a request to a node that failed. */
  readonly onRpcFailure = ({ node, reason }: RpcFailure): void => {
    if (this.#reasons.size < MAX_REASONS) this.#reasons.add(reason);
    this.#rpcErrors.inc({ node, reason: this.#reasons.has(reason) ? reason : "other" });
  };

  /** Takes what a role measures. */
  readonly meter: Meter = {
    figures: (figures) => {
      for (const [key, value] of Object.entries(figures)) this.#gaugeOf(key as keyof Figures).set(Number(value));
    },
    executed: (seconds) => this.#execution.observe(seconds),
    auditFailed: () => this.#failedAudits.inc(),
    native: (outcome) => this.#native.inc({ outcome }),
    fleet: (outcome) => this.#fleet.inc({ outcome }),
  };

  /** Checks that rounds still end, and logs open problems again. Call from time to time. */
  tick(): void {
    if (this.#now() - this.#lastRoundAt > this.#staleMs)
      this.#health.set("rounds", { reason: this.#hasRounds ? "the last round ended too long ago" : NO_ROUND });
    this.#health.repeat();
  }

  /** Begins to serve. @param port 0 for any free one. @returns the port @throws PortError */
  listen(port: number): Promise<number> {
    return this.#server.listen(port, "--monitor-port");
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** A figure appears once the role has measured the figure. */
  #gaugeOf(key: keyof Figures): Gauge {
    return getOrAdd(this.#figures, key, () => new Gauge({ ...FIGURES[key], registers: [this.#registry] }));
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    switch (url.split("?")[0]) {
      case "/healthz":
        response.writeHead(200).end("ok\n");
        break;
      case "/readyz": {
        this.tick();
        const reasons = this.#notReady();
        const lines = reasons.length === 0 ? ["ready"] : reasons.map((reason) => printable(reason));
        response.writeHead(reasons.length === 0 ? 200 : 503).end(`${lines.join("\n")}\n`);
        break;
      }
      case "/metrics": {
        this.tick();
        const text = await this.#registry.metrics();
        response.writeHead(200, { "content-type": this.#registry.contentType }).end(text);
        break;
      }
      default:
        response.writeHead(404).end("only /healthz, /readyz and /metrics are here\n");
    }
  }

  /** All reasons why this process should not be relied on now. */
  #notReady(): string[] {
    const reasons = this.#health.reasons.map(({ condition, reason }) => `${condition}: ${reason}`);
    const hasBegun = this.#health.conditions.some(({ condition }) => condition === "rounds");
    return hasBegun ? reasons : [`rounds: ${NO_ROUND}`, ...reasons];
  }
}
