import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ClaimStatus, type Delivery, type JobRequest } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { SOURCE } from "../../../src/program/encode.ts";
import { apartAnswers, carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import type { OwnRun } from "../../../testkit/programs/runsOf.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { claimedRun, RunGame, type ClaimedRun } from "../../../testkit/protocol/runGame.ts";
import {
  joined,
  madeUp,
  manyMadeUp,
  sketched,
  sketchedClaim,
  sketchedRequest,
  submittedAnswer,
  type Sketch,
} from "../../../testkit/protocol/sketch.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, factsOf, postJob } from "../../../testkit/protocol/world.ts";
import { answerOf } from "../../../testkit/soak/answerRuns.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const outputs = (count: number, each: readonly number[] = []): Sketch["outputs"] =>
  Array.from({ length: count }, (_, k) => ({ checkpoint: k % 3, each: each.includes(k) }));

describe("JobMarket: jobs that ask for answers", () => {
  const world = useWorld();
  const post = async (sketch: Sketch, changes: Partial<JobRequest> = {}) =>
    postJob(world(), await sketchedRequest(world(), sketched(sketch), { fee: 0n, ...changes }));
  const refused = async (sent: Promise<unknown>, why: RegExp): Promise<void> => {
    expect(await refusalOf(sent)).to.match(why);
  };

  describe("post", () => {
    it("answers_areTheOutputsOfTheProgram_upToSixteen", async () => {
      for (const count of [1, 2, 15, 16])
        expect((await post({ outputs: outputs(count), checkpoints: 3 })).answers).to.equal(count);
      for (const count of [17, 64])
        await refused(
          post({ outputs: outputs(count), checkpoints: 3 }),
          new RegExp(`TooManyAnswers\\(${count}, 16\\)`),
        );
      // By traces there may be more.
      expect((await post({ outputs: outputs(64), checkpoints: 3 }, { answer: false })).answers).to.equal(0);
    });

    it("outputsOfEachItem_whereItemsCarryState_areRefused_exceptOfOneItem", async () => {
      for (const [source] of Object.entries(SOURCE) as [keyof typeof SOURCE, number][]) {
        for (const inputs of [[source], ["each", "shared", source], [source, "index"]] as const) {
          const sketch = { inputs, outputs: outputs(3, [1]), checkpoints: 3 };
          expect((await post(sketch, { items: 1, salt: madeUp(inputs.join()) })).answers).to.equal(3);
          const several = post(sketch, { items: 2, salt: madeUp(inputs.join()) });
          if (source === "carried") await refused(several, /AnswerOfCarriedItems\(1\)/);
          else expect((await several).answers).to.equal(3);
        }
      }
      const lasts = { inputs: ["carried"] as const, outputs: outputs(3), checkpoints: 3 };
      expect((await post(lasts, { items: 65_536 })).answers).to.equal(3);
      // The first of them is named.
      const both = { inputs: ["carried"] as const, outputs: outputs(4, [2, 3]), checkpoints: 3 };
      await refused(post(both, { items: 7 }), /AnswerOfCarriedItems\(2\)/);
    });

    it("formOfAJob_isAPartOfIt", async () => {
      const sketch = { outputs: outputs(2), checkpoints: 3 };
      const { deadline } = await sketchedRequest(world(), sketched(sketch));
      await post(sketch, { deadline, answer: true });
      await post(sketch, { deadline, answer: false });
      await refused(post(sketch, { deadline, answer: true }), /JobExists/);
    });
  });

  describe("submit", () => {
    const submit = async (count: number, nodes: Hex): Promise<unknown> => {
      const job = await post({ outputs: outputs(count), checkpoints: 3 }, { salt: madeUp(nodes) });
      const { account } = world().worker;
      await world().market.write.claim([job], { account });
      const sent = world().market.write.submit([job, nodes], { account });
      await sent.catch(() => undefined);
      await world().networkHelpers.time.increase(601);
      // Frees the stake of those that were refused.
      if ((await refusalOf(sent)) !== "accepted") await world().market.write.expire([job], { account });
      return sent;
    };

    it("nodes_areAllOutputs_withZerosPastTheLast", async () => {
      for (const [count, shown] of [
        [1, 1],
        [3, 4],
        [9, 16],
        [16, 16],
      ] as const) {
        const list = MerkleList.fromHashes(manyMadeUp("output", count));
        const right = submittedAnswer(list);
        expect(right.length).to.equal(2 + 64 * shown);
        for (const nodes of [joined(manyMadeUp("output", shown + 1)), joined(manyMadeUp("output", shown - 1)), "0x"])
          if (nodes !== right) await refused(submit(count, nodes as Hex), /WrongDataLength/);
        if (count < shown) await refused(submit(count, joined(manyMadeUp("output", shown))), /PaddingNotZero/);
      }
    });

    it("root_isThatOfTheListOfOutputs_andIsInTheClaimAndItsEvent", async () => {
      for (const count of [1, 3, 16]) {
        const roots = manyMadeUp("output", count);
        const request = await sketchedRequest(world(), sketched({ outputs: outputs(count), checkpoints: 3 }));
        const claim = await sketchedClaim(world(), request, roots);
        const [event] = await world().market.getEvents.ClaimSubmitted();
        const list = MerkleList.fromHashes(roots);
        expect(event!.args).to.include({ root: list.root, nodes: submittedAnswer(list) });
        const [status] = await world().market.read.claimOf([claimKey(world(), claim)]);
        expect(status).to.equal(ClaimStatus.submitted);
      }
    });

    it("zeroRoot_isRefused", async () => {
      await refused(submit(1, zeroHash), /ZeroClaimRoot/);
    });
  });
});

describe("JobMarket: outputs of an answer", () => {
  const world = useWorld();
  const ITEMS = 5;
  /** Outputs of the programs: the last item's, and the other, which each item has if items carry nothing. */
  const [NEXT, A] = [0, 1];
  let own: OwnRun;
  let claimed: ClaimedRun;

  const claim = async (program = apartAnswers(), items = ITEMS): Promise<void> => {
    own = answerOf(program, items);
    claimed = await claimedRun(world(), own);
  };
  const pass = (): Promise<unknown> => world().networkHelpers.time.increase(claimed.claim.job.window + 1);
  const finalised = async (): Promise<void> => {
    await pass();
    await world().market.write.finalise([claimed.claim]);
  };
  const deliver = (delivery: Delivery): Promise<Hex> => world().market.write.deliver([claimed.claim, delivery]);
  const require = (item: number | bigint, delivery: Delivery): Promise<void> =>
    world().market.read.requireOutput([claimed.claim, BigInt(item), delivery]);
  const refused = async (sent: Promise<unknown>, why: RegExp): Promise<void> => {
    expect(await refusalOf(sent)).to.match(why);
  };
  /** An output with its path, made of the tensors and lists alone. */
  const outputOf = (item: number, output: number): Delivery => {
    const { run } = own;
    const { program } = run.program.model;
    const checkpoint = program.checkpoints[program.outputs[output]!]!.step;
    const tensor = (k: number): Uint8Array => run.item(k).trace.tensor(checkpoint);
    const isEach = (k: number): boolean => program.each?.includes(k) === true;
    const listOf = (k: number): MerkleList => {
      const at = program.checkpoints[program.outputs[k]!]!.step;
      const items = isEach(k) ? Array.from({ length: run.items }, (_, i) => i) : [run.items - 1];
      return MerkleList.fromHashes(items.map((i) => tensorRoot(run.item(i).trace.tensor(at))));
    };
    const lists = program.outputs.map((_, k) => listOf(k));
    return {
      program: factsOf(run.program.commitment),
      output,
      data: toHex(tensor(item)),
      siblings: [
        ...(isEach(output) ? lists[output]!.path(item) : []),
        ...MerkleList.fromHashes(lists.map(({ root }) => root)).path(output),
      ],
    };
  };

  describe("deliver", () => {
    it("lastItemsOutputs_areDelivered_andTheFeePaidWithTheLast", async () => {
      for (const items of [1, ITEMS]) {
        await claim(carriedAnswers(), items);
        const credit = async () => (await world().vault.read.accountOf([world().worker.account.address]))[0];
        const before = await credit();
        await pass();
        for (const output of [A, NEXT]) {
          expect(await credit()).to.equal(before);
          await deliver(outputOf(items - 1, output));
          const [event] = await world().market.getEvents.OutputDelivered();
          expect(event!.args).to.include({ output: BigInt(output), data: outputOf(items - 1, output).data });
        }
        expect(await credit()).to.equal(before + ETHER);
        await refused(deliver(outputOf(items - 1, A)), /AlreadyDelivered/);
      }
    });

    it("outputUnderAnotherNumber_orOfAnotherItem_isRefused", async () => {
      await claim(carriedAnswers());
      await pass();
      const [next, a] = [outputOf(ITEMS - 1, NEXT), outputOf(ITEMS - 1, A)];
      // Both have the same number of bytes.
      expect(next.data.length).to.equal(a.data.length);
      await refused(deliver({ ...next, output: A }), /OutputNotInClaim\(1\)/);
      await refused(deliver({ ...a, output: NEXT }), /OutputNotInClaim\(0\)/);
      await refused(deliver({ ...a, output: NEXT, siblings: next.siblings }), /OutputNotInClaim\(0\)/);
      for (let item = 0; item < ITEMS - 1; item++)
        await refused(deliver(outputOf(item, NEXT)), /OutputNotInClaim\(0\)/);
      await refused(deliver({ ...next, data: `${next.data}00` }), /WrongOutputLength/);
    });

    it("pathsUnderATrace_orOfAnotherLength_areRefused", async () => {
      await claim(carriedAnswers());
      await pass();
      const right = outputOf(ITEMS - 1, NEXT);
      const { run } = own;
      const { trace } = run.item(ITEMS - 1);
      const inRun = [...trace.list.path(1), ...run.list.path(ITEMS - 1)];
      for (const siblings of [inRun, [], [...right.siblings, zeroHash], trace.list.path(1).slice(1)])
        await refused(deliver({ ...right, siblings }), /SiblingCount/);
      await refused(deliver({ ...right, siblings: trace.list.path(0) }), /OutputNotInClaim\(0\)/);
    });

    it("outputOfEachItem_isNoDeliverable_norIsThatOfTheOnlyItem", async () => {
      for (const items of [1, 3]) {
        await claim(apartAnswers(), items);
        expect(claimed.claim.job.deliverables).to.equal(1n);
        await pass();
        await refused(deliver(outputOf(items - 1, A)), /NotDeliverable\(1\)/);
        await refused(deliver({ ...outputOf(items - 1, A), output: NEXT }), /OutputNotInClaim|SiblingCount/);
        await deliver(outputOf(items - 1, NEXT));
      }
    });
  });

  describe("requireOutput", () => {
    it("eachItemsOutput_andTheLastOnes_areProven", async () => {
      await claim();
      await finalised();
      for (let item = 0; item < ITEMS; item++) await require(item, outputOf(item, A));
      await require(ITEMS - 1, outputOf(ITEMS - 1, NEXT));
    });

    for (const ranges of ["one", "step"] satisfies RunRanges[]) {
      it(`outputsOfAProgramWithRangesOf_${ranges}_areProven`, async () => {
        await claim(apartAnswers(ranges), 3);
        await pass();
        await world().market.write.finalise([claimed.claim]);
        for (let item = 0; item < 3; item++) await require(item, outputOf(item, 0));
        await claim(carriedAnswers(ranges), 3);
        await finalised();
        await require(2, outputOf(2, 0));
        await refused(require(1, outputOf(1, 0)), /NotAnOutputOfItem\(0, 1\)/);
      });
    }

    it("outputOfTheOnlyItem_isProven_whateverItsScope", async () => {
      await claim(apartAnswers(), 1);
      await finalised();
      for (const output of [NEXT, A]) await require(0, outputOf(0, output));
      await refused(require(1, outputOf(0, A)), /ItemsOutOfRange\(1, 1\)/);
    });

    it("outputOfAnotherItem_orPastTheRun_isRefused", async () => {
      await claim();
      await finalised();
      const right = outputOf(2, A);
      for (const other of [0, 1, 3, 4]) {
        await refused(require(other, right), /OutputNotInClaim\(1\)/);
        await refused(require(2, outputOf(other, A)), /OutputNotInClaim\(1\)/);
        await refused(require(2, { ...right, data: outputOf(other, A).data }), /OutputNotInClaim\(1\)/);
      }
      for (const item of [5n, 7n, 8n, 2n ** 256n - 1n]) await refused(require(item, right), /ItemsOutOfRange/);
      for (let item = 0; item < ITEMS - 1; item++)
        await refused(require(item, outputOf(ITEMS - 1, NEXT)), /NotAnOutputOfItem\(0/);
      await refused(require(2, { ...right, output: 2 }), /OutputOutOfRange/);
    });

    it("outputUnderAnotherNumber_orByPathsOfOtherLengths_isRefused", async () => {
      await claim();
      await finalised();
      const [each, last] = [outputOf(ITEMS - 1, A), outputOf(ITEMS - 1, NEXT)];
      await refused(require(ITEMS - 1, { ...each, output: NEXT }), /SiblingCount/);
      await refused(require(ITEMS - 1, { ...last, output: A }), /PathTooShort/);
      await refused(require(ITEMS - 1, { ...each, siblings: each.siblings.slice(0, 2) }), /PathTooShort\(2, 3\)/);
      for (const siblings of [each.siblings.slice(0, -1), [...each.siblings, zeroHash]])
        await refused(require(ITEMS - 1, { ...each, siblings }), /SiblingCount/);
      // The way of the list of items, without the item's.
      await refused(require(ITEMS - 1, { ...each, siblings: each.siblings.slice(3) }), /PathTooShort\(1, 3\)/);
    });

    it("beforeTheClaimIsFinal_orOfARefutedOne_isRefused", async () => {
      const program = carriedAnswers();
      own = answerOf(program, ITEMS, { item: 3, step: RUN_STEPS.carriedAndEach, element: 5 });
      claimed = await claimedRun(world(), own);
      await refused(require(ITEMS - 1, outputOf(ITEMS - 1, NEXT)), /WrongClaimStatus/);
      const game = new RunGame(world(), claimed, answerOf(program, ITEMS));
      await game.prove(await game.proof());
      await pass();
      await refused(require(ITEMS - 1, outputOf(ITEMS - 1, NEXT)), /WrongClaimStatus/);
      await refused(deliver(outputOf(ITEMS - 1, NEXT)), /WrongClaimStatus/);
    });
  });
});
