// Writes the program roots of the catalogue's models, which a test compares with what the compiler gives.
//   npm run roots
import { writeFileSync } from "node:fs";
import { CATALOGUE, LARGE } from "../../testkit/models/catalogue.ts";
import { PROGRAM_ROOTS, rootOf } from "../../testkit/models/programRoots.ts";

const roots = Object.fromEntries([...CATALOGUE, ...LARGE].map((model) => [model.name, rootOf(model)]));
writeFileSync(PROGRAM_ROOTS, `${JSON.stringify(roots, null, 2)}\n`);
