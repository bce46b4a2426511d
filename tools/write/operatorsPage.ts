import { readFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { operatorLists } from "../../testkit/operators/operatorLists.ts";
import { fillTables } from "../../testkit/economics/page.ts";

/** The page whose lists of operators are generated. */
export const OPERATORS_PAGE = "docs/operators.md";

/** The page with lists from the table of operators. */
export async function operatorsPage(): Promise<string> {
  const options = { ...(await resolveConfig(OPERATORS_PAGE)), filepath: OPERATORS_PAGE };
  const lists: Record<string, string> = {};
  for (const [name, list] of Object.entries(operatorLists())) lists[name] = (await format(list, options)).trimEnd();
  return fillTables(readFileSync(OPERATORS_PAGE, "utf8"), lists);
}
