import { useState } from "preact/hooks";
import { routeHash, type Route } from "../route.ts";

/** Asks for a node and a market. The route keeps both, so that a link to a dispute can be passed on. */
export function TargetForm({ route: { query } }: { route: Route }) {
  const [rpc, setRpc] = useState(query["rpc"] ?? "http://127.0.0.1:8545");
  const [market, setMarket] = useState(query["market"] ?? "");
  const [from, setFrom] = useState(query["from"] ?? "0");
  const open = (event: Event): void => {
    event.preventDefault();
    location.hash = routeHash(["explorer"], { ...query, rpc: rpc.trim(), market: market.trim(), from: from.trim() });
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
        <label class="field">
          <span>First block (that of the deployment)</span>
          <input name="from" value={from} inputMode="numeric" onInput={(e) => setFrom(e.currentTarget.value)} />
        </label>
      </div>
      <div class="row">
        <button class="button main" type="submit">
          Look
        </button>
        <span class="soft small">This page asks the node that you name, and nobody else.</span>
      </div>
    </form>
  );
}
