import { artifacts, type network } from "hardhat";
import type { Address, Hex } from "viem";
import type { Parameters } from "../../src/chain/structs.ts";

type Viem = Awaited<ReturnType<(typeof network)["create"]>>["viem"];

/** The addresses and parameters for a market's deployment. */
type Foundation = { token: Address; provisioning: Address; checker: Address; parameters: Parameters };

/** Deploys a vault, a game and their market, at the address that both name. */
export async function deployMarket(viem: Viem, { token, provisioning, checker, parameters }: Foundation) {
  const deployer = await viem.deployContract("MarketDeployer");
  const address = await deployer.read.reserved();
  const delay = BigInt(parameters.withdrawalDelay);
  const vault = await viem.deployContract("StakeVault", [token, provisioning, delay, address]);
  const game = await viem.deployContract("DisputeGame", [address, checker, parameters]);
  const extension = await viem.deployContract("MarketExtension", [vault.address, game.address, parameters]);
  const { bytecode } = await artifacts.readArtifact("JobMarket");
  await deployer.write.deploy([bytecode as Hex, vault.address, game.address, extension.address, parameters]);
  return { vault, game, market: await viem.getContractAt("JobMarket", address) };
}
