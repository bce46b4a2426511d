import { decodeAbiParameters, type Address } from "viem";
import type { Abi } from "viem";
import { RevertedError, SoakChain, type SoakCall } from "./chain.ts";
import type { Prng } from "../random/prng.ts";
import { ETHER, SINK } from "../protocol/world.ts";
import { Agenda } from "./agenda.ts";
import type { Totals } from "./totals.ts";

const GWEI = 10n ** 9n;
/** Deposit of each account: more than any soak can lose. */
const CREDIT = 100_000n * ETHER;
const STAKE = 50_000n * ETHER;

const TOKEN_ABI = [
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

/** One chain with the accounts of every party, and the agenda of the rounds that are played on it. */
export class SoakMarket {
  readonly agenda = new Agenda();
  #baseFee = 10n * GWEI;
  #salt = 0;

  private constructor(
    readonly chain: SoakChain,
    readonly prng: Prng,
    readonly totals: Totals,
    readonly name: string,
  ) {}

  static async create(prng: Prng, totals: Totals, name: string): Promise<SoakMarket> {
    const market = new SoakMarket(await SoakChain.create(1 + prng.below(6)), prng, totals, name);
    await market.#fund();
    return market;
  }

  get requester(): Address {
    return this.chain.accounts[0]!;
  }
  get honestWorkers(): readonly Address[] {
    return this.chain.accounts.slice(1, 3);
  }
  get watchers(): readonly Address[] {
    return this.chain.accounts.slice(3, 6);
  }
  get liars(): readonly Address[] {
    return this.chain.accounts.slice(6, 9);
  }
  get parasites(): readonly Address[] {
    return this.chain.accounts.slice(9, 15);
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
    const { token, vault, accounts } = this.chain;
    for (const account of accounts.slice(0, 15)) {
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
   * Checks that the vault owes exactly what it holds, and that only dust of divisions is left of jobs and games.
   * Closes the chain.
   */
  async close(): Promise<void> {
    const { chain } = this;
    const word = async (call: SoakCall) => BigInt(await chain.read(call));
    const custody = await word(chain.onVault("custody", []));
    const balance = await word({
      address: chain.token,
      abi: TOKEN_ABI,
      functionName: "balanceOf",
      args: [chain.vault],
    });
    let owed = custody;
    for (const account of [...chain.accounts.slice(0, 15), SINK]) {
      const holding = await this.#holding(account);
      owed += holding;
      if (this.liars.includes(account) || this.parasites.includes(account)) this.totals.leagueLoss += CREDIT - holding;
      if (account === SINK) this.totals.sunk += holding;
    }
    if (balance !== owed) this.fault(`the vault holds ${balance} and owes ${owed}`);
    if (custody > 1_000n) this.fault(`${custody} are left in custody`);
    await chain.close();
  }

  async #holding(account: Address): Promise<bigint> {
    const data = await this.chain.read(this.chain.onVault("accountOf", [account]));
    const types = Array.from({ length: 5 }, () => ({ type: "uint256" }) as const);
    const [credit, staked, locked, withdrawing] = decodeAbiParameters(types, data) as readonly bigint[];
    if (locked !== 0n) this.fault(`${locked} of ${account} is locked for ever`);
    return credit! + staked! + withdrawing!;
  }
}
