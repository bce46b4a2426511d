import { decodeErrorResult, decodeFunctionData, numberToHex, type Hex } from "viem";
import { errorsAbi } from "../../src/chain/abi/errors.ts";
import { wrappedEtherAbi } from "../../src/chain/abi/wrappedEther.ts";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import { protocolAbi } from "../../src/chain/market/history.ts";
import type { LocalChain } from "../../src/deploy/demo/localChain.ts";
import { readSigned } from "../nodes/poolTransaction.ts";

/** A transaction that got into a block. */
export type Included = { raw: Hex; hash: Hex; from: Hex; functionName: string };

type Block = { snapshot: unknown; included?: Included };

/** The maximum depth of a reorganisation for which a scenario has enough blocks from the first transaction on. */
const DEEPEST = 20;

const knownAbi = [...protocolAbi, ...stakeVaultAbi, ...wrappedEtherAbi];

/**
 * An embedded chain that can take back each block. The class makes all blocks, with one transaction each. Therefore a
 * test can stop a scenario after the n-th transaction and play the scenario again from the start.
 */
export class ForkingChain {
  readonly chain: LocalChain;
  /**
   * Called when a block includes a transaction, before the sender knows. The chain includes nothing else during the
   * call.
   */
  onIncluded: (included: Included) => Promise<void> = () => Promise.resolve();
  /** Transactions that a reorganisation put into other blocks. */
  readonly reincluded = new Set<Hex>();
  /** The first block of the scenario. */
  firstBlock = 0;
  #beginning: unknown;
  #blocks: Block[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(chain: LocalChain) {
    this.chain = chain;
  }

  /** Goes back to the state of its first call, and makes enough empty blocks for the deepest reorganisation. */
  async begin(): Promise<void> {
    if (this.#beginning !== undefined) await this.#request("evm_revert", [this.#beginning]);
    this.#beginning = await this.#request("evm_snapshot");
    this.#blocks = [];
    this.reincluded.clear();
    this.firstBlock = await this.height();
    for (let k = 0; k < DEEPEST; k++) await this.#block(() => this.#mine(1));
  }

  /** Includes a signed transaction in a separate block. @returns The transaction's hash, even after a revert. */
  include(raw: Hex): Promise<Hex> {
    return this.alone(async () => {
      const included = await this.#include(raw);
      await this.onIncluded(included);
      return included.hash;
    });
  }

  /** Makes an empty block. */
  tick(): Promise<void> {
    return this.alone(() => this.#block(() => this.#mine(1)));
  }

  /**
   * Lets time pass and makes a block, if block `seen` is still the latest: otherwise another party may have the turn.
   * @returns Whether it did.
   */
  advance(seconds: number, seen: bigint): Promise<boolean> {
    return this.alone(async () => {
      if (BigInt(await this.height()) !== seen) return false;
      await this.#block(() => this.chain.advance(seconds));
      return true;
    });
  }

  /**
   * Takes back the last `depth` blocks and makes `depth` + 1 new blocks in their place. Call only while nothing gets
   * included: in `onIncluded` or `alone`.
   * @param kept Selects and orders the removed transactions that the chain includes again.
   */
  async reorganise(depth: number, kept: (removed: Included[]) => Included[]): Promise<void> {
    const height = await this.height();
    const removed = this.#blocks.splice(this.#blocks.length - depth, depth);
    if (removed.length < depth) throw new Error(`only ${removed.length} of ${depth} blocks can be taken back`);
    await this.#request("evm_revert", [removed[0]!.snapshot]);
    for (const { raw, hash } of kept(removed.flatMap(({ included }) => (included === undefined ? [] : [included])))) {
      this.reincluded.add(hash);
      await this.#include(raw).catch(() => undefined);
    }
    while ((await this.height()) <= height) await this.#block(() => this.#mine(1));
  }

  async height(): Promise<number> {
    return Number(await this.#request("eth_blockNumber"));
  }

  /** Why a transaction that the chain holds reverted: the name of the contract's error. */
  async reasonOf(hash: Hex): Promise<string> {
    const brief = { disableStorage: true, disableMemory: true, disableStack: true };
    const { returnValue } = (await this.#request("debug_traceTransaction", [hash, brief])) as { returnValue: string };
    const data: Hex = `0x${returnValue.replace(/^0x/, "")}`;
    return data === "0x" ? "no reason" : decodeErrorResult({ abi: errorsAbi, data }).errorName;
  }

  /** Returns all scenario transactions that the chain holds, oldest first. */
  async canonical(): Promise<{ hash: Hex; from: Hex; input: Hex; reverted: boolean }[]> {
    const found: { hash: Hex; from: Hex; input: Hex; reverted: boolean }[] = [];
    const height = await this.height();
    for (let number = this.firstBlock + 1; number <= height; number++) {
      const block = (await this.#request("eth_getBlockByNumber", [numberToHex(number), true])) as {
        transactions: { hash: Hex; from: Hex; input: Hex }[];
      };
      for (const { hash, from, input } of block.transactions) {
        const { status } = (await this.#request("eth_getTransactionReceipt", [hash])) as { status: Hex };
        found.push({ hash, from, input, reverted: status === "0x0" });
      }
    }
    return found;
  }

  async #include(raw: Hex): Promise<Included> {
    const { hash, from, data, nonce } = await readSigned(raw);
    // A sender fills a nonce that nothing else has with an empty transaction.
    const functionName = data === "0x" ? "nothing" : decodeFunctionData({ abi: knownAbi, data }).functionName;
    // The embedded chain's pool would keep a transaction with a later nonce, and mine the transaction in a block
    // outside the list of blocks.
    const next = Number(await this.#request("eth_getTransactionCount", [from, "latest"]));
    if (nonce > next) throw new Error(`nonce ${nonce} is behind a gap: the next one is ${next}`);
    const included = { raw, hash, from, functionName };
    await this.#block(async () => {
      await this.#request("eth_sendRawTransaction", [raw]).catch(async (error: unknown) => {
        // The embedded chain answers with an error where a node includes a transaction that reverts.
        if ((await this.#request("eth_getTransactionByHash", [hash])) === null) throw error;
      });
    }, included);
    return included;
  }

  /** Makes a block that can be taken back. */
  async #block(make: () => Promise<unknown>, included?: Included): Promise<void> {
    const snapshot = await this.#request("evm_snapshot");
    await make();
    this.#blocks.push({ snapshot, ...(included === undefined ? {} : { included }) });
  }

  #mine(blocks: number): Promise<unknown> {
    return this.#request("hardhat_mine", [numberToHex(blocks)]);
  }

  #request(method: string, params: unknown[] = []): Promise<unknown> {
    return this.chain.provider.request({ method, params });
  }

  /** Does something while nothing is included. */
  alone<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#last.then(action);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
