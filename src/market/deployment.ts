import { zeroAddress, type Address, type PublicClient } from "viem";
import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../chain/abi/jobMarket.ts";
import { stakeVaultAbi } from "../chain/abi/stakeVault.ts";
import { NotDeployedError, RpcUnavailableError } from "../chain/errors.ts";
import { translateError } from "../chain/translateError.ts";
import type { Parameters } from "./types.ts";

/** One deployment of the protocol, as its market tells it. */
export type Deployment = {
  chainId: number;
  market: Address;
  game: Address;
  vault: Address;
  provisioning: Address;
  verifier: Address;
  /** The ERC-20 stake asset. */
  asset: Address;
  parameters: Parameters;
  /** Credit that a challenger needs to open a game. */
  bond: bigint;
};

/**
 * Reads a deployment, starting from the market's address.
 * @throws NotDeployedError if there is no market, RpcUnavailableError
 */
export async function readDeployment(client: PublicClient, market: Address): Promise<Deployment> {
  try {
    const code = await client.getCode({ address: market });
    if (market === zeroAddress || code === undefined) {
      throw new NotDeployedError(`no contract at ${market}: is it the market's address on this chain?`);
    }
    const atMarket = { address: market, abi: jobMarketAbi } as const;
    const [vault, game, parameters] = await Promise.all([
      client.readContract({ ...atMarket, functionName: "vault" }),
      client.readContract({ ...atMarket, functionName: "game" }),
      client.readContract({ ...atMarket, functionName: "parameters" }),
    ]);
    const [provisioning, asset, verifier, bond, chainId] = await Promise.all([
      client.readContract({ address: vault, abi: stakeVaultAbi, functionName: "provisioning" }),
      client.readContract({ address: vault, abi: stakeVaultAbi, functionName: "asset" }),
      client.readContract({ address: game, abi: disputeGameAbi, functionName: "verifier" }),
      client.readContract({ address: game, abi: disputeGameAbi, functionName: "bond" }),
      client.getChainId(),
    ]);
    return { chainId, market, game, vault, provisioning, verifier, asset, parameters, bond };
  } catch (error) {
    const translated = translateError(error, "reading the deployment");
    if (translated instanceof RpcUnavailableError || translated instanceof NotDeployedError) throw translated;
    throw new NotDeployedError(`the contract at ${market} is no job market of Refute`, { cause: error });
  }
}
