/** Writes src/chain/abi. test/chain/abi.test.ts compares. */
import { writeFileSync } from "node:fs";
import { readOptions } from "../options.ts";
import { generateAbis } from "./abis.ts";

readOptions({});
for (const [path, text] of await generateAbis()) writeFileSync(path, text);
