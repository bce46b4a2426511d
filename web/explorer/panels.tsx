import type { Hex } from "viem";
import { panelAbi } from "../../src/chain/abi/panel.ts";
import { LogReader } from "../../src/chain/logReader.ts";
import { useRef } from "preact/hooks";
import type { Snapshot } from "../../src/chain/market/session.ts";
import { openPanelReader } from "../../src/parties/requester/panel.ts";
import { knownPanel, stateOfPanel, type PanelState } from "../../src/parties/requester/panelState.ts";
import { short, time } from "../format.ts";
import { routeHash, type Route } from "../route.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import type { Followed, Target } from "./deployment.ts";
import { useAsked } from "./useAsked.ts";

type Props = { route: Route; followed: Followed; target: Target; snapshot: Snapshot };

/** Panels that are shown, the newest ones. */
const MAX = 50;

/** Questions that were put to several workers. */
export function Panels({ route, followed, target, snapshot }: Props) {
  const known = useRef<Known>({ ids: [], next: followed.reader.fromBlock });
  const ask = () => panelsOf(followed, target, snapshot, known.current);
  const { answer, error } = useAsked(ask, `${target.panels} ${snapshot.blockNumber}`);
  if (target.panels === undefined)
    return <Empty title="No panels were named">Give the address of this deployment's panels to see them.</Empty>;
  if (answer === undefined)
    return error === undefined ? <Loading what="Reading the panels" /> : <Failure error={error} />;
  if (answer.length === 0) return <Empty title="No panels yet">A question to several workers appears here.</Empty>;
  return (
    <Table
      label="Panels"
      columns={[["Panel"], ["Outcome"], ["Seats"], ["Opened from (UTC)"]]}
      rows={answer.map(({ panelId, outcome, seats, openFrom }) => ({
        key: panelId,
        cells: [
          <span class="mono">{short(panelId)}</span>,
          <span class={outcome === "split" || outcome === "failed" ? "tag loud" : "tag"}>{outcome}</span>,
          seats.map(({ jobId, phase }) => (
            <a key={jobId} class="tag" href={routeHash(["explorer", "job", jobId], route.query)}>
              {phase}
            </a>
          )),
          time(openFrom),
        ],
      }))}
    />
  );
}

/** The panels that were found, and the first block that was not looked at. */
type Known = { ids: Hex[]; next: bigint };

async function panelsOf(
  { reader }: Followed,
  { panels }: Target,
  snapshot: Snapshot,
  known: Known,
): Promise<PanelState[]> {
  if (panels === undefined) return [];
  const panel = await openPanelReader(reader, panels);
  const events = await new LogReader(reader.publicClient, [panels], panelAbi).read([
    { from: known.next, to: snapshot.blockNumber },
  ]);
  const posted = events.flatMap((event) => (event.eventName === "PanelPosted" ? [event] : []));
  posted.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
  known.ids.push(...posted.map(({ args }) => args.panelId));
  known.next = snapshot.blockNumber + 1n;
  const newest = known.ids.slice(-MAX).reverse();
  return Promise.all(newest.map(async (id) => stateOfPanel(await knownPanel(reader, panel, snapshot, id))));
}
