import { createPublicClient, createWalletClient, custom, type Hex } from "viem";
import { withPackages } from "../../base/optionalPackage.ts";
import { evaluateCalldata, type ElementProof } from "../../chain/clients/stepVerifier.ts";
import { contractArtifact } from "../../chain/market/artifacts.ts";
import { packageFile } from "../../chain/market/packageFiles.ts";

/** The step verifier on an embedded chain. */
export type ChainVerifier = {
  /** The word that the contract computes; undefined if it refuses the proof. */
  evaluate: (proof: ElementProof) => Promise<bigint | undefined>;
  /** Returns the gas for a transaction with only the evaluation. */
  transactionGas: (proof: ElementProof) => Promise<number>;
  close: () => Promise<void>;
};

/** An in-process chain with funded accounts. The chain signs for the accounts. */
type EmbeddedChain = {
  provider: { request: (request: { method: string; params?: readonly unknown[] }) => Promise<unknown> };
  close: () => Promise<void>;
};

/** EIP-7825: the maximum gas of a transaction. */
const TRANSACTION_GAS = 2n ** 24n;

/** The polling interval for a transaction's block, in milliseconds; the chain mines each transaction at once. */
const POLLING_MS = 10;

/**
 * Deploys the verifier on an embedded chain.
 * @param start Starts the chain: Hardhat's, with nothing of any project, if left out.
 * @throws MissingPackageError without Hardhat, DeployParametersError if the contracts are not compiled
 */
export async function startChainVerifier(start: () => Promise<EmbeddedChain> = startHardhat): Promise<ChainVerifier> {
  const { provider, close } = await start();
  const transport = custom(provider, { retryCount: 0 });
  const client = createPublicClient({ transport, pollingInterval: POLLING_MS });
  const reader = createWalletClient({ transport });
  const [account] = await reader.getAddresses();
  const wallet = createWalletClient({ transport, account: account! });
  const deploy = async (name: string, args: readonly unknown[]): Promise<Hex> => {
    const { abi, bytecode } = contractArtifact(name);
    const hash = await wallet.deployContract({ abi, bytecode, args, chain: null });
    return (await client.waitForTransactionReceipt({ hash })).contractAddress!;
  };
  const to = await deploy("StepVerifier", [await deploy("Elementary", [])]);
  return {
    evaluate: async (proof) => {
      const { ok, data } = await client.call({ to, data: evaluateCalldata(proof), gas: TRANSACTION_GAS }).then(
        (answer) => ({ ok: true, data: answer.data }),
        (error: unknown) => {
          if (!isRevert(error)) throw error;
          return { ok: false, data: undefined };
        },
      );
      return ok ? BigInt(data!) : undefined;
    },
    transactionGas: async (proof) => {
      const hash = await wallet.sendTransaction({
        to,
        data: evaluateCalldata(proof),
        gas: TRANSACTION_GAS,
        chain: null,
      });
      const { gasUsed } = await client.waitForTransactionReceipt({ hash });
      return Number(gasUsed);
    },
    close,
  };
}

/**
 * Starts Hardhat's chain with the rules of a Refute deployment. The import is late because other commands need no
 * chain.
 */
async function startHardhat(): Promise<EmbeddedChain> {
  const { createHardhatRuntimeEnvironment } = await withPackages(
    ["hardhat"],
    "the embedded chain",
    () => import("hardhat/hre"),
  );
  const rules = { type: "edr-simulated", chainType: "l1", hardfork: "osaka" } as const;
  // A project must have a root, whatever folder the command is called in: this package is one.
  const { network } = await createHardhatRuntimeEnvironment({ networks: { default: rules } }, {}, packageFile());
  return network.create();
}

/** Whether a call failed because the contract reverted, and not for want of a chain. */
const isRevert = (error: unknown): boolean => error instanceof Error && /revert/i.test(error.message);
