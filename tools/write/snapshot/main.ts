/** Writes test/contracts/snapshots from the contracts. test/contracts/snapshots/snapshots.test.ts compares. */
import { mkdirSync, writeFileSync } from "node:fs";
import { readOptions } from "../../options.ts";
import { takeSnapshots } from "./snapshots.ts";

readOptions({});
mkdirSync("test/contracts/snapshots", { recursive: true });
for (const [path, text] of takeSnapshots()) writeFileSync(path, text);
