/** Writes the tables of docs/economics.md. test/contracts/market/economics.test.ts compares. */
import { readFileSync } from "node:fs";
import { currentTables } from "../../testkit/economics/currentTables.ts";
import { fillTables } from "../../testkit/economics/page.ts";
import { readOptions } from "../options.ts";
import { writeFormatted } from "./writeFormatted.ts";

const PAGE = "docs/economics.md";

readOptions({});
await writeFormatted(PAGE, fillTables(readFileSync(PAGE, "utf8"), await currentTables()));
