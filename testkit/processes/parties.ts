import { keccak256, numberToHex, parseEther, toHex, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { openSession, type Session } from "../../src/chain/market/session.ts";
import type { Anvil } from "../../src/deploy/devnet/anvil.ts";
import { giveCredit, giveStake } from "../../src/deploy/devnet/parties.ts";
import type { LocalDeployment } from "../../src/deploy/devnet/deployLocally.ts";

/** Ether of each account beside what it wraps: for gas. */
const PURSE = parseEther("100");

/** An account on a node, connected to it without anything between. */
export type Party = { key: Hex; address: Address; session: Session };

/** Makes accounts, always the same from one seed. */
export class Parties {
  readonly #anvil: Anvil;
  readonly #deployment: LocalDeployment;
  readonly #seed: number;

  constructor(anvil: Anvil, deployment: LocalDeployment, seed: number) {
    [this.#anvil, this.#deployment, this.#seed] = [anvil, deployment, seed];
  }

  /** An account with credit in the vault. @param credit Wei. */
  async withCredit(name: string, credit: bigint): Promise<Party> {
    const party = await this.#account(name, credit);
    await giveCredit(party.session, credit);
    return party;
  }

  async #account(name: string, credit: bigint): Promise<Party> {
    const { address } = privateKeyToAccount(this.#keyOf(name));
    await this.#anvil.request("anvil_setBalance", [address, numberToHex(PURSE + credit)]);
    return this.known(name);
  }

  #keyOf(name: string): Hex {
    return keccak256(toHex(`${name} ${this.#seed}`));
  }

  /** An account as it is. */
  async known(name: string): Promise<Party> {
    const { chainId, market } = this.#deployment;
    const key = this.#keyOf(name);
    const account = privateKeyToAccount(key);
    const endpoint = { rpcUrls: [this.#anvil.url] };
    const session = await openSession({ endpoint, chainId, market, account, patience: { pollingMs: 50 } });
    return { key, address: account.address, session };
  }

  /** An attested account with stake for so many claims. */
  async withStake(name: string, claims: number): Promise<Party> {
    const { collateral } = await this.#parameters();
    const { session, ...party } = await this.#account(name, BigInt(claims) * collateral);
    await giveStake(session, this.#deployment.manufacturer, claims);
    return { ...party, session };
  }

  async #parameters(): Promise<Session["deployment"]["parameters"]> {
    this.#known ??= await this.withCredit("reader", 1n);
    return this.#known.session.deployment.parameters;
  }

  #known: Party | undefined;
}
