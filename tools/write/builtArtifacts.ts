import { globSync, readFileSync } from "node:fs";
import type { PackedArtifact } from "../setup/contracts.mjs";

/**
 * The compiled contracts: those that are deployed, and those that tests deploy and call. `buildInfoId` is left out: it
 * names a file of the build, and this file is not packed.
 */
export const builtArtifacts = (): PackedArtifact[] =>
  globSync("artifacts/contracts/**/*.json")
    .sort()
    .map((file) => {
      const text = readFileSync(file, "utf8");
      return JSON.parse(text, (key, value: unknown) => (key === "buildInfoId" ? undefined : value)) as PackedArtifact;
    });
