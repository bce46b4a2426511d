import { format, resolveConfig } from "prettier";
import { OWN_DOMAIN } from "../../src/compiler/nodes.ts";
import { REFUSED } from "../../src/compiler/table/refused.ts";
import { OPERATORS } from "../../src/compiler/table/registry.ts";
import type { Row } from "../../src/compiler/table/row.ts";
import { OPSETS } from "../../src/model/onnx/readModel.ts";

/** The file of the generated table. */
export const OPERATOR_TABLE = "docs/operatorTable.md";

/** Every operator that is taken. */
export const TAKEN: readonly Row[] = OPERATORS.filter(({ domain }) => domain !== OWN_DOMAIN);

const byName = (a: { operator: string }, b: { operator: string }): number => (a.operator < b.operator ? -1 : 1);

function section(domain: string): string[] {
  const rows = TAKEN.filter((row) => row.domain === domain).sort(byName);
  const latest = Math.max(...rows.map(({ until }) => until));
  const text = ({ operator, until }: Row): string => (until < latest ? `${operator} (to ${until})` : operator);
  const sets = [...new Set(rows.map(({ since }) => since))].sort((a, b) => a - b);
  const refused = REFUSED.filter((row) => row.domain === domain).sort(byName);
  return [
    `## Domain \`${domain === "" ? "ai.onnx" : domain}\``,
    `Taken, ${rows.length} operators, by the first operator set:`,
    sets
      .map(
        (set) =>
          `- **${set}**: ${rows
            .filter(({ since }) => since === set)
            .map(text)
            .join(", ")}`,
      )
      .join("\n"),
    ...(refused.length === 0
      ? []
      : ["Refused:", refused.map(({ operator, reason }) => `- **${operator}**: ${reason}`).join("\n")]),
  ];
}

/** The page: every operator by domain and operator set, and why some are refused. */
export async function operatorTable(): Promise<string> {
  const domains = [...new Set(TAKEN.map(({ domain }) => domain))].sort();
  const text = [
    "# Table of operators",
    "`npm run write -- operators` writes this page from the tables of the code; [operators.md](operators.md) says " +
      `what each operator computes. Operator sets ${OPSETS[0]} to ${OPSETS[1]} of ai.onnx are read. An operator that ` +
      "is not here is refused by name.",
    ...domains.flatMap(section),
  ].join("\n\n");
  return format(text, { ...(await resolveConfig(OPERATOR_TABLE)), filepath: OPERATOR_TABLE });
}
