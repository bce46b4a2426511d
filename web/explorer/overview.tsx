import type { Snapshot } from "../../src/market/session.ts";
import { counted, time } from "../format.ts";
import type { Route } from "../route.ts";
import { Empty } from "../ui/states.tsx";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import type { Followed } from "./deployment.ts";
import { JobTable } from "./jobTable.tsx";

type Props = { route: Route; followed: Followed; snapshot: Snapshot };

/** The whole deployment: its facts and its jobs. */
export function Overview({ route, followed, snapshot }: Props) {
  const { history, blockNumber, now } = snapshot;
  const { deployment } = followed.reader;
  return (
    <div class="stack">
      <h1>Market</h1>
      <Facts
        of={[
          ["Market", <Hex value={deployment.market} />],
          ["Chain", String(deployment.chainId)],
          ["Block", `${blockNumber}, ${time(now)} UTC`],
          ["Jobs", counted(history.jobs.size, "job")],
          ["Claims", counted(history.claims.size, "claim")],
          ["Disputes", counted(history.games.size, "game")],
        ]}
      />
      {history.jobs.size === 0 ? (
        <Empty title="No jobs yet">When somebody posts a job on this market, it appears here.</Empty>
      ) : (
        <JobTable route={route} snapshot={snapshot} />
      )}
    </div>
  );
}
