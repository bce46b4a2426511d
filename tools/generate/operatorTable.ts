// Writes docs/operatorTable.md from the tables of operators.
//   npm run operators
import { writeFileSync } from "node:fs";
import { OPERATOR_TABLE, operatorTable } from "../../testkit/operators/operatorTable.ts";

writeFileSync(OPERATOR_TABLE, await operatorTable());
