import { OPERATORS } from "../../src/compiler/table/registry.ts";
import type { Row } from "../../src/compiler/table/row.ts";

/** Alphabetical order that does not tell capitals from small letters. */
const byName = (a: Row, b: Row): number => (a.operator.toLowerCase() < b.operator.toLowerCase() ? -1 : 1);

function groupedBy<T>(rows: readonly T[], key: (row: T) => string | number): T[][] {
  const groups = new Map<string | number, T[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
}

const hasNumber = ({ since, domain, use }: Row): boolean => domain === "" || use === "bodies" || since > 1;

/** The names of a list's entry, with the first operator set where it matters. */
const names = (rows: readonly Row[]): string =>
  groupedBy(rows, ({ since }) => since)
    .map((group) => {
      const [first] = group as [Row];
      const bold = `**${group.map(({ operator }) => operator).join(", ")}**`;
      const domain = first.use === "bodies" && first.domain !== "" ? ` of ${first.domain}` : "";
      return `${bold}${hasNumber(first) ? ` (${first.since})` : ""}${domain}`;
    })
    .join(", ");

const entry = (rows: readonly Row[]): string => {
  const [{ computes, sets }] = rows as [Row];
  return `- ${names(rows)}: ${computes}${sets === undefined ? "" : `\n  - Operator sets: ${sets}`}`;
};

/** A list with an entry for each row. */
const listOf = (rows: readonly Row[]): string =>
  rows
    .toSorted(byName)
    .map((row) => entry([row]))
    .join("\n");

/** Returns a list where operators computing the same share an entry. */
const joinedListOf = (rows: readonly Row[]): string =>
  groupedBy(rows.toSorted(byName), ({ computes }) => computes)
    .map(entry)
    .join("\n");

const tensorRows = (domain: string): Row[] => OPERATORS.filter((row) => row.domain === domain && row.use !== "bodies");

/** Returns a domain's operators with a gradient rule, and the rule's limits. */
function differentiated(domain: string): string {
  const rows = OPERATORS.filter((row) => row.domain === domain).toSorted(byName);
  const found = rows.flatMap((row) => {
    if (!("gradient" in row) || "refused" in row.gradient) return [];
    const limits = typeof row.gradient === "function" ? undefined : row.gradient.limits;
    return [limits === undefined ? row.operator : `${row.operator} (${limits})`];
  });
  return `${domain === "" ? "" : `Of \`${domain}\`: `}${found.join(", ")}.`;
}

/** The generated lists, by the names of their markers in the page. */
export const operatorLists = (): Record<string, string> => ({
  "ai.onnx": listOf(tensorRows("")),
  training: joinedListOf(tensorRows("ai.onnx.preview.training")),
  gradients: ["", "com.microsoft", "ai.onnx.ml"].map(differentiated).join("\n\n"),
  "ai.onnx.ml": joinedListOf(tensorRows("ai.onnx.ml")),
  "com.microsoft": joinedListOf(tensorRows("com.microsoft")),
  bodies: joinedListOf(OPERATORS.filter(({ use }) => use === "bodies")),
});
