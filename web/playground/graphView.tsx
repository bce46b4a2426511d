import { useMemo } from "preact/hooks";
import { shown } from "../format.ts";
import { VirtualList } from "../ui/virtualList.tsx";
import type { GraphNode } from "./messages.ts";
import { railsOf, widthOf, type Rail } from "./rails.ts";

const HEIGHT = 36;
const LANE = 14;

/** Lanes that there is room for; values of others are drawn on the last one. */
const MAX_LANES = 14;

/** The nodes of a model in their order, with the ways of values between them. */
export function GraphView({ graph }: { graph: readonly GraphNode[] }) {
  const rails = useMemo(() => railsOf(graph), [graph]);
  const lanes = Math.min(
    MAX_LANES,
    useMemo(() => widthOf(rails), [rails]),
  );
  return (
    <VirtualList
      label="Nodes of the model"
      count={graph.length}
      rowHeight={HEIGHT}
      row={(k) => <Node node={graph[k]!} rail={rails[k]!} lanes={lanes} />}
    />
  );
}

function Node({ node: { name, operator, refusal }, rail, lanes }: { node: GraphNode; rail: Rail; lanes: number }) {
  const x = (lane: number): number => (Math.min(lane, MAX_LANES - 1) + 0.5) * LANE;
  const own = x(rail.lane);
  return (
    <div class={refusal === undefined ? "node" : "node refused"} title={refusal && shown(refusal, 1_000)}>
      <svg width={lanes * LANE} height={HEIGHT} aria-hidden="true">
        {rail.passing.map((lane) => (
          <path key={`p${lane}`} class="rail" d={`M${x(lane)} 0 V${HEIGHT}`} />
        ))}
        {[...new Set(rail.reads)].map((lane) => (
          <path
            key={`r${lane}`}
            class="rail"
            d={`M${x(lane)} 0 C${x(lane)} ${HEIGHT / 2} ${own} 0 ${own} ${HEIGHT / 2}`}
          />
        ))}
        <path class="rail" d={`M${own} ${HEIGHT / 2} V${HEIGHT}`} />
        <circle class="stop" cx={own} cy={HEIGHT / 2} r="4.5" />
      </svg>
      <strong class="clip">{shown(operator, 40)}</strong>
      <span class="soft small clip">{refusal === undefined ? shown(name, 80) : shown(refusal)}</span>
    </div>
  );
}
