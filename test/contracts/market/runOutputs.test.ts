import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { ClaimStatus, type Delivery, type JobRequest } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { executeItems } from "../../../src/runs/executeRun.ts";
import { runProgram, RUN_STEPS, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import { runOf, type OwnRun } from "../../../testkit/programs/runsOf.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, factsOf } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const ITEMS = 5;

/** Outputs of the program: the last item's state, and what each item has. */
const [NEXT, A] = [0, 1];

/** A run of which all items are held. */
async function heldRun(ranges: RunRanges, items: number): Promise<OwnRun> {
  const own = await runOf(runProgram(ranges), items);
  const all = Array.from({ length: items }, (_, k) => k);
  await executeItems(own.run, all, own.execute);
  return own;
}

/** An output of an item, with its path under the run root. */
function outputOf({ run }: OwnRun, item: number, output: number): Delivery {
  const { program } = run.program.model;
  const checkpoint = program.outputs[output]!;
  const { trace } = run.item(item);
  return {
    program: factsOf(run.program.commitment),
    output,
    data: toHex(trace.tensor(program.checkpoints[checkpoint]!.step)),
    siblings: [...trace.list.path(checkpoint), ...run.list.path(item)],
  };
}

describe("JobMarket: outputs of a run", () => {
  const world = useWorld();
  let own: OwnRun;
  let claimed: ClaimedRun;

  const claim = async (changes: Partial<JobRequest> = {}): Promise<void> => {
    own = await heldRun("two", ITEMS);
    claimed = await claimedRun(world(), own, changes);
  };
  const pass = (): Promise<unknown> => world().networkHelpers.time.increase(claimed.claim.job.window + 1);
  const finalised = async (): Promise<void> => {
    await claim();
    await pass();
    await world().market.write.finalise([claimed.claim]);
  };
  const deliver = (delivery: Delivery): Promise<Hex> => world().market.write.deliver([claimed.claim, delivery]);
  const require = (item: number | bigint, delivery: Delivery): Promise<void> =>
    world().market.read.requireOutput([claimed.claim, BigInt(item), delivery]);
  const statusOf = async (): Promise<number> =>
    (await world().market.read.claimOf([claimKey(world(), claimed.claim)]))[0];

  describe("deliver", () => {
    it("lastItemsOutput_isDelivered_andTheFeePaid", async () => {
      await claim();
      const before = (await world().vault.read.accountOf([world().worker.account.address]))[0];
      await pass();
      await deliver(outputOf(own, ITEMS - 1, NEXT));
      expect((await world().vault.read.accountOf([world().worker.account.address]))[0]).to.equal(before + ETHER);
      const [event] = await world().market.getEvents.OutputDelivered();
      expect(event!.args.data).to.equal(outputOf(own, ITEMS - 1, NEXT).data);
      expect(await refusalOf(deliver(outputOf(own, ITEMS - 1, NEXT)))).to.match(/AlreadyDelivered/);
    });

    it("anotherItemsOutput_isRefused_byItsOwnPathAndByThatOfTheLast", async () => {
      await claim();
      await pass();
      const right = outputOf(own, ITEMS - 1, NEXT);
      for (let item = 0; item < ITEMS - 1; item++) {
        const other = outputOf(own, item, NEXT);
        expect(await refusalOf(deliver(other))).to.match(/OutputNotInClaim\(0\)/);
        expect(await refusalOf(deliver({ ...other, siblings: right.siblings }))).to.match(/OutputNotInClaim\(0\)/);
      }
      expect(await refusalOf(deliver({ ...right, siblings: right.siblings.slice(1) }))).to.match(/SiblingCount/);
      expect(await refusalOf(deliver({ ...right, siblings: [] }))).to.match(/PathTooShort\(0, 1\)/);
      expect(await refusalOf(deliver({ ...right, siblings: [...right.siblings, right.siblings[0]!] }))).to.match(
        /SiblingCount/,
      );
    });

    it("outputOfEachItem_isNoDeliverable", async () => {
      await claim();
      await pass();
      for (const item of [0, ITEMS - 1])
        expect(await refusalOf(deliver(outputOf(own, item, A)))).to.match(/NotDeliverable\(1\)/);
      // Nor in the place of one.
      expect(await refusalOf(deliver({ ...outputOf(own, ITEMS - 1, A), output: NEXT }))).to.match(/OutputNotInClaim/);
    });
  });

  describe("requireOutput", () => {
    it("eachOutputOfEachItem_andTheLastOnes_areProven_onceFinal", async () => {
      await finalised();
      for (let item = 0; item < ITEMS; item++) await require(item, outputOf(own, item, A));
      await require(ITEMS - 1, outputOf(own, ITEMS - 1, NEXT));
      await deliver(outputOf(own, ITEMS - 1, NEXT));
      // The job is complete: what its claim says stays.
      for (let item = 0; item < ITEMS; item++) await require(item, outputOf(own, item, A));
    });

    it("beforeTheClaimIsFinal_isRefused", async () => {
      await claim();
      expect(await refusalOf(require(2, outputOf(own, 2, A)))).to.match(/WrongClaimStatus/);
      await pass();
      // The window is over, but nobody has said so.
      expect(await refusalOf(require(2, outputOf(own, 2, A)))).to.match(/WrongClaimStatus/);
    });

    it("ofARefutedClaim_isRefused_whateverWasTrueOfIt", async () => {
      const program = runProgram();
      const lying = await runOf(program, ITEMS, { item: 3, step: RUN_STEPS.shared, element: 5 });
      await executeItems(lying.run, [0, 1, 2, 3, 4], lying.execute);
      claimed = await claimedRun(world(), lying);
      const game = new RunGame(world(), claimed, await runOf(program, ITEMS));
      await game.prove(await game.proof());
      expect(await statusOf()).to.equal(ClaimStatus.refuted);
      await pass();
      for (const item of [0, 3])
        expect(await refusalOf(require(item, outputOf(lying, item, A)))).to.match(/WrongClaimStatus/);
      expect(await refusalOf(deliver(outputOf(lying, ITEMS - 1, NEXT)))).to.match(/WrongClaimStatus/);
    });

    it("itemPastTheRun_isRefused", async () => {
      await finalised();
      const right = outputOf(own, 4, A);
      for (const item of [5n, 7n, 8n, 2n ** 32n + 4n, 2n ** 256n - 1n])
        expect(await refusalOf(require(item, right))).to.match(new RegExp(`ItemsOutOfRange\\(${item}, 5\\)`));
    });

    it("bytesOfAnotherItem_orOtherBytes_areRefused", async () => {
      await finalised();
      const right = outputOf(own, 2, A);
      for (const other of [0, 1, 3, 4]) {
        const one = outputOf(own, other, A);
        expect(await refusalOf(require(2, one))).to.match(/OutputNotInClaim\(1\)/);
        expect(await refusalOf(require(2, { ...right, data: one.data }))).to.match(/OutputNotInClaim\(1\)/);
        expect(await refusalOf(require(other, right))).to.match(/OutputNotInClaim\(1\)/);
      }
      // The other checkpoint of the same item.
      const { data, siblings } = outputOf(own, 2, NEXT);
      expect(await refusalOf(require(2, { ...right, data, siblings }))).to.match(/OutputNotInClaim\(1\)/);
      expect(await refusalOf(require(2, { ...right, data: `${right.data}00` }))).to.match(/WrongOutputLength/);
      expect(await refusalOf(require(2, { ...right, output: 2 }))).to.match(/OutputOutOfRange/);
      const facts = factsOf(runProgram("one").commitment);
      expect(await refusalOf(require(2, { ...right, program: facts }))).to.match(/WrongProgram/);
    });

    it("lastOutput_ofAnotherItem_isRefused_thoughItIsInTheTrace", async () => {
      await finalised();
      for (let item = 0; item < ITEMS - 1; item++)
        expect(await refusalOf(require(item, outputOf(own, item, NEXT)))).to.match(
          new RegExp(`NotAnOutputOfItem\\(0, ${item}\\)`),
        );
    });

    it("programOfOneCheckpoint_hasNoPathInATrace", async () => {
      own = await heldRun("step", 3);
      claimed = await claimedRun(world(), own);
      await pass();
      await deliver(outputOf(own, 2, NEXT));
      await require(2, outputOf(own, 2, NEXT));
      expect(outputOf(own, 2, NEXT).siblings.length).to.equal(2);
    });

    it("gas_isThatOfHashingTheOutput", async () => {
      const figures: string[] = [];
      for (const items of [1, 16, 1_000]) {
        own = items < 1_000 ? await heldRun("two", items) : await runOf(runProgram(), items);
        claimed = await claimedRun(world(), own, { salt: `0x${items.toString(16).padStart(64, "0")}` });
        await pass();
        await world().market.write.finalise([claimed.claim]);
        const args = [claimed.claim, BigInt(items - 1), outputOf(own, items - 1, A)] as const;
        const data = encodeFunctionData({ abi: jobMarketAbi, functionName: "requireOutput", args });
        const gas = await world().client.estimateGas({ to: world().market.address, data });
        expect(gas < 200_000n, String(gas)).to.equal(true);
        figures.push(`${gas} gas of ${items} items`);
      }
      console.log(`        requireOutput of 1,200 bytes, as a transaction: ${figures.join(", ")}`);
    });
  });
});
