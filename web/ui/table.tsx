import type { ComponentChildren } from "preact";

/** A column: its title, and whether it holds figures, or texts that may take several lines. */
type Column = readonly [title: string, kind?: "right" | "wrap"];
type Row = { key: string | number; cells: readonly ComponentChildren[] };

/** A table; on a narrow screen each row is a card, with the columns' titles beside what they hold. */
export function Table({ columns, rows, label }: { columns: readonly Column[]; rows: readonly Row[]; label?: string }) {
  return (
    <div class="table">
      <table role="table" aria-label={label}>
        <thead>
          <tr role="row">
            {columns.map(([title, kind]) => (
              <th key={title} role="columnheader" class={kind === "right" ? kind : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} role="row">
              {cells.map((cell, k) => (
                <td key={k} role="cell" class={columns[k]![1]} data-title={columns[k]![0]}>
                  <div>{cell}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
