import { useMemo, useState } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { ago, grouped, short, shown } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Table } from "../ui/table.tsx";
import type { Followed } from "./deployment.ts";
import { gamePhase, jobPhase } from "./phases.ts";
import { Phase } from "./phase.tsx";
import { FILTERS, searchJobs, type Filter } from "./search.ts";
import { useTimes } from "./useTransactions.ts";
import { programName } from "./values.ts";

/** Jobs that are shown at once: a market may have had very many, and the time of each is asked for. */
const MAX = 25;

type Props = { route: Route; followed: Followed; snapshot: Snapshot; program?: string };

/** The jobs of a market or of a program, the newest first: searched, and chosen by what became of them. */
export function JobTable({ route, followed, snapshot, program }: Props) {
  const [max, setMax] = useState(MAX);
  const [text, setText] = useState("");
  const [filter, setFilter] = useState<Filter>("all");
  const found = searchJobs(snapshot.history, text, filter).filter(
    ({ job }) => program === undefined || job.programRoot === program,
  );
  const jobs = found.slice(0, max);
  return (
    <>
      <form class="row end" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field grow">
          <span>Find a job, an address, a program or a dispute</span>
          <input
            name="find"
            type="search"
            value={text}
            placeholder="0x…"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Show</span>
          <select name="filter" value={filter} onChange={(event) => setFilter(event.currentTarget.value as Filter)}>
            {Object.entries(FILTERS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </form>
      {found.length === 0 ? (
        <p class="soft">No job of this market is like that.</p>
      ) : (
        <Rows route={route} followed={followed} snapshot={snapshot} jobs={jobs} />
      )}
      <div class="row">
        {found.length > max && (
          <button class="button" type="button" onClick={() => setMax(max + MAX)}>
            Show older ones
          </button>
        )}
        <span class="soft small">
          {grouped(jobs.length)} of {grouped(found.length)}
        </span>
      </div>
    </>
  );
}

function Rows({ route, followed, snapshot, jobs }: Props & { jobs: readonly JobRecord[] }) {
  const { query } = route;
  const hashes = useMemo(() => jobs.map(({ postedIn }) => postedIn), [jobs]);
  const times = useTimes(followed.reader, hashes);
  return (
    <Table
      label="Jobs"
      columns={[
        ["Job"],
        ["Posted"],
        ["Phase"],
        ["Program"],
        ["Requester"],
        ["Worker"],
        ["Items", "right"],
        ["Fee", "right"],
        ["Disputes"],
      ]}
      rows={jobs.map((record) => {
        const { id, job, claims, holder, postedIn } = record;
        const time = times.get(postedIn);
        const worker = claims.at(-1)?.claim.worker ?? holder?.worker;
        const name = programName(job.programRoot);
        const games = claims.flatMap((claim) => claim.games);
        return {
          key: id,
          cells: [
            <a class="mono" href={routeHash(["explorer", "job", id], query)}>
              {short(id)}
            </a>,
            time === undefined ? "…" : `${ago(Number(snapshot.now - time))} ago`,
            <Phase of={jobPhase(record, snapshot.now)} />,
            <a
              class={name === undefined ? "mono" : ""}
              href={routeHash(["explorer", "program", job.programRoot], query)}
            >
              {name === undefined ? short(job.programRoot) : shown(name, 16)}
            </a>,
            <span class="mono" title={job.requester}>
              {short(job.requester)}
            </span>,
            <span class="mono" title={worker}>
              {worker === undefined ? "–" : short(worker)}
            </span>,
            grouped(job.items),
            followed.money(job.fee),
            games.length === 0
              ? "–"
              : games.map((game) => (
                  <a key={game.id} href={routeHash(["explorer", "game", game.id], query)}>
                    <Phase of={gamePhase(game)} />
                  </a>
                )),
          ],
        };
      })}
    />
  );
}
