import { createWalletClient, http, parseEther, toHex, type Address, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { textDirectionDappAbi } from "../../chain/abi/textDirectionDapp.ts";
import { contractArtifact } from "../../chain/market/artifacts.ts";
import { openSession, type Session } from "../../chain/market/session.ts";
import { CHAIN_ID, developmentAccount } from "../devnet/accounts.ts";
import { Anvil } from "../devnet/anvil.ts";
import { deployLocally } from "../devnet/deployLocally.ts";
import { giveAsset } from "../devnet/parties.ts";
import type { SoftwareManufacturer } from "../../attestation/manufacturer.ts";
import type { Setting } from "./setting.ts";

/** How often is looked for a block: the chain mines each transaction at once. */
const POLLING_MS = 50;

/**
 * Starts a chain in another process, for installed packages without the repository: the same scenes without Hardhat.
 * @throws MissingPackageError, DevnetError, DeployFailedError
 */
export async function anvilSetting(manufacturer: SoftwareManufacturer): Promise<Setting> {
  const anvil = await Anvil.start();
  try {
    const { market } = await deployLocally(anvil.url, {}, manufacturer);
    const newSession = async (wrapped = 0n): Promise<Session> => {
      const account = privateKeyToAccount(generatePrivateKey());
      await anvil.request("anvil_setBalance", [account.address, toHex(parseEther("100") + wrapped)]);
      const target = { endpoint: { rpcUrls: [anvil.url] }, chainId: CHAIN_ID, market, account };
      const session = await openSession({ ...target, patience: { pollingMs: POLLING_MS } });
      if (wrapped > 0n) await giveAsset(session, wrapped);
      return session;
    };
    const reader = await newSession();
    const deploy = async (name: "TextDirectionDapp", args: readonly [Address, Hex, number]): Promise<Address> => {
      const { chain } = reader.publicClient;
      const client = createWalletClient({ account: developmentAccount(8), chain, transport: http(anvil.url) });
      const { bytecode } = contractArtifact(name);
      const hash = await client.deployContract({ abi: textDirectionDappAbi, bytecode, args });
      const { contractAddress } = await reader.publicClient.waitForTransactionReceipt({ hash });
      return contractAddress!;
    };
    const advance = async (seconds: number): Promise<void> => {
      await anvil.request("evm_increaseTime", [seconds]);
      await anvil.request("evm_mine");
    };
    const answerOf: Setting["answerOf"] = async (address, jobId) => {
      const call = { address, abi: textDirectionDappAbi, functionName: "answerOf", args: [jobId] } as const;
      const { upright, confidencePpm } = await reader.publicClient.readContract(call);
      const percent = (Math.floor(confidencePpm / 1_000) / 10).toFixed(1);
      return { text: `${upright ? "upright" : "upside down"}, ${percent} %`, confidencePpm };
    };
    const chain = { market, newSession, deploy, advance, close: () => anvil.close() };
    return { chain, kind: "A chain starts beside this process", reader: "viem", answerOf };
  } catch (error) {
    await anvil.close();
    throw error;
  }
}
