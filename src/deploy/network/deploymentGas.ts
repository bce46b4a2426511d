import { contractArtifact, type ContractName } from "../../chain/market/artifacts.ts";

/** The market's contracts and the step verifier's contracts. */
const MARKET: readonly ContractName[] = [
  "Provisioning",
  "ProofChecker",
  "MarketDeployer",
  "StakeVault",
  "DisputeGame",
  "MarketExtension",
];
const VERIFIER: readonly ContractName[] = ["Elementary", "StepVerifier"];

/** A transaction that creates a contract: 21,000 and 32,000. */
const CREATION = 53_000;
/** Gas per byte of creation code: 16 for calldata, 200 for deployed code, 2 / 32 for the initcode check (EIP-3860). */
const CODE_BYTE = 216.07;
/**
 * Maximum gas of a constructor's other work: the constructor reads other contracts, tries a step, and fills some words.
 */
const CONSTRUCTOR = 250_000;

/**
 * An upper bound of a deployment's gas.
 * @param withVerifier Whether the step verifier is deployed too.
 */
export function deploymentGas(withVerifier: boolean): number {
  const gasOf = (name: ContractName): number => {
    const bytes = contractArtifact(name).bytecode.length / 2;
    return Math.ceil(CREATION + CODE_BYTE * bytes + CONSTRUCTOR);
  };
  // The market's deployer contract creates the market with a call.
  const names: readonly ContractName[] = [...(withVerifier ? VERIFIER : []), ...MARKET, "JobMarket"];
  return names.reduce((gas, name) => gas + gasOf(name), 0);
}
