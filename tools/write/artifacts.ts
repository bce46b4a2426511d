// Writes ignition/artifacts.br: the compiled contracts that are deployed, by the product and by `npm start`, which then
// compiles nothing. test/deploy/packedArtifacts.test.ts compares the file with the sources and with the compiler.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SOURCES } from "../../src/chain/market/artifacts.ts";
import { artifactPath, PACKED, packArtifacts, sourcesHash, type PackedArtifact } from "../setup/contracts.mjs";

const DEPLOYED = { ...SOURCES, TextDirectionDapp: "examples/TextDirectionDapp.sol" };

/**
 * The contracts that are deployed, as Hardhat compiled them. Without `buildInfoId`, which names a file of the build that
 * is not packed.
 */
export const builtArtifacts = (): PackedArtifact[] =>
  Object.entries(DEPLOYED).map(([name, source]) => {
    const text = readFileSync(artifactPath(`contracts/${source}`, name), "utf8");
    return JSON.parse(text, (key, value: unknown) => (key === "buildInfoId" ? undefined : value)) as PackedArtifact;
  });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { tasks } = await import("hardhat");
  await tasks.getTask("build").run({ quiet: true, noTests: true });
  writeFileSync(PACKED, packArtifacts(sourcesHash(), builtArtifacts()));
}
