/**
 * `npm run snapshot`: writes test/contracts/snapshots from the contracts. test/contracts/snapshots/snapshots.test.ts
 * compares.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { takeSnapshots } from "./snapshots.ts";

mkdirSync("test/contracts/snapshots", { recursive: true });
for (const [path, text] of takeSnapshots()) writeFileSync(path, text);
