import { expect } from "chai";
import { encodeFunctionData, hexToBytes, zeroHash, type Hex } from "viem";
import { NO_CHECKPOINT, NO_PICK, NO_PROGRAM, NO_STEP } from "../../../src/chain/structs.ts";
import { schedule } from "../../../testkit/protocol/schedule.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const ceil = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** Expects of a function its result for each of some arguments. */
async function expectResults<A>(
  call: (args: A) => Promise<unknown>,
  cases: readonly (readonly [args: A, result: unknown])[],
): Promise<void> {
  for (const [args, result] of cases) expect(await call(args)).to.deep.equal(result);
}

describe("Prices and payouts, by the numbers", () => {
  const world = useWorld();
  const harness = () => world().viem.deployContract("PriceHarness");
  const [level, child] = [schedule("LEVEL"), schedule("CHILD")];
  const seamOf = (siblings: bigint, headerBytes: bigint): bigint =>
    schedule("SEAM") + level * siblings + schedule("HEADER_BYTE") * headerBytes;

  it("draw_takesThePrice_orAllThatIsLeft", async () => {
    const { read } = await harness();
    for (const divide of [read.draw, read.forfeit]) {
      await expectResults(divide, [
        [
          [10n, 3n],
          [3n, 7n],
        ],
        [
          [10n, 10n],
          [10n, 0n],
        ],
        [
          [10n, 11n],
          [10n, 0n],
        ],
      ]);
    }
  });

  it("due_isWhatWasDrawn_andTheChallengersOwn", async () => {
    expect(await (await harness()).read.due([10n, 4n, 7n])).to.equal(13n);
  });

  it("divide_bountyFirst_thenTheGames_thenTheSink", async () => {
    const { read } = await harness();
    await expectResults(read.divide, [
      [
        [100n, 30n, 50n],
        [30n, 70n, 20n],
      ],
      [
        [100n, 30n, 70n],
        [30n, 70n, 0n],
      ],
      [
        [100n, 30n, 71n],
        [30n, 70n, 0n],
      ],
      [
        [100n, 101n, 5n],
        [100n, 0n, 0n],
      ],
    ]);
  });

  it("share_isTheDue_orItsPartOfAShortPot", async () => {
    const { read } = await harness();
    await expectResults(read.share, [
      [[7n, 20n, 14n], 7n],
      [[7n, 14n, 14n], 7n],
      [[7n, 13n, 14n], 6n],
      [[14n, 13n, 14n], 13n],
      // Of nothing, nothing: no division by zero.
      [[0n, 0n, 0n], 0n],
    ]);
  });

  it("affordable_isWhatMovesLeave_andNoMoreThanIsWanted", async () => {
    const { read } = await harness();
    await expectResults(read.affordable, [
      [[100n, 30n, 50n, 4n, 9n], 5n],
      [[100n, 30n, 50n, 4n, 5n], 5n],
      [[100n, 30n, 50n, 4n, 4n], 4n],
      [[100n, 30n, 51n, 4n, 5n], 4n],
      [[100n, 30n, 67n, 4n, 5n], 0n],
      [[100n, 30n, 70n, 4n, 5n], 0n],
      [[100n, 30n, 71n, 4n, 5n], 0n],
      // No game is left.
      [[100n, 30n, 50n, 0n, 5n], 0n],
    ]);
  });

  it("price_isAtLeastOne_andAtMostTheCap", async () => {
    const { read } = await harness();
    await expectResults(read.price, [
      [[0n, 5n], 1n],
      [[1n, 5n], 1n],
      [[4n, 5n], 4n],
      [[6n, 5n], 5n],
      [[0n, 0n], 0n],
      [[6n, 0n], 0n],
    ]);
  });

  it("nextPrice_isAnEighthAboveTheBaseFee_roundedUp_atMostTheCap", async () => {
    const { write, getEvents } = await harness();
    const nextPrice = async (baseFee: bigint, cap: bigint): Promise<bigint> => {
      await world().networkHelpers.setNextBlockBaseFeePerGas(baseFee);
      await write.emitNextPrice([cap]);
      return (await getEvents.NextPrice())[0]!.args.price!;
    };
    expect(await nextPrice(8_007n, 50_000n)).to.equal(8_007n + 1_000n + 1n);
    expect(await nextPrice(8_007n, 9_000n)).to.equal(9_000n);
  });

  it("moves_costByTheirChildrenAndLevels", async () => {
    const { read } = await harness();
    expect(await read.moves([3n, 5n])).to.deep.equal([
      schedule("OPEN") + 5n * level,
      schedule("REVEAL") + 8n * child,
      schedule("PICK") + 5n * level,
      schedule("EXPAND") + 8n * child + 5n * level,
    ]);
  });

  it("seam_costsByAllSiblings_andTheHeader", async () => {
    const path = (length: number): Hex[] => new Array<Hex>(length).fill(zeroHash);
    const pick = {
      ...NO_PICK,
      program: { ...NO_PROGRAM, header: `0x${"01".repeat(77)}` },
      checkpoint: { ...NO_CHECKPOINT, siblings: path(2) },
      step: { ...NO_STEP, siblings: path(3) },
    } as const;
    expect(await (await harness()).read.seam([pick])).to.equal(seamOf(5n, 77n));
  });

  it("settlements_addUp_theLastCostsMore", async () => {
    const { read } = await harness();
    const [settle, last] = [schedule("SETTLE"), schedule("LAST")];
    expect(await read.settlements([0n])).to.deep.equal([settle + last, 0n]);
    expect(await read.settlements([1n])).to.deep.equal([settle, settle + last]);
    expect(await read.settlements([3n])).to.deep.equal([settle, 3n * settle + last]);
  });

  it("worstGame_ofEveryArity_isThatOfTheLongestLists", async () => {
    const { read } = await harness();
    const [answer, run, trace, interior, tensor] = [4n, 16n, 12n, 12n, 20n];
    for (let k = 1n; k <= 6n; k++) {
      const picks = ceil(run, k) + ceil(trace, k) + ceil(interior, k) + ceil(tensor, k);
      const reveal = schedule("REVEAL") + (child << k);
      const expand = (levels: bigint): bigint => schedule("EXPAND") + (child << k) + levels * level;
      // Two of the reveals are expansions: of an output, with a checkpoint's path and that of its item, and of a range.
      const expansions = expand(run + trace) + expand(interior);
      const worker = (picks - 2n) * reveal + expansions + schedule("CHUNK") + schedule("TIMEOUT");
      const own = schedule("OPEN") + picks * schedule("PICK") + (answer + run + trace + interior + tensor) * level;
      const seams = seamOf(0n, 2_048n) + 2n * seamOf(48n, 2_048n);
      const ends = schedule("SETTLE") + 5_000_000n + schedule("PROVE_MARGIN");
      expect(await read.worst([k, 5_000_000n])).to.deep.equal([worker, own + seams + ends]);
    }
  });

  describe("gas of a transaction", () => {
    /** What is measured for calldata of some bytes, and its bytes that are zero and that are not. */
    async function measured(bytes: Uint8Array, rest: bigint): Promise<[gas: bigint, zeros: bigint, others: bigint]> {
      const { abi, read } = await harness();
      const data: Hex = `0x${Buffer.from(bytes).toString("hex")}`;
      const calldata = hexToBytes(encodeFunctionData({ abi, functionName: "transactionGas", args: [data, rest] }));
      const zeros = BigInt(calldata.filter((byte) => byte === 0).length);
      return [await read.transactionGas([data, rest]), zeros, BigInt(calldata.length) - zeros];
    }
    const bytes = (zeros: number, others: number): Uint8Array =>
      Uint8Array.from({ length: zeros + others }, (_, i) => (i < zeros ? 0 : 1));

    it("ofMuchCalldata_isTheFloor", async () => {
      const [gas, zeros, others] = await measured(bytes(3_000, 8_000), 0n);
      expect(gas).to.equal(21_000n + 40n * others + 10n * zeros);
    });

    it("ofMuchCalldata_countsEveryByteThatIsNotZero_whereverItLies", async () => {
      // More than the bytes of a word can count, twice: none of these counts is zero.
      const full = new Uint8Array(20_000).fill(0xff);
      const values = [0, 1, 0, 0x7f, 0x80, 0, 0x81, 0xff];
      const mixed = Uint8Array.from({ length: 10_000 }, (_, i) => values[(Math.imul(i, 0x9e3779b1) >>> 16) % 8]!);
      for (const data of [full, mixed]) {
        const [gas, zeros, others] = await measured(data, 0n);
        expect(gas).to.equal(21_000n + 40n * others + 10n * zeros);
      }
    });

    it("ofMuchWork_isTheWork_andTheCalldatasPrice", async () => {
      const rest = 10_000_000n;
      const [gas, zeros, others] = await measured(bytes(100, 200), rest);
      const beside = gas - rest - 21_000n - 16n * others - 4n * zeros;
      expect(beside >= 0n && beside < 15_000n, String(beside)).to.equal(true);
      // The same length, other bytes: the same work.
      const [more, fewer, rather] = await measured(bytes(0, 300), rest);
      expect(more - gas).to.equal(16n * (rather - others) - 4n * (zeros - fewer));
    });

    it("paid_toAnAccountThatDelegates_isNothing", async () => {
      const { mallory, networkHelpers } = world();
      const { read, address } = await harness();
      const by = { account: mallory.account };
      expect(await read.paid([30_000n, 100_000n], by)).to.equal(30_000n);
      // EIP-7702: its code says to whom.
      await networkHelpers.setCode(mallory.account.address, `0xef0100${address.slice(2)}`);
      expect(await read.paid([30_000n, 100_000n], by)).to.equal(0n);
    });

    it("paid_isWhatIsBurnt_upToThePrice_andToNoContract", async () => {
      const { read } = await harness();
      expect(await read.paid([30_000n, 100_000n])).to.equal(30_000n);
      const burnt = await read.paid([1_000_000n, 100_000n]);
      expect(burnt > 121_000n && burnt < 140_000n, String(burnt)).to.equal(true);
      expect(await read.paidToAContract([30_000n, 100_000n])).to.equal(0n);
    });
  });
});
