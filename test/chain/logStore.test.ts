import { expect } from "chai";
import {
  BlockNotFoundError,
  LimitExceededRpcError,
  ResponseBodyTooLargeError,
  RpcRequestError,
  TimeoutError,
  keccak256,
  parseAbi,
  toHex,
  type Hex,
} from "viem";
import type { LogSource } from "../../src/chain/logReader.ts";
import { LogStore } from "../../src/chain/logStore.ts";

const abi = parseAbi(["event Ping(uint256 value)"]);

/** A chain of blocks, each with the pings that it logs; a block's hash covers its history. */
class FakeChain {
  blocks: { hash: Hex; pings: bigint[] }[] = [{ hash: keccak256("0x"), pings: [] }];
  requests = 0;

  mine(...pings: bigint[]): void {
    const parent = this.blocks.at(-1)!.hash;
    this.blocks.push({ hash: keccak256(`${parent}${toHex(pings.join()).slice(2)}`), pings });
  }

  drop(count: number): void {
    this.blocks.splice(-count);
  }

  source(): LogSource {
    const block = (number: bigint) => {
      const found = this.blocks[Number(number)];
      if (found === undefined) throw new BlockNotFoundError({ blockNumber: number });
      return { number, hash: found.hash, timestamp: number * 12n };
    };
    return {
      getBlock: ({ blockNumber }: { blockNumber?: bigint }) =>
        Promise.resolve().then(() => block(blockNumber ?? BigInt(this.blocks.length - 1))),
      getLogs: ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
        this.requests++;
        const logs = this.blocks.flatMap(({ pings, hash: blockHash }, k) =>
          pings.map((value, logIndex) => ({
            blockNumber: BigInt(k),
            blockHash,
            logIndex,
            eventName: "Ping",
            args: { value },
          })),
        );
        return Promise.resolve(logs.filter((log) => log.blockNumber >= fromBlock && log.blockNumber <= toBlock));
      },
    } as unknown as LogSource;
  }
}

const values = (store: LogStore<typeof abi>): unknown[] => store.events.map((event) => event.args.value);

/** A store that has read three blocks, of which the chain has then dropped two and mined another one. */
async function withTwoBlocksReplacedByOne() {
  const chain = new FakeChain();
  const store = new LogStore(chain.source(), [], abi, 0n);
  for (const value of [1n, 2n, 3n]) {
    chain.mine(value);
    await store.sync();
  }
  chain.drop(2);
  chain.mine(20n);
  return { chain, store };
}

