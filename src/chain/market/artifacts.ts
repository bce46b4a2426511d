import { readFileSync } from "node:fs";
import type { Artifact, ArtifactResolver } from "@nomicfoundation/ignition-core";
import type { Hex } from "viem";
import { DeployParametersError } from "./errors.ts";
import { packageFile } from "./packageFiles.ts";

/** Source files of the deployed contracts, relative to the contracts folder. */
export const SOURCES = {
  Elementary: "verifier/Elementary.sol",
  StepVerifier: "verifier/StepVerifier.sol",
  Provisioning: "attestation/Provisioning.sol",
  Exams: "attestation/Exams.sol",
  ProofChecker: "game/ProofChecker.sol",
  MarketDeployer: "market/MarketDeployer.sol",
  StakeVault: "vault/StakeVault.sol",
  DisputeGame: "game/DisputeGame.sol",
  MarketExtension: "market/MarketExtension.sol",
  JobMarket: "market/JobMarket.sol",
  ClaimsDeployer: "extras/pledge/ClaimsDeployer.sol",
  ExamClaims: "extras/pledge/ExamClaims.sol",
  PledgedClaims: "extras/pledge/PledgedClaims.sol",
  Tickets: "extras/tickets/Tickets.sol",
  Panel: "extras/panel/Panel.sol",
  RefuteValidator: "extras/validator/RefuteValidator.sol",
  TdxReader: "attestation/tdx/TdxReader.sol",
  TdxQuoteVerifier: "attestation/tdx/TdxQuoteVerifier.sol",
  WrappedEther: "examples/WrappedEther.sol",
  TextDirectionDapp: "examples/TextDirectionDapp.sol",
} as const;

export type ContractName = keyof typeof SOURCES;

/** Reads a compiled contract. @throws DeployParametersError if the file is missing or contains no artifact */
export function contractArtifact(name: string): Artifact & { bytecode: Hex } {
  const source = SOURCES[name as ContractName];
  const path = packageFile("artifacts", "contracts", source, `${name}.json`);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Artifact & { bytecode: Hex };
  } catch (cause) {
    throw new DeployParametersError(
      `the compiled contract ${name} is not in the package, or not built: in a checkout of the repository, run ` +
        "npm run build",
      { cause },
    );
  }
}

/** Gives Ignition the contracts of this package. */
export const artifactResolver: ArtifactResolver = {
  loadArtifact: (name) => Promise.resolve(contractArtifact(name)),
  // The sources are in the repository: nothing needs the compiler's input beside each deployment.
  getBuildInfo: () => Promise.resolve(undefined),
};
