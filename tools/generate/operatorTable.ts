// Writes docs/operatorTable.md, and the lists of docs/operators.md, from the table of operators.
//   npm run operators
import { writeFileSync } from "node:fs";
import { OPERATOR_TABLE, operatorTable } from "../../testkit/operators/operatorTable.ts";
import { OPERATORS_PAGE, operatorsPage } from "./operatorsPage.ts";

writeFileSync(OPERATOR_TABLE, await operatorTable());
writeFileSync(OPERATORS_PAGE, await operatorsPage());
