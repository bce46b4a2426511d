import { globSync, readFileSync } from "node:fs";
import type { PackedArtifact } from "../setup/contracts.mjs";

/**
 * The compiled contracts: contracts for deployment, and contracts for tests. `buildInfoId` is left out: the build's
 * file with this name is not packed.
 */
export const builtArtifacts = (): PackedArtifact[] =>
  globSync("artifacts/contracts/**/*.json")
    .sort()
    .map((file) => {
      const text = readFileSync(file, "utf8");
      return JSON.parse(text, (key, value: unknown) => (key === "buildInfoId" ? undefined : value)) as PackedArtifact;
    });
