import type { Snapshot } from "../../src/chain/market/session.ts";
import { standingsOf } from "../../src/parties/requester/listWorkers.ts";
import { amount, grouped, time } from "../format.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Hex } from "../ui/hex.tsx";
import type { Followed, Target } from "./deployment.ts";
import { useAsked } from "./useAsked.ts";

type Props = { followed: Followed; target: Target; snapshot: Snapshot };

/** Everybody who has claimed a job, with stake and record. */
export function Workers({ followed: { reader }, target: { exams }, snapshot: { history, blockNumber } }: Props) {
  const { answer, error } = useAsked(() => standingsOf(reader, history, exams), `${exams} ${blockNumber}`);
  if (answer === undefined)
    return error === undefined ? <Loading what="Asking for the workers' stakes" /> : <Failure error={error} />;
  if (answer.length === 0) return <Empty title="No workers yet">Whoever claims a job appears here.</Empty>;
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>Worker</th>
            <th>May claim</th>
            <th class="right">Stake</th>
            <th class="right">Locked</th>
            <th class="right">Final</th>
            <th class="right">Refuted</th>
            <th class="right">Late</th>
            <th>Since (UTC)</th>
            {exams !== undefined && <th>Classes</th>}
          </tr>
        </thead>
        <tbody>
          {answer.map(({ worker, live, staked, locked, finalised, refuted, late, since, classes }) => (
            <tr key={worker}>
              <td>
                <Hex value={worker} />
              </td>
              <td>{live ? "yes" : "no"}</td>
              <td class="right">{amount(staked)}</td>
              <td class="right">{amount(locked)}</td>
              <td class="right">{grouped(finalised)}</td>
              <td class="right">{refuted > 0 ? <span class="tag loud">{grouped(refuted)}</span> : 0}</td>
              <td class="right">{grouped(late)}</td>
              <td>{since === 0n ? "" : time(since)}</td>
              {exams !== undefined && <td>{classes?.join(", ")}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
