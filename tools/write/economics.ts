/** Writes the tables of docs/economics.md. test/contracts/market/economics.test.ts compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { currentTables } from "../../testkit/economics/currentTables.ts";
import { fillTables } from "../../testkit/economics/page.ts";
import { readOptions } from "../options.ts";

const PAGE = "docs/economics.md";

readOptions({});
writeFileSync(PAGE, fillTables(readFileSync(PAGE, "utf8"), await currentTables()));
