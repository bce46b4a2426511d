import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import { BlockNotFoundError, keccak256, parseAbi, toHex, type Hex } from "viem";
import { deserialize, serialize } from "node:v8";
import type { LogSource } from "../../src/chain/logReader.ts";
import { LogStore, type StoreState } from "../../src/chain/logStore.ts";
import { rpcError } from "../../testkit/nodes/logNode.ts";

const abi = parseAbi(["event Ping(uint256 value)"]);
type Block = { hash: Hex; pings: bigint[] };
type Store = LogStore<typeof abi>;

/** How far below the newest head a node's head may be. */
const MAX_LAG = 20;
/** The deepest reorganisation. */
const MAX_DEPTH = 15;

/** A node behind a load balancer: its chain is the canonical one, or was it lately. */
type LaggingNode = { blocks: readonly Block[]; limit: number; maxLogs: number; words: string };

/** A chain, and nodes that take turns at random. */
class RandomChain {
  blocks: readonly Block[] = [{ hash: keccak256("0x"), pings: [] }];
  readonly nodes: LaggingNode[];
  readonly #random: () => number;
  #value = 0n;

  constructor(nodes: Omit<LaggingNode, "blocks">[], random: () => number) {
    this.nodes = nodes.map((node) => ({ ...node, blocks: this.blocks }));
    this.#random = random;
  }

  mine(count: number, density: number): void {
    const blocks = [...this.blocks];
    for (let k = 0; k < count; k++) {
      const pings = Array.from({ length: this.#random() < density ? 1 + this.#below(3) : 0 }, () => this.#value++);
      const content = `${blocks.at(-1)!.hash}${toHex(`${pings.join()} ${this.#random()}`).slice(2)}`;
      blocks.push({ hash: keccak256(content as Hex), pings });
    }
    this.blocks = blocks;
    for (const node of this.nodes) if (node.blocks.length < blocks.length - MAX_LAG) node.blocks = blocks;
  }

  reorganise(depth: number, density: number): void {
    const length = Math.max(1, this.blocks.length - depth);
    const missing = this.blocks.length - length;
    this.blocks = this.blocks.slice(0, length);
    this.mine(missing + this.#below(3), density);
  }

  catchUp(chosen = this.nodes): void {
    for (const node of chosen) node.blocks = this.blocks;
  }

  get source(): LogSource {
    const getBlock = ({ blockNumber }: { blockNumber?: bigint }) => {
      const { blocks } = this.#next();
      const number = blockNumber ?? BigInt(blocks.length - 1);
      const block = blocks[Number(number)];
      if (block === undefined) throw new BlockNotFoundError({ blockNumber: number });
      return { number, hash: block.hash, parentHash: blocks[Number(number) - 1]?.hash, timestamp: number * 12n };
    };
    const getLogs = ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) => {
      const { blocks, limit, maxLogs, words } = this.#next();
      if (toBlock - fromBlock + 1n > limit) throw rpcError(words);
      const logs = blocks.slice(Number(fromBlock), Number(toBlock) + 1).flatMap(({ pings, hash: blockHash }, k) =>
        pings.map((value, logIndex) => {
          return { blockNumber: fromBlock + BigInt(k), blockHash, logIndex, eventName: "Ping", args: { value } };
        }),
      );
      if (toBlock > fromBlock && logs.length > maxLogs) throw rpcError(`query returned more than ${maxLogs} results`);
      return logs;
    };
    const later = (answer: (request: never) => unknown) => (request: never) =>
      Promise.resolve().then(() => answer(request));
    return { getBlock: later(getBlock), getLogs: later(getLogs) } as unknown as LogSource;
  }

  #next(): LaggingNode {
    return this.nodes[this.#below(this.nodes.length)]!;
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }
}

/** A small generator, so that a failing example can be replayed. */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("mine" as const), count: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mine" as const), count: fc.nat(400) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("reorganise" as const), depth: fc.integer({ min: 1, max: MAX_DEPTH }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("catchUp" as const), node: fc.nat(3) }) },
  { weight: 8, arbitrary: fc.constant({ kind: "sync" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "drop" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "save" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "restart" as const }) },
);
const node = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Infinity)),
  maxLogs: fc.oneof(fc.integer({ min: 3, max: 50 }), fc.constant(Infinity)),
  words: fc.constantFrom("no", "maximum block range: 20", "limited to a 64 block range"),
});

