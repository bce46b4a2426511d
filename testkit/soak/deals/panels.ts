import { artifacts } from "hardhat";
import { decodeAbiParameters, type Abi, type Address } from "viem";
import type { SoakCall } from "../chain.ts";
import { TOKEN_ABI, type SoakMarket } from "../market.ts";
import { ETHER } from "../../protocol/deployWorld.ts";

/** Each poster's money for panels, wei. */
const PURSE = 100_000n * ETHER;

/** The contract of panels, and what it owes. */
export class Panels {
  /** The amounts that posters can withdraw, wei. */
  readonly owed = new Map<Address, bigint>();

  readonly address: Address;
  readonly abi: Abi;

  private constructor(address: Address, abi: Abi) {
    this.address = address;
    this.abi = abi;
  }

  /** @param posters Who gets tokens for panels. */
  static async deploy({ chain }: SoakMarket, posters: readonly Address[]): Promise<Panels> {
    const { abi } = await artifacts.readArtifact("Panel");
    const panels = new Panels(await chain.deploy("Panel", [chain.market]), abi);
    for (const poster of posters) {
      const of = (functionName: string, args: readonly unknown[]): SoakCall => ({
        ...{ address: chain.token, abi: TOKEN_ABI, functionName, args },
      });
      await chain.send(poster, of("mint", [poster, PURSE]), 10n ** 9n);
      await chain.send(poster, of("approve", [panels.address, PURSE]), 10n ** 9n);
    }
    return panels;
  }

  readonly call = (functionName: string, args: readonly unknown[]): SoakCall => ({
    ...{ address: this.address, abi: this.abi, functionName, args },
  });

  /** Withdraws a poster's money. The contract must owe exactly the amount recorded here. */
  async withdraw(market: SoakMarket, poster: Address): Promise<void> {
    const { chain } = market;
    const data = await chain.read(this.call("owed", [poster]));
    const [owed] = decodeAbiParameters([{ type: "uint256" }], data);
    const expected = this.owed.get(poster) ?? 0n;
    if (owed !== expected) market.fault(`a poster is owed ${owed}, not ${expected}`);
    if (owed > 0n) await market.must("poster", poster, this.call("withdraw", []));
    this.owed.set(poster, 0n);
  }

  /** Everybody withdraws, and nothing is left. @param spent What each poster paid for results, wei. */
  async close(market: SoakMarket, posters: readonly Address[], spent: ReadonlyMap<Address, bigint>): Promise<void> {
    for (const poster of posters) {
      await this.withdraw(market, poster);
      const due = PURSE - (spent.get(poster) ?? 0n);
      const has = await market.tokensOf(poster);
      if (has < due) market.totals.honestLoss += due - has;
      if (has !== due) market.fault(`a poster of panels has ${has}, not ${due}`);
    }
    const left = (await market.tokensOf(this.address)) + (await market.held(this.address));
    if (left !== 0n) market.fault(`${left} are left with the panels`);
  }
}
