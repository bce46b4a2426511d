import type { Snapshot } from "../../src/chain/market/session.ts";
import { isOpen, type ClaimRecord, type JobRecord } from "../../src/chain/market/history.ts";
import { clock, counted, grouped, short, shown, time } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Empty } from "../ui/states.tsx";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import { formOf } from "../../src/chain/market/claimForm.ts";
import type { Followed } from "./deployment.ts";
import { DescriptionDrop } from "./descriptionDrop.tsx";
import { movesOf } from "./moves.ts";
import { OnChain } from "./onChain.tsx";
import { useTimes } from "./useTransactions.ts";
import { programName, tensorsOf, type TensorView } from "./values.ts";
import { useTitle } from "../ui/useTitle.ts";
import { useMemo } from "preact/hooks";
import { claimPhase, gamePhase, jobPhase } from "./phases.ts";
import { Phase } from "./phase.tsx";

type Props = { route: Route; followed: Followed; snapshot: Snapshot; job: JobRecord };

/** One job, its claims and their disputes. */
export function JobPage({ route, followed, snapshot: { now }, job: record }: Props) {
  const { job, claims } = record;
  const { chainId } = followed.reader.deployment;
  useTitle(`Job ${short(record.id)}`);
  const hashes = useMemo(() => [record.postedIn], [record]);
  const posted = useTimes(followed.reader, hashes).get(record.postedIn);
  const name = programName(job.programRoot);
  const { inputs, outputs } = tensorsOf(record);
  return (
    <div class="stack">
      <div class="row">
        <h1>Job {short(record.id)}</h1>
        <Phase of={jobPhase(record, now)} />
      </div>
      <Facts
        of={[
          ["Requester", <OnChain chainId={chainId} kind="address" value={job.requester} />],
          [
            "Program",
            <a
              class={name === undefined ? "mono" : ""}
              href={routeHash(["explorer", "program", job.programRoot], route.query)}
            >
              {name === undefined ? short(job.programRoot) : shown(name, 60)}
            </a>,
          ],
          ["Posted", posted === undefined ? "…" : `${time(posted)} UTC`],
          ["Posted in", <OnChain chainId={chainId} kind="tx" value={record.postedIn} />],
          ["Items", grouped(job.items)],
          ["Claims commit to", formOf(job) === "answer" ? "the outputs" : "everything computed"],
          ["Fee", followed.money(job.fee)],
          ["Window for disputes", clock(job.window)],
          ["Deadline", `${time(job.deadline)} UTC`],
          ["Held by", record.holder && <Hex value={record.holder.worker} />],
        ]}
      />
      <h2>Inputs and outputs</h2>
      <Tensors of={inputs} none="not on chain, or not whole yet" />
      <Tensors of={outputs} none="not delivered yet" />
      {name === undefined && <DescriptionDrop root={job.programRoot} />}
      <h2>Claims</h2>
      {claims.length === 0 ? (
        <Empty title="No claim yet">A worker that takes the job submits a root of hashes over all it computed.</Empty>
      ) : (
        [...claims]
          .reverse()
          .map((claim) => <ClaimCard key={claim.id} route={route} followed={followed} claim={claim} now={now} />)
      )}
    </div>
  );
}

/** Tensors with the numbers of them that the chain has. */
function Tensors({ of, none }: { of: readonly TensorView[]; none: string }) {
  return (
    <ul class="links">
      {of.map(({ name, type, numbers, count, top }, k) => (
        <li key={k}>
          <strong>{shown(name, 60)}</strong> <span class="soft small">{type}</span>
          {top.length > 0 && <p>{top.map(({ label, value }) => `${shown(label, 40)} ${value}`).join(", ")}</p>}
          <p class={numbers === undefined ? "soft small" : "mono small values"}>
            {numbers === undefined
              ? none
              : numbers.join(", ") + (count > numbers.length ? `, … (${grouped(count)} in all)` : "")}
          </p>
        </li>
      ))}
    </ul>
  );
}

type CardProps = Pick<Props, "route" | "followed"> & { claim: ClaimRecord; now: bigint };

function ClaimCard({ route, followed, claim, now }: CardProps) {
  const isOver = !isOpen(claim);
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
          [claim.refuted ? "Lost" : isOver ? "Was at stake" : "At stake", followed.money(claim.claim.collateral)],
          [isOver ? "Window until" : "Window ends", `${time(claim.windowEnd)} UTC`],
          ["Outputs delivered", grouped(claim.delivered.size)],
        ]}
      />
      {claim.games.length === 0 ? (
        <p class="soft small">{isOver ? "Nobody disputed it." : "Nobody disputes it."}</p>
      ) : (
        <ul class="links">
          {claim.games.map((game) => (
            <li key={game.id} class="row">
              <a href={routeHash(["explorer", "game", game.id], route.query)}>Dispute {short(game.id)}</a>
              <Phase of={gamePhase(game)} />
              {game.closed !== undefined && <span class="soft small">{counted(movesOf(game).length, "move")}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