/** Less than the time of some syncs, and the time of five blocks: some syncs of a run read the overlap, some do not. */
const OVERLAP_REST = { ms: 4, seconds: 60n };

/** Every third event may be dropped once it is old. */
const isDroppable = (value: bigint): boolean => value % 3n === 0n;
const valuesOf = (store: Store): bigint[] => store.events.map(({ args }) => args.value);

describe("events of random chains", function () {
  it("lagsReorganisationsRestartsAndLimits_leaveTheCanonicalEvents", async function () {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.array(node, { minLength: 1, maxLength: 4 }),
      fc.integer(),
      fc.constantFrom(0.05, 0.4, 1),
      fc.constantFrom(undefined, OVERLAP_REST),
      async (steps, nodes, seed, density, rest) => {
        const chain = new RandomChain(nodes, generator(seed));
        let saved: Buffer | undefined;
        const begin = (): Store => {
          const begun = new LogStore(chain.source, [], abi, 0n, rest);
          if (saved !== undefined) begun.restore(deserialize(saved) as StoreState<typeof abi>);
          return begun;
        };
        let store = begin();
        for (const act of steps) {
          if (act.kind === "mine") chain.mine(act.count, density);
          if (act.kind === "reorganise") chain.reorganise(act.depth, density);
          if (act.kind === "catchUp") chain.catchUp([chain.nodes[act.node % chain.nodes.length]!]);
          // A sync may fail while nodes disagree.
          if (act.kind === "sync") await store.sync().catch(() => undefined);
          if (act.kind === "drop")
            store.drop(store.keptFrom, (event) => (isDroppable(event.args.value) ? undefined : event));
          if (act.kind === "save") saved = serialize(store.state);
          if (act.kind === "restart") store = begin();
        }
        chain.catchUp();
        await store.sync();
        chain.mine(1, 1);
        chain.catchUp();
        await setTimeout((rest?.ms ?? 0) + 1);
        await store.sync();
        const canonical = chain.blocks.flatMap(({ pings }) => pings);
        const known = valuesOf(store);
        expect(known.filter((value) => !isDroppable(value))).to.deep.equal(
          canonical.filter((value) => !isDroppable(value)),
        );
        const kept = new Set(known);
        expect(known).to.deep.equal(canonical.filter((value) => kept.has(value)));
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  it("anyStateOfAnotherTime_isCorrectedByOneSync_ifAllNodesAgree", async function () {
    const property = fc.asyncProperty(
      fc.nat(300),
      fc.nat(300),
      fc.nat(300),
      fc.integer(),
      async (before, common, after, seed) => {
        const chain = new RandomChain([{ limit: 50, maxLogs: Infinity, words: "no" }], generator(seed));
        chain.mine(common, 0.3);
        chain.catchUp();
        const first = new LogStore(chain.source, [], abi, 0n);
        await first.sync();
        chain.mine(before, 0.3);
        chain.catchUp();
        await first.sync();
        // Another chain begins at a block that both have, and may be shorter.
        chain.blocks = chain.blocks.slice(0, 1 + Math.floor(common / 2));
        chain.mine(after, 0.3);
        chain.catchUp();
        const store = new LogStore(chain.source, [], abi, 0n);
        store.restore(deserialize(serialize(first.state)) as StoreState<typeof abi>);
        await store.sync();
        expect(valuesOf(store)).to.deep.equal(chain.blocks.flatMap(({ pings }) => pings));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });
});
