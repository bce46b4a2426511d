import { artifacts } from "hardhat";
import { custom, parseEventLogs, toHex, type Address, type Hex, type LocalAccount, type Log } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { pledgedClaimsAbi } from "../../../src/chain/abi/pledgedClaims.ts";
import { ticketsAbi } from "../../../src/chain/abi/tickets.ts";
import type { Job } from "../../../src/chain/structs.ts";
import { openTickets, type TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import type { SoakCall } from "../chain.ts";
import type { Venue } from "../disputes.ts";
import { TOKEN_ABI, type SoakMarket } from "../market.ts";
import { ETHER, SINK } from "../../protocol/deployWorld.ts";

/** Seconds in which a signed claim can be put on chain, and until a deposit is back. */
export const LIFETIME = 900;
export const DEPOSIT_DELAY = 3_600;
/** Each challenger's money for bonds, wei. */
const CREDIT = 10_000n * ETHER;
const GWEI = 10n ** 9n;

/** A signed claim that was put on chain. */
export type Landed = { digest: Hex; claimId: Hex; job: Job };

/** Pledged claims beside a market, with their own vault and game, and tickets; driven by the clients of users. */
export class Pledges {
  readonly venue: Venue;
  /** Everybody who ever had money there. */
  readonly #holders: Address[];
  #logs: Log[] = [];

  readonly market: SoakMarket;
  readonly claims: Address;
  readonly vault: Address;
  readonly game: Address;
  readonly tickets: Address;

  private constructor(market: SoakMarket, claims: Address, vault: Address, game: Address, tickets: Address) {
    this.market = market;
    this.claims = claims;
    this.vault = vault;
    this.game = game;
    this.tickets = tickets;
    const { chain } = market;
    this.venue = {
      onMarket: (functionName, args) => ({ address: claims, abi: pledgedClaimsAbi, functionName, args }),
      onGame: (functionName, args) => ({ ...chain.onGame(functionName, args), address: game }),
    };
    this.#holders = [SINK];
  }

  static async deploy(market: SoakMarket): Promise<Pledges> {
    const { chain } = market;
    const deployer = await chain.viem.getContractAt("ClaimsDeployer", await chain.deploy("ClaimsDeployer", []));
    const claims = await deployer.read.reserved();
    const parameters = { ...chain.parameters, sink: claims };
    const delay = BigInt(parameters.withdrawalDelay);
    const vault = await chain.deploy("StakeVault", [chain.token, chain.provisioning, delay, claims]);
    const game = await chain.deploy("DisputeGame", [claims, chain.checker, parameters]);
    const tickets = await chain.deploy("Tickets", [claims, chain.token, BigInt(LIFETIME), BigInt(DEPOSIT_DELAY)]);
    const { bytecode } = await artifacts.readArtifact("PledgedClaims");
    const authorisers = [{ account: tickets, lifetime: LIFETIME }];
    await deployer.write.deploy([bytecode as Hex, vault, game, authorisers, SINK, parameters]);
    await chain.catchUp();
    const pledges = new Pledges(market, claims, vault, game, tickets);
    for (const address of [...market.watchers, ...market.parasites]) await pledges.fund(address, CREDIT);
    return pledges;
  }

  readonly onVault = (functionName: string, args: readonly unknown[]): SoakCall => ({
    ...this.market.chain.onVault(functionName, args),
    address: this.vault,
  });
  readonly onTickets = (functionName: string, args: readonly unknown[]): SoakCall => ({
    ...{ address: this.tickets, abi: ticketsAbi, functionName, args },
  });
  readonly onToken = (functionName: string, args: readonly unknown[]): SoakCall => ({
    ...{ address: this.market.chain.token, abi: TOKEN_ABI, functionName, args },
  });

  /** Gives an account credit in the vault, wei. */
  async fund(address: Address, credit: bigint): Promise<void> {
    const { chain } = this.market;
    if (!this.#holders.includes(address)) this.#holders.push(address);
    await chain.send(address, this.onToken("mint", [address, credit]), GWEI);
    await chain.send(address, this.onToken("approve", [this.vault, credit]), GWEI);
    await chain.send(address, this.onVault("deposit", [address, credit]), GWEI);
  }

  /** Creates an account with ether and a key known to clients. */
  async newAccount(): Promise<LocalAccount> {
    const { chain, prng } = this.market;
    const account = privateKeyToAccount(toHex(1n + prng.bits(248), { size: 32 }));
    await chain.adopt(account.address);
    return account;
  }

  /** Opens a client's session. This market's time applies to blocks with the client's transactions. */
  open(account: LocalAccount): Promise<TicketSession> {
    const { chain } = this.market;
    const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
      const asked = params as unknown[] | undefined;
      if (method !== "eth_sendRawTransaction")
        return chain.provider.request({ method, ...(asked !== undefined && { params: asked }) });
      const { hash, logs } = await chain.sendRaw(asked![0] as Hex);
      this.#logs.push(...logs);
      return hash;
    };
    const transport = custom({ request }, { retryCount: 0 });
    return openTickets({ endpoint: { transport }, chainId: chain.chainId, tickets: this.tickets, account });
  }

  /** Returns the signed claims that clients put on chain since the previous call. */
  landed(): Landed[] {
    const logs = this.#logs.splice(0);
    const { history } = this.market.chain;
    const submitted = parseEventLogs({ abi: ticketsAbi, logs, eventName: "SignedClaimSubmitted" });
    return submitted.map(({ args: { digest, claimId } }) => ({
      ...{ digest, claimId, job: history.claims.get(claimId)!.claim.job },
    }));
  }

  /**
   * Judges the remaining money after everybody has wound down: the vault owes exactly its holdings, and the tickets
   * hold nothing.
   */
  async close(): Promise<void> {
    const { market } = this;
    const custody = BigInt(await market.chain.read(this.onVault("custody", [])));
    let owed = custody;
    for (const holder of this.#holders) owed += await market.held(holder, this.vault);
    const balance = await market.tokensOf(this.vault);
    if (balance !== owed) market.fault(`the vault of pledged claims holds ${balance} and owes ${owed}`);
    if (custody > 1_000n) market.fault(`${custody} are left in the custody of pledged claims`);
    for (const watcher of market.watchers) {
      const lost = CREDIT - (await market.held(watcher, this.vault));
      if (lost <= 0n) continue;
      market.totals.honestLoss += lost;
      market.fault(`a watcher of pledged claims lost ${lost}`);
    }
    const left = await market.tokensOf(this.tickets);
    if (left !== 0n) market.fault(`${left} are left with the tickets`);
  }
}
