// The compiled contracts in one file, so that the package is small.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { compressed } from "../setup/contracts.mjs";

const FOLDER = "artifacts/contracts";
/** The folders of the contracts that a release deploys. */
const DEPLOYED = ["attestation", "examples", "extras", "game", "market", "vault", "verifier"];

/** The files that Hardhat wrote for these folders; none before the first build. */
export const artifactFiles = () =>
  DEPLOYED.map((name) => `${FOLDER}/${name}`)
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true })
        .filter((name) => name.endsWith(".json"))
        .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
    )
    .sort();

/** Writes the contracts with code as compressed JSON: artifacts by the names of the contracts. */
export function packContracts(path) {
  // The build's own file is not in the package.
  const withoutBuild = (key, value) => (key === "buildInfoId" ? undefined : value);
  const artifacts = artifactFiles()
    .map((file) => JSON.parse(readFileSync(file, "utf8"), withoutBuild))
    .filter(({ bytecode }) => bytecode !== undefined && bytecode !== "0x")
    .map((artifact) => [artifact.contractName, artifact]);
  writeFileSync(path, compressed(Object.fromEntries(artifacts)));
}
