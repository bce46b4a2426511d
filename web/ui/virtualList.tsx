import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

type Props = {
  label: string;
  count: number;
  /** Pixels. */
  rowHeight: number;
  row: (index: number) => ComponentChildren;
};

/** Rows beyond the visible ones, above and below. */
const SPARE = 8;
/** Rows that are visible at once, at most. */
const VISIBLE = 14;
/** Pixels that the list's own border takes. */
const BORDER = 1;

/** A long list of which only what is visible is in the page. Arrow keys scroll it. */
export function VirtualList({ label, count, rowHeight, row }: Props) {
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const last = Math.min(count, first + VISIBLE + 2 * SPARE);
  const rows = Array.from({ length: last - first }, (_, k) => first + k);
  return (
    <div
      class="long-list"
      role="list"
      aria-label={label}
      tabIndex={0}
      style={{ maxHeight: `${VISIBLE * rowHeight + 2 * BORDER}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${count * rowHeight}px`, position: "relative" }}>
        {rows.map((index) => (
          <div
            key={index}
            role="listitem"
            aria-posinset={index + 1}
            aria-setsize={count}
            style={{ position: "absolute", top: `${index * rowHeight}px`, height: `${rowHeight}px`, width: "100%" }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
