import { zeroAddress, type Address, type PublicClient } from "viem";
import { DisputeGameReader } from "../chain/clients/disputeGame.ts";
import { JobMarketReader } from "../chain/clients/jobMarket.ts";
import { StakeVaultReader } from "../chain/clients/stakeVault.ts";
import { NotDeployedError, RpcUnavailableError } from "../chain/errors.ts";
import { translateError } from "../chain/translateError.ts";
import type { Parameters } from "../chain/structs.ts";

/** One deployment of the protocol, as its market describes it. */
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
export async function readDeployment(publicClient: PublicClient, market: Address): Promise<Deployment> {
  const access = { publicClient };
  try {
    const code = await publicClient.getCode({ address: market });
    if (market === zeroAddress || code === undefined) {
      throw new NotDeployedError(`no contract at ${market}: is it the market's address on this chain?`);
    }
    const marketReader = new JobMarketReader(market, access);
    const [vault, game, parameters] = await Promise.all([
      marketReader.vault(),
      marketReader.game(),
      marketReader.parameters(),
    ]);
    const vaultReader = new StakeVaultReader(vault, access);
    const gameReader = new DisputeGameReader(game, access);
    const [provisioning, asset, verifier, bond, chainId] = await Promise.all([
      vaultReader.provisioning(),
      vaultReader.asset(),
      gameReader.verifier(),
      gameReader.bond(),
      publicClient.getChainId(),
    ]);
    return { chainId, market, game, vault, provisioning, verifier, asset, parameters, bond };
  } catch (error) {
    const translated = translateError(error, "reading the deployment");
    if (translated instanceof RpcUnavailableError || translated instanceof NotDeployedError) throw translated;
    throw new NotDeployedError(`the contract at ${market} is no job market of Refute`, { cause: error });
  }
}
