import { decodeAbiParameters, type Address } from "viem";
import type { Abi } from "viem";
import { RevertedError, SoakChain, type SoakCall } from "./chain.ts";
import type { Prng } from "../random/prng.ts";
import { Agenda } from "./agenda.ts";
import type { Totals } from "./totals.ts";
import { ETHER, SINK } from "../protocol/deployWorld.ts";

const GWEI = 10n ** 9n;

/** Deposit of each account: more than any soak can lose. */
const CREDIT = 100_000n * ETHER;
const STAKE = 50_000n * ETHER;

/** The used functions of the stake asset. */
export const TOKEN_ABI = [
  ...["mint", "approve"].map((name) => ({
    type: "function",
    name,
    inputs: [{ type: "address" }, { type: "uint256" }],
    outputs: [],
    stateMutability: "nonpayable",
  })),
  {
    type: "function",
    name: "balanceOf",
    inputs: [{ type: "address" }],
    outputs: [{ type: "uint256" }],
    stateMutability: "view",
  },
] as unknown as Abi;

/** Returns the error's name from a refusal's text. */
export const errorName = (refusal: string): string => /^(\w+)\(/.exec(refusal)?.[1] ?? refusal;

/** How many accounts play each part, in the order of the chain's accounts. */
export type Cast = Record<(typeof PARTS)[number], number>;
const PARTS = ["requesters", "honestWorkers", "watchers", "liars", "parasites"] as const;
const DISPUTERS: Cast = { requesters: 1, honestWorkers: 2, watchers: 3, liars: 3, parasites: 6 };

/** A chain with the accounts of every party, and the agenda of rounds on the chain. */
export class SoakMarket {
  readonly agenda = new Agenda();
  #baseFee = 10n * GWEI;
  #salt = 0;

  readonly chain: SoakChain;
  readonly prng: Prng;
  readonly totals: Totals;
  readonly name: string;
  readonly cast: Cast;

  private constructor(chain: SoakChain, prng: Prng, totals: Totals, name: string, cast: Cast) {
    this.chain = chain;
    this.prng = prng;
    this.totals = totals;
    this.name = name;
    this.cast = cast;
  }

  static async create(prng: Prng, totals: Totals, name: string, cast = DISPUTERS): Promise<SoakMarket> {
    const market = new SoakMarket(await SoakChain.create(1 + prng.below(6)), prng, totals, name, cast);
    await market.#fund();
    return market;
  }

  get requester(): Address {
    return this.requesters[0]!;
  }
  get requesters(): readonly Address[] {
    return this.#playing("requesters");
  }
  get honestWorkers(): readonly Address[] {
    return this.#playing("honestWorkers");
  }
  get watchers(): readonly Address[] {
    return this.#playing("watchers");
  }
  get liars(): readonly Address[] {
    return this.#playing("liars");
  }
  get parasites(): readonly Address[] {
    return this.#playing("parasites");
  }
  /** Everybody who has money here. */
  get players(): readonly Address[] {
    return PARTS.flatMap((part) => this.#playing(part));
  }

  #playing(part: keyof Cast): readonly Address[] {
    const before = PARTS.slice(0, PARTS.indexOf(part)).reduce((sum, other) => sum + this.cast[other], 0);
    return this.chain.accounts.slice(before, before + this.cast[part]);
  }

  nextSalt(): `0x${string}` {
    return `0x${(++this.#salt).toString(16).padStart(64, "0")}`;
  }

  /**
   * Sends a transaction at a base fee that wanders.
   * @param maxBaseFee The transaction waits until the base fee is no higher.
   * @returns Its cost, events and base fee.
   */
  async send(from: Address, call: SoakCall, maxBaseFee?: bigint) {
    this.#baseFee += (BigInt(this.prng.below(21)) - 10n) * (GWEI / 2n);
    if (this.#baseFee < GWEI) this.#baseFee = GWEI;
    if (this.#baseFee > 45n * GWEI) this.#baseFee = 45n * GWEI;
    if (maxBaseFee !== undefined && this.#baseFee > maxBaseFee) this.#baseFee = maxBaseFee;
    this.totals.transactions++;
    const baseFee = this.#baseFee;
    const sent = await this.chain.send(from, call, baseFee);
    this.totals.gas(this.chain.largestGas.gas, this.chain.largestGas.move);
    return { ...sent, baseFee };
  }

  /** Records an event that must not happen. */
  fault(what: string): void {
    this.totals.wrong.push(`${this.name}: ${what}`);
  }

  /** Whether an honest party's transaction succeeded; if not, that is a fault. */
  async must(who: string, from: Address, call: SoakCall, maxBaseFee?: bigint) {
    try {
      return await this.send(from, call, maxBaseFee);
    } catch (error) {
      if (!(error instanceof RevertedError)) throw error;
      this.fault(`${who}: ${error.message}`);
      return undefined;
    }
  }

  async #fund(): Promise<void> {
    const { token, vault } = this.chain;
    for (const account of this.players) {
      const of = (functionName: string, args: readonly unknown[]) => ({
        address: token,
        abi: TOKEN_ABI,
        functionName,
        args,
      });
      await this.chain.send(account, of("mint", [account, CREDIT]), GWEI);
      await this.chain.send(account, of("approve", [vault, CREDIT]), GWEI);
      await this.chain.send(account, this.chain.onVault("deposit", [account, CREDIT]), GWEI);
    }
    for (const worker of [...this.honestWorkers, ...this.liars]) {
      await this.chain.send(worker, this.chain.onVault("stake", [STAKE]), GWEI);
    }
  }

  /**
   * Checks that the vault owes exactly its holdings. Jobs and games may leave only dust from divisions. Closes the
   * chain.
   */
  async close(): Promise<void> {
    const { chain } = this;
    const custody = BigInt(await chain.read(chain.onVault("custody", [])));
    const balance = await this.tokensOf(chain.vault);
    let owed = custody;
    for (const account of [...this.players, SINK]) {
      const holding = await this.held(account);
      owed += holding;
      if (this.liars.includes(account) || this.parasites.includes(account)) this.totals.leagueLoss += CREDIT - holding;
      if (account === SINK) this.totals.sunk += holding;
    }
    if (balance !== owed) this.fault(`the vault holds ${balance} and owes ${owed}`);
    if (custody > 1_000n) this.fault(`${custody} are left in custody`);
    await chain.close();
  }

  /** Returns an account's gain in the vault since the start, wei; a loss is negative. */
  async gained(account: Address): Promise<bigint> {
    return (await this.held(account)) - CREDIT;
  }

  /** Returns an account's tokens outside any vault, wei. */
  async tokensOf(account: Address): Promise<bigint> {
    const { chain } = this;
    const call = { address: chain.token, abi: TOKEN_ABI, functionName: "balanceOf", args: [account] };
    return BigInt(await chain.read(call));
  }

  /** Returns an account's money in a vault, wei. */
  async held(account: Address, vault = this.chain.vault): Promise<bigint> {
    const data = await this.chain.read({ ...this.chain.onVault("accountOf", [account]), address: vault });
    const types = Array.from({ length: 5 }, () => ({ type: "uint256" }) as const);
    const [credit, staked, locked, withdrawing] = decodeAbiParameters(types, data) as readonly bigint[];
    if (locked !== 0n) this.fault(`${locked} of ${account} is locked for ever`);
    return credit! + staked! + withdrawing!;
  }
}
