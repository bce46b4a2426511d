/** Writes docs/operatorTable.md and the lists of docs/operators.md from the table of operators. */
import { writeFileSync } from "node:fs";
import { OPERATOR_TABLE, operatorTable } from "../../testkit/operators/operatorTable.ts";
import { readOptions } from "../options.ts";
import { OPERATORS_PAGE, operatorsPage } from "./operatorsPage.ts";

readOptions({});
writeFileSync(OPERATOR_TABLE, await operatorTable());
writeFileSync(OPERATORS_PAGE, await operatorsPage());
