import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { numberToHex, type Address } from "viem";
import { Anvil } from "../../../../src/deploy/devnet/anvil.ts";
import { deployLocally, type LocalDeployment } from "../../../../src/deploy/devnet/deployLocally.ts";
import { Parties, type Party } from "../../../../testkit/processes/parties.ts";

/** A part of a campaign: the totals for some jobs, done consecutively on the same chain. */
export type Slice = {
  /** Jobs on the chain after it. */
  jobs: number;
  seconds: number;
  /** Processor seconds; all parties run in the same process. The node is another process. */
  processorSeconds: number;
  gas: number;
  transactions: number;
  /** Transactions that came too late: another worker had the job. */
  reverted: number;
  memoryMib: number;
};

type Kept = { market: Address; chainId: number; slices: Slice[] };

const SEED = 1;
/** An account's wei in a continuing campaign. */
const PURSE = 10n ** 23n;

/** A chain with the state on disk after each slice: a stopped campaign continues from the last slice. */
export class BenchDevnet {
  readonly slices: Slice[] = [];

  readonly anvil: Anvil;
  readonly deployment: LocalDeployment;
  readonly isNew: boolean;
  readonly folder: string;

  private constructor(anvil: Anvil, deployment: LocalDeployment, isNew: boolean, folder: string) {
    this.anvil = anvil;
    this.deployment = deployment;
    this.isNew = isNew;
    this.folder = folder;
  }

  /** Starts a new chain, or the chain kept in the folder. */
  static async open(folder: string): Promise<BenchDevnet> {
    const file = join(folder, "slices.json");
    const isKept = existsSync(file);
    if (!isKept) BenchDevnet.forget(folder);
    mkdirSync(folder, { recursive: true });
    const anvil = await Anvil.start({ folder });
    if (!isKept) return new BenchDevnet(anvil, await deployLocally(anvil.url, {}), true, folder);
    const { market, chainId, slices } = JSON.parse(readFileSync(file, "utf8")) as Kept;
    const deployment = { market, chainId } as LocalDeployment;
    const devnet = new BenchDevnet(anvil, deployment, false, folder);
    devnet.slices.push(...slices);
    return devnet;
  }

  /** An account with stake for so many claims, or one with credit, wei; always the same of a name. */
  async party(name: string, has: { claims: number } | { credit: bigint }): Promise<Party> {
    const parties = new Parties(this.anvil, this.deployment, SEED);
    if (this.isNew) return "claims" in has ? parties.withStake(name, has.claims) : parties.withCredit(name, has.credit);
    const party = await parties.known(name);
    await this.anvil.request("anvil_setBalance", [party.address, numberToHex(PURSE)]);
    return party;
  }

  /** Keeps a slice and the chain after it. */
  async keep(slice: Slice): Promise<void> {
    this.slices.push(slice);
    await this.anvil.restart();
    const { market, chainId } = this.deployment;
    const file = join(this.folder, "slices.json");
    writeFileSync(`${file}.new`, JSON.stringify({ market, chainId, slices: this.slices } satisfies Kept));
    renameSync(`${file}.new`, file);
  }

  async close(): Promise<void> {
    await this.anvil.close();
  }

  /** Forgets what is kept. */
  static forget(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
  }
}
