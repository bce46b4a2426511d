import { artifacts, network } from "hardhat";
import { createTestClient, custom, parseEther, publicActions, type Address, type Hex, type Transport } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { refuteModule } from "../../../ignition/modules/Refute.ts";
import { verifierModule } from "../../../ignition/modules/Verifier.ts";
import { ticketsModule } from "../../../ignition/modules/tickets.ts";
import { wrappedEtherModule } from "../../../ignition/modules/WrappedEther.ts";
import { WrappedEther } from "../../chain/clients/wrappedEther.ts";
import { openReader, openSession, type Session } from "../../chain/market/session.ts";

/**
 * An embedded chain with the protocol on it: Hardhat's own, osaka rules, transaction gas cap on, behind a transaction
 * pool (hardhat.config.ts). Nothing leaves this process.
 */
export type LocalChain = {
  chainId: number;
  transport: Transport;
  market: Address;
  /** Opens a session for a new account with 100 ether; `wrappedEther` is the wrapped part. */
  newSession: (wrappedEther?: bigint) => Promise<Session>;
  /** Opens a session for an existing account, like after a restart. */
  sessionOf: (privateKey: Hex) => Promise<Session>;
  newAccount: (wrappedEther?: bigint) => Promise<Hex>;
  /** Deploys the protocol again on the same chain, next to the first deployment. */
  deployAgain: (parameters?: LocalParameters) => Promise<LocalChain>;
  /**
   * Deploys pledged claims and tickets next to the market.
   * @param exams Exams whose wrong roots can be challenged.
   */
  deployTickets: (changes?: LocalParameters, exams?: Address) => Promise<LocalTickets>;
  /** Deploys another contract. */
  deploy: (name: string, args: readonly unknown[]) => Promise<Address>;
  /** Lets time pass and mines a block. */
  advance: (seconds: number) => Promise<void>;
  now: () => Promise<bigint>;
  provider: { request: (request: { method: string; params?: unknown[] }) => Promise<unknown> };
  close: () => Promise<void>;
};

/** The contracts for off-chain answers next to a market; `examClaims` exists only with exams. */
export type LocalTickets = { tickets: Address; claims: Address; examClaims?: Address | undefined };

/** Parameters of ignition/modules/Refute.ts to set; the rest are its defaults. */
export type LocalParameters = Record<string, number | bigint | string | readonly string[]>;

/**
 * Default parameters of a local deployment: a manufacturer without devices, and every block on the grid of reports. A
 * local chain mines blocks only on request, therefore every block counts.
 */
const LOCAL: LocalParameters = { manufacturers: [`0x${"01".repeat(32)}`], gridBlocks: 1 };

/**
 * Starts an embedded chain and deploys with Ignition.
 * @param token The contract of the stake asset, if not wrapped ether itself: one that wraps ether too.
 */
export async function startLocalChain(parameters: LocalParameters = {}, token?: string): Promise<LocalChain> {
  const connection = await network.create();
  const { ignition, viem, provider } = connection;
  const asset =
    token === undefined ? (await ignition.deploy(wrappedEtherModule)).asset : await viem.deployContract(token);
  const { verifier } = await ignition.deploy(verifierModule);
  const deployWith = async (chosen: LocalParameters): Promise<Address> => {
    const given = { ...LOCAL, ...chosen, asset: asset.address, verifier: verifier.address };
    return (await ignition.deploy(refuteModule, { parameters: { Refute: given } })).market.address;
  };

  const transport = custom(provider, { retryCount: 0 });
  const client = createTestClient({ mode: "hardhat", transport }).extend(publicActions);
  const chainId = await client.getChainId();
  const now = async (): Promise<bigint> => (await client.getBlock()).timestamp;

  const withMarket = (market: Address): LocalChain => {
    const sessionOf = (privateKey: Hex): Promise<Session> =>
      openSession({ endpoint: { transport }, chainId, market, account: privateKeyToAccount(privateKey) });
    const newAccount = async (wrappedEther = 0n): Promise<Hex> => {
      const privateKey = generatePrivateKey();
      const { address } = privateKeyToAccount(privateKey);
      await client.setBalance({ address, value: parseEther("100") + wrappedEther });
      if (wrappedEther > 0n) await wrap(await sessionOf(privateKey), wrappedEther);
      return privateKey;
    };
    return {
      chainId,
      transport,
      market,
      newSession: async (wrappedEther) => sessionOf(await newAccount(wrappedEther)),
      sessionOf,
      newAccount,
      deployAgain: async (chosen = {}) => withMarket(await deployWith(chosen)),
      deployTickets: async (changes = {}, exams) => {
        const reader = await openReader({ endpoint: { transport }, chainId, market });
        const { parameters: ofMarket, provisioning, checker } = reader.deployment;
        const beside = { asset: asset.address, provisioning, checker, ...(exams !== undefined && { exams }) };
        const { bytecode } = await artifacts.readArtifact("PledgedClaims");
        const module = ticketsModule(bytecode, exams !== undefined);
        const made = await ignition.deploy(module, { parameters: { Tickets: { ...ofMarket, ...changes, ...beside } } });
        const { tickets, claims, examClaims } = made;
        return { tickets: tickets.address, claims: claims.address, examClaims: examClaims?.address };
      },
      deploy: async (name, args) => (await viem.deployContract(name, [...args])).address,
      advance: async (seconds) => {
        await client.increaseTime({ seconds });
        await client.mine({ blocks: 1 });
      },
      now,
      provider,
      close: () => connection.close(),
    };
  };
  return withMarket(await deployWith(parameters));
}

async function wrap({ sender, deployment }: Session, value: bigint): Promise<void> {
  await new WrappedEther(deployment.asset, { sender }).deposit(value);
}
