/** `npm run snapshot`: writes test/snapshots from the contracts. test/snapshots/snapshots.test.ts compares. */
import { mkdirSync, writeFileSync } from "node:fs";
import { takeSnapshots } from "./snapshots.ts";

mkdirSync("test/snapshots", { recursive: true });
for (const [path, text] of takeSnapshots()) writeFileSync(path, text);
