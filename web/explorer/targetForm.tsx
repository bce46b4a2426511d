import { useState } from "preact/hooks";
import { agree } from "./deployment.ts";
import { routeHash, type Route } from "../route.ts";

/**
 * Asks for a node and a market. The route keeps both beside the place in the market that it names, so that a link to a
 * dispute can be passed on. Another route needs another form: see `formKey`.
 */
export function TargetForm({ route: { path, query }, onAgreed }: { route: Route; onAgreed: () => void }) {
  const [rpc, setRpc] = useState(query["rpc"] ?? "http://127.0.0.1:8545");
  const [market, setMarket] = useState(query["market"] ?? "");
  const [from, setFrom] = useState(query["from"] ?? "0");
  const [exams, setExams] = useState(query["exams"] ?? "");
  const [panels, setPanels] = useState(query["panels"] ?? "");
  const isRare = from !== "0" || exams !== "" || panels !== "";
  const open = (event: Event): void => {
    event.preventDefault();
    const given = { rpc, market, from: from.trim() === "0" ? "" : from, exams, panels };
    const trimmed = Object.entries(given).map(([name, text]): [string, string] => [name, text.trim()]);
    agree(rpc.trim());
    onAgreed();
    location.hash = routeHash(path[0] === "explorer" ? path : ["explorer"], Object.fromEntries(trimmed));
  };
  return (
    <form class="card stack" onSubmit={open}>
      <div class="columns">
        <label class="field">
          <span>Node (JSON-RPC URL)</span>
          <input name="rpc" value={rpc} required inputMode="url" onInput={(e) => setRpc(e.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Market (address)</span>
          <input
            name="market"
            class="mono"
            value={market}
            required
            spellcheck={false}
            placeholder="0x…"
            onInput={(e) => setMarket(e.currentTarget.value)}
          />
        </label>
      </div>
      <details open={isRare}>
        <summary>More: first block, exams, panels</summary>
        <div class="columns">
          <label class="field">
            <span>First block (that of the deployment)</span>
            <input name="from" value={from} inputMode="numeric" onInput={(e) => setFrom(e.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Exams (address, if there are any)</span>
            <input name="exams" class="mono" value={exams} onInput={(e) => setExams(e.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Panels (address, if there are any)</span>
            <input name="panels" class="mono" value={panels} onInput={(e) => setPanels(e.currentTarget.value)} />
          </label>
        </div>
      </details>
      <div class="row">
        <button class="button main" type="submit">
          Open it
        </button>
        <span class="soft small">This page asks the node that you name, and nobody else.</span>
      </div>
    </form>
  );
}

/** Names what a form is filled with: a route with other values gets a form of its own. */
export const formKey = ({ query: { rpc, market, from, exams, panels } }: Route): string =>
  [rpc, market, from, exams, panels].join(" ");