describe("LogStore", function () {
  it("sync_twice_takesEachEventOnce", async function () {
    const chain = new FakeChain();
    chain.mine(1n);
    const store = new LogStore(chain.source(), [], abi, 0n);
    await store.sync();
    chain.mine(2n);
    const { head, rewoundTo } = await store.sync();
    await store.sync();
    expect(values(store)).to.deep.equal([1n, 2n]);
    expect(head.number).to.equal(2n);
    expect(rewoundTo).to.equal(undefined);
  });

  it("sync_afterReorg_dropsTheOldBranchAndReadsTheNewOne", async function () {
    const { chain, store } = await withTwoBlocksReplacedByOne();
    chain.mine();
    chain.mine(40n);
    const { rewoundTo } = await store.sync();
    expect(rewoundTo).to.equal(1n);
    expect(values(store)).to.deep.equal([1n, 20n, 40n]);
  });

  it("sync_afterReorgToAShorterBranch_forgetsTheMissingBlocks", async function () {
    const { store } = await withTwoBlocksReplacedByOne();
    await store.sync();
    expect(values(store)).to.deep.equal([1n, 20n]);
  });

  it("sync_nodeThatLags_forgetsNothing_andTellsTheHeadThatWasThere", async function () {
    const chain = new FakeChain();
    const store = new LogStore(chain.source(), [], abi, 0n);
    chain.mine(1n);
    chain.mine(2n);
    await store.sync();
    const blocks = [...chain.blocks];
    chain.drop(1);
    const { head, rewoundTo } = await store.sync();
    expect([head.number, rewoundTo]).to.deep.equal([2n, undefined]);
    expect(values(store)).to.deep.equal([1n, 2n]);
    chain.blocks = blocks;
    chain.mine(3n);
    await store.sync();
    expect(values(store)).to.deep.equal([1n, 2n, 3n]);
  });

  it("sync_logsThatALaggingNodeKeptBack_areTakenLater_inTheirOrder", async function () {
    const chain = new FakeChain();
    const source = chain.source();
    let behind = 0n;
    const getLogs = (range: { fromBlock: bigint; toBlock: bigint }) =>
      source.getLogs({ ...range, toBlock: range.toBlock - behind });
    const store = new LogStore({ ...source, getLogs: getLogs as never }, [], abi, 0n);
    chain.mine(1n);
    await store.sync();
    behind = 2n;
    for (const value of [2n, 3n, 4n]) {
      chain.mine(value);
      await store.sync();
    }
    expect(values(store)).to.deep.equal([1n, 2n]);
    behind = 0n;
    const { rewoundTo } = await store.sync();
    expect(values(store)).to.deep.equal([1n, 2n, 3n, 4n]);
    // Followers begin again below the first of them.
    expect(rewoundTo).to.equal(2n);
  });

  it("sync_reorgBetweenAnyTwoRequests_leavesNothingOfTheOldBranch", async function () {
    for (let at = 0; at < 12; at++) {
      for (const depth of [1, 2, 3]) {
        const chain = new FakeChain();
        const source = chain.source();
        let left = Infinity;
        const before = <T>(request: () => Promise<T>): Promise<T> => {
          if (left-- === 0) {
            chain.drop(depth);
            for (let k = 0; k <= depth; k++) chain.mine(BigInt(100 + k));
          }
          return request();
        };
        const shaky = {
          getBlock: (args: never) => before(() => source.getBlock(args)),
          getLogs: (args: never) => before(() => source.getLogs(args)),
        } as unknown as LogSource;
        const store = new LogStore(shaky, [], abi, 0n);
        for (const value of [1n, 2n, 3n]) {
          chain.mine(value);
          await store.sync();
        }
        chain.mine(4n);
        left = at;
        for (let k = 0; k < 4; k++) await store.sync();
        const expected = chain.blocks.flatMap(({ pings }) => pings);
        expect(values(store), `request ${at}, ${depth} blocks`).to.deep.equal(expected);
      }
    }
  });

  it("sync_nodeFailsAfterTheForkWasSeen_nextSyncStillTellsIt", async function () {
    for (const failing of ["getBlock", "getLogs"] as const) {
      for (let after = 0; after < 3; after++) {
        const chain = new FakeChain();
        const source = chain.source();
        let left = Infinity;
        const flaky = (...args: unknown[]): Promise<unknown> => {
          if (left-- === 0) return Promise.reject(new Error("the node is down"));
          return (source[failing] as (...given: unknown[]) => Promise<unknown>)(...args);
        };
        const store = new LogStore({ ...source, [failing]: flaky }, [], abi, 0n);
        for (const value of [1n, 2n, 3n]) {
          chain.mine(value);
          await store.sync();
        }
        chain.drop(2);
        chain.mine(20n);
        chain.mine(30n);
        left = after;
        await store.sync().catch(() => undefined);
        left = Infinity;
        const { rewoundTo } = await store.sync();
        // Told once: by the second sync unless the first came through.
        if (failing === "getBlock" || after === 0) expect(rewoundTo, `${failing} ${after}`).to.equal(1n);
        expect(values(store), `${failing} ${after}`).to.deep.equal([1n, 20n, 30n]);
      }
    }
  });

  it("sync_nodeThatLimitsItsAnswers_asksForLess", async function () {
    const chain = new FakeChain();
    for (let k = 1n; k <= 300n; k++) chain.mine(k);
    const source = chain.source();
    const limited = async (range: { fromBlock: bigint; toBlock: bigint }) => {
      if (range.toBlock - range.fromBlock >= 64n) {
        const cause = { code: -32005, message: "query returned more than 64 results" };
        throw new LimitExceededRpcError(new RpcRequestError({ body: {}, error: cause, url: "" }));
      }
      return source.getLogs(range);
    };
    const store = new LogStore({ ...source, getLogs: limited as never }, [], abi, 0n);
    await store.sync();
    expect(values(store).length).to.equal(300);
  });

  it("sync_longHistory_asksInSpans", async function () {
    const chain = new FakeChain();
    for (let k = 1; k <= 4_500; k++) chain.mine(...(k % 1_500 === 0 ? [BigInt(k)] : []));
    const store = new LogStore(chain.source(), [], abi, 0n);
    await store.sync();
    expect(values(store)).to.deep.equal([1_500n, 3_000n, 4_500n]);
    // The last span twice.
    expect(chain.requests).to.equal(4);
  });

  it("shortenedEvents_areReadAgainWhenTheyAreAskedFor_andReportedAsARewind", async function () {
    const chain = new FakeChain();
    for (let k = 1n; k <= 200n; k++) chain.mine(k);
    const store = new LogStore(chain.source(), [], abi, 0n);
    await store.sync();
    const whole = values(store);
    store.drop(store.keptFrom, (event) => ({ ...event, args: { value: 0n } }));
    const shortened = store.events.filter(({ args }) => args.value === 0n);
    expect(shortened).to.have.length(135);
    expect(await store.readAgain(shortened.slice(0, 100))).to.equal(100);
    expect((await store.sync()).rewoundTo).to.equal(shortened[0]!.blockNumber - 1n);
    expect(values(store).slice(0, 101)).to.deep.equal([...whole.slice(0, 100), 0n]);
    expect(await store.readAgain(shortened)).to.equal(135);
    expect(values(store)).to.deep.equal(whole);
  });

  it("droppedEvents_doNotComeBack_butADeepReorganisationHasEverythingReadAgain", async function () {
    const chain = new FakeChain();
    for (let k = 1n; k <= 200n; k++) chain.mine(k);
    const store = new LogStore(chain.source(), [], abi, 0n);
    await store.sync();
    store.drop(store.keptFrom, (event) => (event.args.value % 2n === 0n ? undefined : event));
    const odd = values(store);
    chain.mine(201n);
    expect((await store.sync()).rewoundTo).to.equal(undefined);
    expect(values(store)).to.deep.equal([...odd, 201n]);
    expect(odd).to.include(136n).and.not.to.include(134n);
    chain.drop(10);
    for (let k = 0n; k < 11n; k++) chain.mine(1_000n + k);
    expect((await store.sync()).rewoundTo).to.equal(-1n);
    expect(values(store)).to.have.length(202);
  });

  it("answersThatAreTooLargeOrTooSlow_areAskedForInParts", async function () {
    for (const failure of [
      new ResponseBodyTooLargeError({ maxSize: 1, size: 2 }),
      new TimeoutError({ body: {}, url: "http://node" }),
    ]) {
      const chain = new FakeChain();
      for (let k = 1n; k <= 40n; k++) chain.mine(k);
      const source = chain.source();
      const getLogs = (range: { fromBlock: bigint; toBlock: bigint }) =>
        range.toBlock - range.fromBlock > 6n ? Promise.reject(failure) : source.getLogs(range);
      const store = new LogStore({ ...source, getLogs: getLogs as never }, [], abi, 0n);
      await store.sync();
      expect(values(store)).to.have.length(40);
    }
  });
});
