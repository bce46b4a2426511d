import type { Snapshot } from "../../src/chain/market/session.ts";
import { grouped, short, shown, time } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Empty } from "../ui/states.tsx";
import { Facts } from "../ui/facts.tsx";
import { useTitle } from "../ui/useTitle.ts";
import { chainText } from "./chains.ts";
import { Classes } from "./classes.tsx";
import type { Followed, Target } from "./deployment.ts";
import { JobTable } from "./jobTable.tsx";
import { OnChain } from "./onChain.tsx";
import { Panels } from "./panels.tsx";
import { Programs } from "./programs.tsx";
import { atStake } from "./search.ts";
import { Workers } from "./workers.tsx";

type Props = { route: Route; target: Target; followed: Followed; snapshot: Snapshot; part: string };

const PARTS: Readonly<Record<string, string>> = {
  jobs: "Jobs",
  programs: "Programs",
  workers: "Workers",
  panels: "Panels",
  classes: "Classes",
};

/** The whole deployment: its facts, and its jobs, programs, workers, panels or classes. */
export function Overview(props: Props) {
  const { route, target, followed, snapshot, part } = props;
  const { history, blockNumber, now } = snapshot;
  const { deployment } = followed.reader;
  useTitle(`${PARTS[part] ?? "Nothing"} of market ${short(deployment.market)}`);
  return (
    <>
      <h1>Market</h1>
      <Facts
        of={[
          ["According to", shown(new URL(target.rpc).host)],
          ["Market", <OnChain chainId={deployment.chainId} kind="address" value={deployment.market} />],
          ["Chain", chainText(deployment.chainId)],
          ["Block", `${grouped(blockNumber)}, ${time(now)} UTC`],
          ["Jobs", grouped(history.jobs.size)],
          ["Claims", grouped(history.claims.size)],
          ["Disputes", grouped(history.games.size)],
          ["At stake now", followed.money(atStake(history))],
        ]}
      />
      <nav class="tabs" aria-label="Parts of the market">
        {Object.entries(PARTS).map(([name, title]) => (
          <a
            key={name}
            href={routeHash(name === "jobs" ? ["explorer"] : ["explorer", name], route.query)}
            {...(name === part && { "aria-current": "page" as const })}
          >
            {title}
          </a>
        ))}
      </nav>
      <Part {...props} />
    </>
  );
}

function Part({ part, ...props }: Props) {
  if (part === "programs") return <Programs {...props} />;
  if (part === "workers") return <Workers {...props} />;
  if (part === "panels") return <Panels {...props} />;
  if (part === "classes") return <Classes {...props} />;
  if (part !== "jobs") return <Empty title="There is no such part">Nothing is called “{shown(part, 40)}” here.</Empty>;
  if (props.snapshot.history.jobs.size === 0)
    return <Empty title="No jobs yet">When somebody posts a job on this market, it appears here.</Empty>;
  return <JobTable {...props} />;
}
