import { readFileSync } from "node:fs";
import { SOURCES } from "../../src/chain/market/artifacts.ts";
import { artifactPath, type PackedArtifact } from "../setup/contracts.mjs";

const DEPLOYED = { ...SOURCES, TextDirectionDapp: "examples/TextDirectionDapp.sol" };

/**
 * The contracts that the product and `npm start` deploy, as Hardhat compiled them. Without `buildInfoId`, which names a
 * file of the build that is not packed.
 */
export const builtArtifacts = (): PackedArtifact[] =>
  Object.entries(DEPLOYED).map(([name, source]) => {
    const text = readFileSync(artifactPath(`contracts/${source}`, name), "utf8");
    return JSON.parse(text, (key, value: unknown) => (key === "buildInfoId" ? undefined : value)) as PackedArtifact;
  });
