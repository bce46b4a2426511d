import { useEffect, useState } from "preact/hooks";
import { formatUnits } from "viem";
import { ago, amount, clock, counted, grouped, short, shown } from "../format.ts";
import { routeHash } from "../route.ts";
import { Facts } from "../ui/facts.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { useTitle } from "../ui/useTitle.ts";
import { operatorView, readMetrics, type OperatorView, type Unit } from "./metrics.ts";
import type { PageProps } from "../pageProps.ts";

const INTERVAL_MS = 5_000;

/** A worker's or a watcher's own view, from its metrics. */
export function OperatorsPage({ route }: PageProps) {
  useTitle("My node");
  const url = route.query["metrics"];
  const [pasted, setPasted] = useState("");
  const fetched = useMetrics(url);
  const text = pasted === "" ? fetched.text : pasted;
  const view = text === undefined ? undefined : operatorView(readMetrics(text));
  return (
    <div class="stack">
      <div class="stack-tight">
        <h1>Your worker, your watcher</h1>
        <p class="soft">
          What a process that you run says of itself: start it with <code>--monitor-port PORT</code>.
        </p>
      </div>
      <Source url={url} onText={setPasted} />
      {pasted === "" && fetched.error !== undefined && <Failure error={fetched.error} />}
      {url !== undefined && text === undefined && fetched.error === undefined && <Loading what="Asking for metrics" />}
      {text !== undefined && view === undefined && (
        <Empty title="These are not the metrics of Refute">They have no refute_condition.</Empty>
      )}
      {view !== undefined && <View view={view} />}
    </div>
  );
}

/** Asks for metrics again and again while the page is shown. */
function useMetrics(url: string | undefined): { text?: string; error?: unknown } {
  const [state, setState] = useState<{ text?: string; error?: unknown }>({});
  useEffect(() => {
    setState({});
    if (url === undefined) return;
    let isOver = false;
    const ask = async (): Promise<void> => {
      if (document.visibilityState === "hidden") return;
      try {
        const response = await fetch(new URL(url, document.baseURI), { credentials: "omit" });
        if (!response.ok) throw new Error(`the monitor answers ${response.status}`);
        const text = await response.text();
        if (!isOver) setState({ text });
      } catch (error) {
        if (!isOver) setState((before) => ({ ...before, error }));
      }
    };
    void ask();
    const timer = setInterval(() => void ask(), INTERVAL_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [url]);
  return state;
}

function Source({ url, onText }: { url: string | undefined; onText: (text: string) => void }) {
  const [given, setGiven] = useState(url ?? (import.meta.env.DEV ? "./monitor/9464" : ""));
  const open = (event: Event): void => {
    event.preventDefault();
    onText("");
    location.hash = routeHash(["node"], { metrics: given.trim() });
  };
  return (
    <form class="card stack" onSubmit={open}>
      <label class="field">
        <span>
          {import.meta.env.DEV
            ? "Metrics (URL): ./monitor/PORT is the monitor at that port of this machine"
            : "Metrics (URL at this site: a monitor answers no page of another one)"}
        </span>
        <input name="metrics" value={given} required onInput={(event) => setGiven(event.currentTarget.value)} />
      </label>
      <div class="row">
        <button class="button main" type="submit">
          Show
        </button>
        <details>
          <summary>or paste them</summary>
          <p class="soft small">
            <code>curl http://127.0.0.1:PORT/metrics</code> prints them.
          </p>
          <textarea
            name="pasted"
            aria-label="Metrics"
            rows={4}
            onInput={(event) => onText(event.currentTarget.value)}
          />
        </details>
      </div>
    </form>
  );
}

function View({ view }: { view: OperatorView }) {
  const { role, info, conditions, openClaims, openGames, minClock, headLag, lastRound, money, events, rpcErrors } =
    view;
  const failing = conditions.filter(({ holds }) => !holds);
  return (
    <div class="stack">
      <div class="row">
        <h2>{role === undefined ? "A process that does not say its role" : `A ${role}`}</h2>
        <span class={failing.length === 0 ? "tag firm" : "tag loud"}>
          {failing.length === 0 ? "ready" : `not ready: ${counted(failing.length, "condition")}`}
        </span>
      </div>
      {failing.length > 0 && (
        <ul class="refusals" aria-label="Why it is not ready">
          {failing.map(({ name, why }) => (
            <li key={name}>
              <strong>{shown(name, 40)}</strong> {why}
            </li>
          ))}
        </ul>
      )}
      <ul class="row conditions" aria-label="Conditions">
        {conditions.map(({ name, holds, why }) => (
          <li key={name} class={holds ? "tag good" : "tag loud"} title={holds ? "holds" : why}>
            {holds ? "✓" : "✗"} {shown(name, 40)}
          </li>
        ))}
      </ul>
      <Facts
        of={[
          ["Release", info && shown(info.version, 40)],
          ["Chain", info && shown(info.chain, 40)],
          ["Market", info && short(info.market)],
          ["Open claims", openClaims === undefined ? undefined : grouped(openClaims)],
          ["Disputes it plays", openGames === undefined ? undefined : grouped(openGames)],
          ["Time for its next move", minClock === undefined ? "not to move" : clock(minClock)],
          ["Age of the newest block", headLag === undefined ? undefined : ago(headLag)],
          ["Last good round", lastRound === undefined ? undefined : `${ago(Date.now() / 1_000 - lastRound)} ago`],
          ["Failed requests", grouped(rpcErrors)],
          ...money.map(
            ({ name, units, unit, about }) => [name, <span title={about}>{amountIn(units, unit)}</span>] as const,
          ),
        ]}
      />
      <div class="columns wide">
        <Events events={events} />
        {view.executions !== undefined && <Executions of={view.executions} />}
      </div>
    </div>
  );
}

/** An amount in its unit. */
const amountIn = (units: bigint, unit: Unit): string =>
  unit === "gwei" ? `${formatUnits(units, 9)} gwei` : `${amount(units)} ${unit}`;

function Events({ events }: Pick<OperatorView, "events">) {
  return (
    <section class="stack-tight">
      <h3>Done since it started</h3>
      {events.length === 0 ? (
        <p class="soft">Nothing yet.</p>
      ) : (
        <Table
          label="Events"
          columns={[["Event"], ["Count", "right"], ["Gas", "right"], ["Meaning", "wrap"]]}
          rows={events.map(({ kind, count, gas, about }) => ({
            key: kind,
            cells: [
              kind === "differs" ? <span class="tag lost">differs</span> : shown(kind, 40),
              grouped(count),
              gas === 0 ? "–" : grouped(gas),
              <span class="soft small">{about}</span>,
            ],
          }))}
        />
      )}
    </section>
  );
}

function Executions({ of: { count, mean, buckets } }: { of: NonNullable<OperatorView["executions"]> }) {
  const largest = buckets.reduce((max, bucket) => Math.max(max, bucket.count), 1);
  return (
    <section class="stack-tight">
      <h3>
        {counted(count, "execution")}, {mean.toPrecision(3)} s in the mean
      </h3>
      <ul class="bars" aria-label="Executions by their time">
        {buckets.map(({ upTo, count: own }) => (
          <li key={upTo}>
            <span class="soft small number">{Number.isFinite(upTo) ? `up to ${upTo} s` : "longer"}</span>
            <span class="bar-line" style={{ width: `${(own / largest) * 100}%` }} />
            <span class="small number">{grouped(own)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
