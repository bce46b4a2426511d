import { useState } from "preact/hooks";
import { cellsOf, rangeText, type DescentRow } from "./descent.ts";
import { counted } from "../format.ts";

const WIDTH = 1_000;
const BAR = 26;
const FUNNEL = 54;
const ROW = BAR + FUNNEL;
/** Parts of the width below which what is picked could not be seen. */
const MIN = 4;

/**
 * A dispute as it descends: each bar is a list, what is disputed of it is filled, and opens into the bar below. Arrow
 * keys go from bar to bar.
 * @param isQuiet Nothing is said of the bar that is looked at: what changes by itself would be read out.
 */
export function DescentView({ rows, isQuiet = false }: { rows: readonly DescentRow[]; isQuiet?: boolean }) {
  const [focused, setFocused] = useState<number>();
  const at = Math.min(focused ?? rows.length - 1, rows.length - 1);
  const row = rows[at];
  const height = rows.length * ROW - FUNNEL + 2;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setFocused(Math.max(0, Math.min(rows.length - 1, at + step)));
  };
  return (
    <figure class="descent" tabIndex={0} onKeyDown={onKeyDown} aria-label={`Dispute, ${counted(rows.length, "stage")}`}>
      <div class="descent-names" style={{ height: `${height}px` }}>
        {rows.map((each, k) => (
          <button
            key={k}
            type="button"
            class={k === at ? "descent-name current" : "descent-name"}
            style={{ top: `${k * ROW + 1 + BAR / 2}px` }}
            onClick={() => setFocused(k)}
            tabIndex={-1}
          >
            <strong>{each.leaves}</strong> <span class="soft">{each.within}</span>
          </button>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        style={{ height: `${height}px` }}
        aria-hidden="true"
      >
        {rows.map((each, k) => (
          <Bar key={k} row={each} top={k * ROW + 1} isLast={k === rows.length - 1} onPoint={() => setFocused(k)} />
        ))}
      </svg>
      {row !== undefined && !isQuiet && (
        <figcaption aria-live="polite">
          <strong>{row.leaves}</strong> {row.within} · {rangeText(row.range)} of {row.width.toLocaleString("en-US")}
          {row.picked !== undefined && ` · disputed: ${rangeText(row.picked)}`}
        </figcaption>
      )}
    </figure>
  );
}

type BarProps = { row: DescentRow; top: number; isLast: boolean; onPoint: () => void };

function Bar({ row, top, isLast, onPoint }: BarProps) {
  const cells = cellsOf(row);
  const gap = cells.length > 40 ? 0.5 : 1.5;
  const picked = cells.find(({ isPicked }) => isPicked);
  return (
    <g onPointerEnter={onPoint}>
      {cells.map(({ from, to, isPicked }) => {
        const [x, width] = isPicked ? atLeast(from, to) : [from * WIDTH, (to - from) * WIDTH];
        const inner = Math.max(width - gap, 0.5);
        return <rect key={from} x={x} y={top} width={inner} height={BAR} class={isPicked ? "picked" : "leaf"} />;
      })}
      {picked !== undefined && !isLast && <path class="funnel" d={funnel(picked.from, picked.to, top + BAR)} />}
    </g>
  );
}

/** Where something is drawn, and how wide: wide enough to be seen. */
function atLeast(from: number, to: number): [x: number, width: number] {
  const width = Math.max(MIN, (to - from) * WIDTH);
  return [Math.min(from * WIDTH, WIDTH - width), width];
}

function funnel(from: number, to: number, top: number): string {
  const [x, width] = atLeast(from, to);
  const low = top + FUNNEL;
  const mid = top + FUNNEL / 2;
  return (
    `M${x} ${top} C${x} ${mid} 0 ${mid} 0 ${low} L${WIDTH} ${low} ` +
    `C${WIDTH} ${mid} ${x + width} ${mid} ${x + width} ${top} Z`
  );
}
