import { existsSync, readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
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
  ProofExtension: "market/ProofExtension.sol",
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

type CompiledContract = Artifact & { bytecode: Hex };

let packed: Record<string, CompiledContract> | undefined;

/** Reads a contract of the package: a single file holds all contracts (tools/package/artifacts.mjs). */
function packedContract(name: string): CompiledContract | undefined {
  const read = (): string => brotliDecompressSync(readFileSync(packageFile("dist", "contracts.br"))).toString();
  packed ??= JSON.parse(read()) as Record<string, CompiledContract>;
  return packed[name];
}

/**
 * Reads a compiled contract: Hardhat's file in a checkout, the package's copy elsewhere.
 * @throws DeployParametersError if the file is missing or contains no artifact
 */
export function contractArtifact(name: string): CompiledContract {
  const path = packageFile("artifacts", "contracts", SOURCES[name as ContractName], `${name}.json`);
  let contract: CompiledContract | undefined;
  let cause: unknown;
  try {
    contract = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as CompiledContract) : packedContract(name);
  } catch (error) {
    cause = error;
  }
  if (contract !== undefined) return contract;
  throw new DeployParametersError(
    `the compiled contract ${name} is not there: in a checkout of the repository, run npm run build`,
    { cause },
  );
}

/** Gives Ignition the contracts of this package. */
export const artifactResolver: ArtifactResolver = {
  loadArtifact: (name) => Promise.resolve(contractArtifact(name)),
  // The sources are in the repository: nothing needs the compiler's input beside each deployment.
  getBuildInfo: () => Promise.resolve(undefined),
};
