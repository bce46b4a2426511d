/** Writes docs/operatorTable.md from the tables of operators. test/docs/operatorTable.test.ts compares. */
import { writeFileSync } from "node:fs";
import { OPERATOR_TABLE, operatorTable } from "../../testkit/operators/operatorTable.ts";
import { readOptions } from "../options.ts";

readOptions({});
writeFileSync(OPERATOR_TABLE, await operatorTable());
