/**
 * Compares the packed contracts with the compiler's output, and prints the size of each deployable contract. Fails if
 * they differ, and above the limits of EIP-170 (runtime) and EIP-3860 (creation).
 */
import { readOptions } from "../options.ts";
import { PACKED, readPacked } from "../setup/contracts.mjs";
import { builtArtifacts } from "../write/builtArtifacts.ts";

const LIMIT = 24_576;
const CREATION_LIMIT = 49_152;

const bytesOf = (hex: string): number => (hex.length - 2) / 2;

readOptions({});
const asText = (contracts: readonly { sourceName: string; contractName: string }[]): Map<string, string> =>
  new Map(contracts.map((each) => [`${each.sourceName}:${each.contractName}`, JSON.stringify(each)]));
const artifacts = builtArtifacts();
const [packed, built] = [asText(readPacked().artifacts), asText(artifacts)];
const other = [...new Set([...packed.keys(), ...built.keys()])].filter((name) => packed.get(name) !== built.get(name));
if (other.length > 0) {
  console.error(`${PACKED} is not what the compiler makes (npm run write -- artifacts): ${other.join(", ")}`);
  process.exitCode = 1;
} else console.log(`${PACKED}: ${built.size} contracts, all as the compiler makes them`);

const sizes = artifacts
  .filter(({ sourceName }) => !/^contracts\/(test|interfaces)\//.test(sourceName))
  .map(({ contractName, bytecode, deployedBytecode }) => ({
    contractName,
    bytes: bytesOf(deployedBytecode),
    creation: bytesOf(bytecode),
  }))
  // An internal library or an interface has next to no code of its own.
  .filter(({ bytes }) => bytes > 100)
  .sort((a, b) => b.bytes - a.bytes);

for (const { contractName, bytes, creation } of sizes) {
  const own = `${String(bytes).padStart(6)} bytes of ${LIMIT}`;
  console.log(`${contractName.padEnd(28)} ${own}, creation ${String(creation).padStart(6)} of ${CREATION_LIMIT}`);
}
const over = sizes.filter(({ bytes, creation }) => bytes > LIMIT || creation > CREATION_LIMIT);
if (over.length > 0) {
  console.error(`over the limit: ${over.map((c) => c.contractName).join(", ")}`);
  process.exitCode = 1;
}
