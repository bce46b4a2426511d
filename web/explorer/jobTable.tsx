import { useState } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import { amount, grouped, short } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { jobPhase } from "./phases.ts";
import { Phase } from "./phase.tsx";

/** Jobs that are shown at once: a market may have had very many. */
const MAX = 100;

/** The jobs, the newest first. */
export function JobTable({ route, snapshot }: { route: Route; snapshot: Snapshot }) {
  const [max, setMax] = useState(MAX);
  const all = snapshot.history.jobs.size;
  const jobs = [...snapshot.history.jobs.values()].slice(-max).reverse();
  return (
    <>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th>Job</th>
              <th>Phase</th>
              <th>Program</th>
              <th class="right">Items</th>
              <th class="right">Fee</th>
              <th class="right">Disputes</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((record) => (
              <tr key={record.id}>
                <td>
                  <a class="mono" href={routeHash(["explorer", "job", record.id], route.query)}>
                    {short(record.id)}
                  </a>
                </td>
                <td>
                  <Phase of={jobPhase(record, snapshot.now)} />
                </td>
                <td class="mono">{short(record.job.programRoot)}</td>
                <td class="right">{grouped(record.job.items)}</td>
                <td class="right">{amount(record.job.fee)}</td>
                <td class="right">{record.claims.reduce((sum, { games }) => sum + games.length, 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all > max && (
        <div class="row">
          <button class="button" type="button" onClick={() => setMax(max + MAX)}>
            Show older ones
          </button>
          <span class="soft small">
            {grouped(max)} of {grouped(all)}
          </span>
        </div>
      )}
    </>
  );
}
