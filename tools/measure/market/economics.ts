/** The tables of docs/economics.md, from the default deployment on an embedded chain. */
import { currentTables } from "../../../testkit/economics/currentTables.ts";
import { readOptions } from "../../options.ts";

readOptions({});
for (const [name, table] of Object.entries(await currentTables())) console.log(`${name}\n${table}\n`);
