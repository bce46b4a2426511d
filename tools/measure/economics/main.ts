/**
 * The tables of docs/economics.md, from the default deployment on an embedded chain. `npm run economics [-- --write]`
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readDeployment } from "./deployment.ts";
import { fillTables } from "./page.ts";
import { panelTables } from "./panelTables.ts";
import { economicsTables } from "./tables.ts";

const PAGE = "docs/economics.md";
const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const { deployment, bounds } = await readDeployment([1, 2, 3, 4, 5, 6]);
const tables = { ...economicsTables(deployment, bounds), ...panelTables(deployment) };
if (values.write) writeFileSync(PAGE, fillTables(readFileSync(PAGE, "utf8"), tables));
else for (const [name, table] of Object.entries(tables)) console.log(`${name}\n${table}\n`);
