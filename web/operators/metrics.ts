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
  /** What it says of itself in `refute_info`. */
  info: { version: string; chain: string; market: string } | undefined;
  /** The conditions that hold, or do not. */
  conditions: { name: string; holds: boolean; why: string }[];
  openClaims: number | undefined;
  openGames: number | undefined;
  /** Seconds of the account's shortest clock; undefined while it is not to move. */
  minClock: number | undefined;
  headLag: number | undefined;
  /** Unix seconds. */
  lastRound: number | undefined;
  money: { name: string; units: bigint; unit: Unit; about: string }[];
  events: { kind: string; count: number; gas: number; about: string }[];
  executions: { count: number; mean: number; buckets: { upTo: number; count: number }[] } | undefined;
  rpcErrors: number;
};

/** Units of money: of the chain's coin, of its gas, and of the deployment's stake asset. */
export type Unit = "ether" | "gwei" | "of the stake asset";

const ASSET = "of the stake asset";
const MONEY: Readonly<Record<string, readonly [name: string, unit: Unit, about: string]>> = {
  refute_balance_wei: ["Ether", "ether", "What the account pays gas with"],
  refute_credit_wei: ["Credit", ASSET, "What it has in the vault, for bonds and fees"],
  refute_stake_wei: ["Stake", ASSET, "What a worker may lose for a false claim"],
  refute_locked_stake_wei: ["Stake behind claims", ASSET, "The part that backs claims that are not final yet"],
  refute_bond_wei: ["Bond of a game", ASSET, "What a watcher puts up for a dispute, and loses if it is wrong"],
  refute_gas_price_wei: ["Price of gas", "gwei", "What the chain asks for a unit of gas now"],
};

/** Why a condition may fail: the process' own words are at its /readyz. */
const REASONS: Readonly<Record<string, string>> = {
  rounds: "its rounds fail, or the last good one is long ago",
  chain: "the nodes report no recent block of the chain",
  events: "the market’s events are not read from the deployment on",
  programs: "a model is not compiled",
  executes: "an execution failed",
  fleet: "the machines that execute for it cannot be asked, or one computed wrongly",
  runsOnDisk: "the disk is full, or cannot be written to",
  selfAudit: "an execution differed from the definition: it must not claim",
  seals: "what opens its seals cannot be kept on disk: its collateral would be lost",
  judges: "an audit did not end: a claim may go unjudged",
  native: "a native answer differed from the exact one",
  account: "games cannot be played from its account",
  pays: "the money does not cover what is open: deposit, or add ether",
  mayClaim: "not attested, or no stake is free",
  pledge: "the pledge behind signed claims is not active",
  cashes: "winning tickets cannot be cashed",
  examGames: "games about its exams are not played",
  renewal: "its dongle does not answer: the attestation will end",
  exams: "it sits no exams",
  attestation: "the attestation ends soon",
};

/** What an event means, where its name does not say so. */
const EVENTS: Readonly<Record<string, string>> = {
  differs: "a claim is false: the most important event that there is",
  agrees: "a claim was executed again, and has the same bits",
  refuted: "a claim of its own was refuted: the collateral is lost",
  unknown: "a claim could not be judged: its model is not served, or its inputs are missing",
  lost: "a dispute was lost",
  settled: "a dispute ended with the claim in another one",
  withheld: "a result was not submitted",
  undelivered: "an output did not reach the chain",
  sealLost: "what opens a seal is lost, and the collateral with it",
  examDiffers: "a worker’s exam has another root",
  submitted: "the root of an execution was claimed",
  finalised: "a claim became final",
  delivered: "an output went to the chain",
  moved: "a move in a dispute",
  opened: "a dispute was opened",
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
  const info = metrics.get("refute_info")?.[0]?.labels;
  const role = info?.["role"];
  return {
    // A process of an older release says nothing of its role, and none is guessed.
    role: role === "worker" || role === "watcher" ? role : undefined,
    info: info && {
      version: info["version"] ?? "",
      chain: info["chain"] ?? "",
      market: info["market"] ?? "",
    },
    conditions: conditions.map(({ labels, value }) => {
      const name = labels["name"] ?? "";
      return { name, holds: value === 1, why: Object.hasOwn(REASONS, name) ? REASONS[name]! : "see its /readyz" };
    }),
    openClaims: finite("refute_open_claims"),
    openGames: finite("refute_open_games"),
    minClock: finite("refute_least_clock_seconds"),
    headLag: finite("refute_head_lag_seconds"),
    lastRound: finite("refute_last_round_timestamp_seconds"),
    money: Object.entries(MONEY).flatMap(([metric, [name, unit, about]]) => {
      const value = finite(metric);
      return value === undefined ? [] : [{ name, units: BigInt(Math.round(value)), unit, about }];
    }),
    events: eventsOf(metrics),
    executions: executionsOf(metrics),
    rpcErrors: (metrics.get("refute_rpc_errors_total") ?? []).reduce((sum, { value }) => sum + value, 0),
  };
}

function eventsOf(metrics: Metrics): OperatorView["events"] {
  const gas = new Map((metrics.get("refute_gas_total") ?? []).map(({ labels, value }) => [labels["kind"], value]));
  return (
    (metrics.get("refute_events_total") ?? [])
      .map(({ labels, value }) => {
        const kind = labels["kind"] ?? "";
        const about = Object.hasOwn(EVENTS, kind) ? EVENTS[kind]! : "";
        return { kind, count: value, gas: gas.get(kind) ?? 0, about };
      })
      // A lie that was found comes before all that is usual.
      .sort((a, b) => Number(b.kind === "differs") - Number(a.kind === "differs") || b.count - a.count)
  );
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
