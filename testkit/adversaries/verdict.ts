/** How an attack ends. */
export type Verdict =
  | "refuted by a proof"
  | "refuted by the clock"
  | "refuted by concession"
  | "finalised"
  | "refused by the contract"
  | "left alone by honest parties";

/** One line for each adversary. */
export function verdictTable(rows: readonly { name: string; verdict: Verdict }[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(({ name, verdict }) => `    ${name.padEnd(width)}  ${verdict}`).join("\n");
}
