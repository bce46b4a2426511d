/** A value of a metric, with its labels. */
type Sample = { labels: Readonly<Record<string, string>>; value: number };

/** Metrics by name. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Record<string, string> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

/** Reads the text in which Prometheus takes metrics. Lines that are none are left out. */
export function readMetrics(text: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = LINE.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) continue;
    const sample = { labels: labelsOf(labels), value: numberOf(value) };
    const samples = metrics.get(name);
    if (samples === undefined) metrics.set(name, [sample]);
    else samples.push(sample);
  }
  return metrics;
}

function labelsOf(text: string): Record<string, string> {
  const found = [...text.matchAll(LABEL)];
  return Object.fromEntries(
    found.map(([, name, value]): [string, string] => [name!, value!.replace(/\\[n"\\]/g, (code) => ESCAPED[code]!)]),
  );
}

function numberOf(text: string): number {
  if (/^[+-]?Inf$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}

/** The value of a metric without labels; undefined if it is not there. */
const valueOf = (metrics: Metrics, name: string): number | undefined => metrics.get(name)?.[0]?.value;

/** What a process says of itself, as the page shows it. */
export type OperatorView = {
  role: "worker" | "watcher" | undefined;
  /** The conditions that hold, or do not. */
  conditions: { name: string; holds: boolean }[];
  openClaims: number | undefined;
  openGames: number | undefined;
  /** Seconds of the account's shortest clock; undefined while it is not to move. */
  minClock: number | undefined;
  headLag: number | undefined;
  /** Unix seconds. */
  lastRound: number | undefined;
  money: { name: string; units: bigint }[];
  events: { kind: string; count: number; gas: number }[];
  executions: { count: number; mean: number; buckets: { upTo: number; count: number }[] } | undefined;
  rpcErrors: number;
};

const MONEY = {
  refute_balance_wei: "Ether",
  refute_credit_wei: "Credit",
  refute_stake_wei: "Stake",
  refute_locked_stake_wei: "Stake behind claims",
  refute_bond_wei: "Bond of a game",
  refute_gas_price_wei: "Price of gas",
};

/**
 * What metrics say of a worker or a watcher.
 * @returns undefined if they are no process's of Refute
 */
export function operatorView(metrics: Metrics): OperatorView | undefined {
  const conditions = metrics.get("refute_condition");
  if (conditions === undefined) return undefined;
  const finite = (name: string): number | undefined => {
    const value = valueOf(metrics, name);
    return value !== undefined && Number.isFinite(value) ? value : undefined;
  };
  const isWorker = metrics.has("refute_attestation_seconds") || metrics.has("refute_stake_wei");
  return {
    role: isWorker ? "worker" : metrics.has("refute_credit_wei") ? "watcher" : undefined,
    conditions: conditions.map(({ labels, value }) => ({ name: labels["name"] ?? "", holds: value === 1 })),
    openClaims: finite("refute_open_claims"),
    openGames: finite("refute_open_games"),
    minClock: finite("refute_least_clock_seconds"),
    headLag: finite("refute_head_lag_seconds"),
    lastRound: finite("refute_last_round_timestamp_seconds"),
    money: Object.entries(MONEY).flatMap(([metric, name]) => {
      const value = finite(metric);
      return value === undefined ? [] : [{ name, units: BigInt(Math.round(value)) }];
    }),
    events: eventsOf(metrics),
    executions: executionsOf(metrics),
    rpcErrors: (metrics.get("refute_rpc_errors_total") ?? []).reduce((sum, { value }) => sum + value, 0),
  };
}

function eventsOf(metrics: Metrics): OperatorView["events"] {
  const gas = new Map((metrics.get("refute_gas_total") ?? []).map(({ labels, value }) => [labels["kind"], value]));
  return (metrics.get("refute_events_total") ?? [])
    .map(({ labels, value }) => ({ kind: labels["kind"] ?? "", count: value, gas: gas.get(labels["kind"]) ?? 0 }))
    .sort((a, b) => b.count - a.count);
}

function executionsOf(metrics: Metrics): OperatorView["executions"] {
  const count = valueOf(metrics, "refute_execution_seconds_count");
  const sum = valueOf(metrics, "refute_execution_seconds_sum");
  if (count === undefined || sum === undefined || count === 0) return undefined;
  let before = 0;
  const buckets = (metrics.get("refute_execution_seconds_bucket") ?? []).map(({ labels, value }) => {
    const own = value - before;
    before = value;
    return { upTo: numberOf(labels["le"] ?? ""), count: own };
  });
  return { count, mean: sum / count, buckets };
}
