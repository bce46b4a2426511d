// Writes src/chain/abi/*.ts from the built artifacts, as human-readable signatures, so that a change to an interface is seen in
// review and the clients are typed without a build. `npm run abi` after a change; test/chain/abi.test.ts compares.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatAbi } from "abitype";
import type { Abi } from "viem";
