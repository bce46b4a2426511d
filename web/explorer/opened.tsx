import type { Snapshot } from "../../src/chain/market/session.ts";
import { short } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Empty } from "../ui/states.tsx";
import type { Followed, Target } from "./deployment.ts";
import { GamePage } from "./gamePage.tsx";
import { JobPage } from "./jobPage.tsx";
import { Overview } from "./overview.tsx";
import { ProgramPage } from "./programs.tsx";

type Props = { route: Route; target: Target; followed: Followed; snapshot: Snapshot };

/** What the route names: the market itself, a program, a job, or a dispute. */
export function Opened(props: Props) {
  const { route, followed, snapshot } = props;
  const [, kind, id = ""] = route.path;
  const { jobs, claims, games } = snapshot.history;
  if (kind === "program")
    return (
      <>
        <Crumbs route={route} job={undefined} />
        <ProgramPage key={id} route={route} followed={followed} snapshot={snapshot} root={id as `0x${string}`} />
      </>
    );
  if (kind !== "job" && kind !== "game") return <Overview {...props} part={kind ?? "jobs"} />;
  const game = kind === "game" ? games.get(id as `0x${string}`) : undefined;
  const claim = game && claims.get(game.claimId);
  const job = jobs.get(claim?.jobId ?? (id as `0x${string}`));
  if (job === undefined || (kind === "game" && game === undefined))
    return (
      <>
        <Crumbs route={route} job={undefined} />
        <Empty title="Not on this market">Nothing with the id {short(id)} has happened here so far.</Empty>
      </>
    );
  return (
    <>
      <Crumbs route={route} job={game && job.id} />
      {game !== undefined && claim !== undefined ? (
        <GamePage key={game.id} followed={followed} snapshot={snapshot} claim={claim} game={game} />
      ) : (
        <JobPage key={job.id} route={route} followed={followed} snapshot={snapshot} job={job} />
      )}
    </>
  );
}

function Crumbs({ route, job }: { route: Route; job: string | undefined }) {
  return (
    <nav class="crumbs" aria-label="Above this">
      <a href={routeHash(["explorer"], route.query)}>Market</a>
      {job !== undefined && (
        <>
          <span aria-hidden="true">/</span>
          <a href={routeHash(["explorer", "job", job], route.query)}>Job {short(job)}</a>
        </>
      )}
    </nav>
  );
}
