/** Writes the program roots of the catalogue's models. test/models/programRoots.test.ts compares. */
import { writeFileSync } from "node:fs";
import { CATALOGUE, LARGE } from "../../testkit/models/catalogue.ts";
import { PROGRAM_ROOTS, rootOf } from "../../testkit/models/programRoots.ts";
import { readOptions } from "../options.ts";

readOptions({});
const roots = Object.fromEntries([...CATALOGUE, ...LARGE].map((model) => [model.name, rootOf(model)]));
writeFileSync(PROGRAM_ROOTS, `${JSON.stringify(roots, null, 2)}\n`);
