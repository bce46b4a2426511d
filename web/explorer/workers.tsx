import type { Snapshot } from "../../src/chain/market/session.ts";
import { standingsOf } from "../../src/parties/requester/listWorkers.ts";
import { grouped, time } from "../format.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Hex } from "../ui/hex.tsx";
import { Table } from "../ui/table.tsx";
import { mayClaim } from "./standing.ts";
import type { Followed, Target } from "./deployment.ts";
import { useAsked } from "./useAsked.ts";

type Props = { followed: Followed; target: Target; snapshot: Snapshot };

/** Everybody who has claimed a job, with stake and record. */
export function Workers({ followed: { reader, money }, target: { exams }, snapshot: { history, blockNumber } }: Props) {
  const { answer, error } = useAsked(() => standingsOf(reader, history, exams), `${exams} ${blockNumber}`);
  if (answer === undefined)
    return error === undefined ? <Loading what="Asking for the workers' stakes" /> : <Failure error={error} />;
  if (answer.length === 0) return <Empty title="No workers yet">Whoever claims a job appears here.</Empty>;
  const { collateral } = reader.deployment.parameters;
  return (
    <Table
      label="Workers"
      columns={[
        ["Worker"],
        ["May claim"],
        ["Stake", "right"],
        ["Locked", "right"],
        ["Final", "right"],
        ["Refuted", "right"],
        ["Late", "right"],
        ["Since (UTC)"],
        ...(exams === undefined ? [] : [["Classes"] as const]),
      ]}
      rows={answer.map((standing) => {
        const { worker, staked, locked, finalised, refuted, late, since, classes } = standing;
        return {
          key: worker,
          cells: [
            <Hex value={worker} />,
            mayClaim(standing, collateral),
            money(staked),
            money(locked),
            grouped(finalised),
            refuted > 0 ? <span class="tag lost">{grouped(refuted)}</span> : 0,
            grouped(late),
            since === 0n ? "–" : time(since),
            ...(exams === undefined ? [] : [classes?.join(", ")]),
          ],
        };
      })}
    />
  );
}
