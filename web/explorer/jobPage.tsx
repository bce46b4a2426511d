import type { Snapshot } from "../../src/chain/market/session.ts";
import type { ClaimRecord, JobRecord } from "../../src/chain/market/history.ts";
import { amount, counted, grouped, short, time } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Empty } from "../ui/states.tsx";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import { formOf } from "../../src/chain/market/claimForm.ts";
import { claimPhase, gamePhase, jobPhase } from "./phases.ts";
import { Phase } from "./phase.tsx";

type Props = { route: Route; snapshot: Snapshot; job: JobRecord };

/** One job, its claims and their disputes. */
export function JobPage({ route, snapshot: { now }, job: record }: Props) {
  const { job, claims } = record;
  return (
    <div class="stack">
      <div class="row">
        <h1>Job {short(record.id)}</h1>
        <Phase of={jobPhase(record, now)} />
      </div>
      <Facts
        of={[
          ["Requester", <Hex value={job.requester} />],
          ["Program", <Hex value={job.programRoot} />],
          ["Items", grouped(job.items)],
          ["Claims commit to", formOf(job) === "answer" ? "the outputs" : "everything computed"],
          ["Fee", amount(job.fee)],
          ["Window", counted(job.window, "second")],
          ["Deadline", `${time(job.deadline)} UTC`],
          ["Held by", record.holder && <Hex value={record.holder.worker} />],
        ]}
      />
      <h2>Claims</h2>
      {claims.length === 0 ? (
        <Empty title="No claim yet">A worker that takes the job submits a root of hashes over all it computed.</Empty>
      ) : (
        [...claims].reverse().map((claim) => <ClaimCard key={claim.id} route={route} claim={claim} now={now} />)
      )}
    </div>
  );
}

function ClaimCard({ route, claim, now }: { route: Route; claim: ClaimRecord; now: bigint }) {
  return (
    <section class="card stack" aria-label={`Claim ${short(claim.id)}`}>
      <div class="row">
        <h3 class="mono">{short(claim.id)}</h3>
        <Phase of={claimPhase(claim, now)} />
      </div>
      <Facts
        of={[
          ["Worker", <Hex value={claim.claim.worker} />],
          ["Root", <Hex value={claim.claim.root} />],
          ["At stake", amount(claim.claim.collateral)],
          ["Window ends", `${time(claim.windowEnd)} UTC`],
          ["Outputs delivered", grouped(claim.delivered.size)],
        ]}
      />
      {claim.games.length === 0 ? (
        <p class="soft small">Nobody disputes it.</p>
      ) : (
        <ul class="links">
          {claim.games.map((game) => (
            <li key={game.id} class="row">
              <a href={routeHash(["explorer", "game", game.id], route.query)}>Dispute {short(game.id)}</a>
              <Phase of={gamePhase(game)} />
              <span class="soft small">{counted(game.moves.length, "move")}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
