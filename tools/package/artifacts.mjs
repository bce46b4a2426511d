// Artifacts without white space, so that the package is small.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes those artifacts of contracts that the package has without white space. They say the same, to Hardhat too.
 * @param files What the package has, as package.json says it. Contracts that were not built are left out.
 */
export function compactArtifacts(files) {
  for (const file of files.filter((name) => name.startsWith("artifacts/") && existsSync(name))) {
    const text = readFileSync(file, "utf8");
    const compact = JSON.stringify(JSON.parse(text));
    if (compact === text) continue;
    // Whoever reads it meanwhile reads the old one or the new one.
    const fresh = `${file}-${process.pid}`;
    writeFileSync(fresh, compact);
    renameSync(fresh, file);
  }
}
