/** Prints the runtime size of every deployable contract; fails above EIP-170's limit. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LIMIT = 24_576;
const root = "artifacts/contracts";

type Artifact = { contractName: string; deployedBytecode: string };

const sizes = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json") && !/^(test|interfaces)\//.test(name))
  .map((name) => JSON.parse(readFileSync(join(root, name), "utf8")) as Artifact)
  .map(({ contractName, deployedBytecode }) => ({ contractName, bytes: (deployedBytecode.length - 2) / 2 }))
  // An internal library or an interface has next to no code of its own.
  .filter(({ bytes }) => bytes > 100)
  .sort((a, b) => b.bytes - a.bytes);

for (const { contractName, bytes } of sizes) {
  console.log(`${contractName.padEnd(28)} ${String(bytes).padStart(6)} bytes of ${LIMIT}`);
}
const over = sizes.filter(({ bytes }) => bytes > LIMIT);
if (over.length > 0) {
  console.error(`over the limit: ${over.map((c) => c.contractName).join(", ")}`);
  process.exitCode = 1;
}
