import { readFileSync } from "node:fs";
import { SOURCES } from "../../src/chain/market/artifacts.ts";
import { artifactPath, type PackedArtifact } from "../setup/contracts.mjs";

/**
 * The compiled contracts that the product and `npm start` deploy. `buildInfoId` is left out: it names a file of the
 * build, and this file is not packed.
 */
export const builtArtifacts = (): PackedArtifact[] =>
  Object.entries(SOURCES).map(([name, source]) => {
    const text = readFileSync(artifactPath(`contracts/${source}`, name), "utf8");
    return JSON.parse(text, (key, value: unknown) => (key === "buildInfoId" ? undefined : value)) as PackedArtifact;
  });
