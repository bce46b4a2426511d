import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { withPackages } from "../../optionalPackage.ts";
import { evaluateCalldata, type ElementProof } from "../../chain/clients/stepVerifier.ts";

/** The step verifier on an embedded chain. */
export type ChainVerifier = {
  /** The word that the contract computes; undefined if it refuses the proof. */
  evaluate: (proof: ElementProof) => Promise<bigint | undefined>;
  /** The gas of a transaction that holds only this call. */
  transactionGas: (proof: ElementProof) => Promise<number>;
  close: () => Promise<void>;
};

/** What runs the chain and deploys to it. */
const HARDHAT = [
  "hardhat",
  "@nomicfoundation/hardhat-ignition",
  "@nomicfoundation/hardhat-ignition-viem",
  "@nomicfoundation/hardhat-viem",
  "@nomicfoundation/hardhat-network-helpers",
];

/** EIP-7825: the maximum gas of a transaction. */
const TRANSACTION_GAS = 2n ** 24n;

/** Builds the contracts if need be, starts Hardhat's chain in this process, and deploys the verifier with Ignition. */
export async function startChainVerifier(): Promise<ChainVerifier> {
  // Found from here, so that the command works in any folder; imported late, as other commands need no chain.
  process.env.HARDHAT_CONFIG ??= join(dirname(findPackageJSON(import.meta.url)!), "hardhat.config.ts");
  const { default: hre, network } = await withPackages(HARDHAT, "the embedded chain", () => import("hardhat"));
  const { verifierModule } = await withPackages(
    HARDHAT,
    "the embedded chain",
    () => import("../../../ignition/modules/Verifier.ts"),
  );
  await hre.tasks.getTask("build").run({ quiet: true });
  const connection = await network.create();
  const { verifier } = await connection.ignition.deploy(verifierModule);
  const client = await connection.viem.getPublicClient();
  const [wallet] = await connection.viem.getWalletClients();
  const to = verifier.address;
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
      const hash = await wallet!.sendTransaction({ to, data: evaluateCalldata(proof), gas: TRANSACTION_GAS });
      const { gasUsed } = await client.waitForTransactionReceipt({ hash });
      return Number(gasUsed);
    },
    close: () => connection.close(),
  };
}

/** Whether a call failed because the contract reverted, and not for want of a chain. */
const isRevert = (error: unknown): boolean => error instanceof Error && /revert/i.test(error.message);
