import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { ClaimStatus, Level, Side, type Parameters, type StepProof } from "../../../src/chain/structs.ts";
import { pickAt } from "../../../src/dispute/pick.ts";
import { packState } from "../../../src/chain/market/state.ts";
import { sha256, toHash, type Hash } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import type { KnownProgram } from "../../../src/dispute/run/execution.ts";
import { Answer } from "../../../src/program/trace/answer.ts";
import { everyFourth } from "../../../testkit/atLength.ts";
import { apartAnswers, carriedAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS, type RunRanges } from "../../../testkit/programs/runProgram.ts";
import type { OwnRun, RunLie } from "../../../testkit/programs/runsOf.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { claimedRun, RunGame } from "../../../testkit/protocol/runGame.ts";
import { joined, madeUp } from "../../../testkit/protocol/sketch.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, createWorld } from "../../../testkit/protocol/world.ts";
import { answering, answerOf, withLastTensors } from "../../../testkit/soak/answerRuns.ts";
import { ETHER, type World } from "../../../testkit/protocol/deployWorld.ts";

const LAST = { two: RUN_STEPS.last, one: RUN_STEPS.last, step: 0 } as const;
const PROGRAMS = { carried: carriedAnswers, apart: apartAnswers } as const;
const RANGES = ["two", "one", "step"] as const satisfies RunRanges[];

/** Has a worker lie in an answer, and a challenger refute it from the first output that differs. */
async function refutes(world: World, program: KnownProgram, items: number, lie: RunLie): Promise<RunGame> {
  const game = new RunGame(world, await claimedRun(world, answerOf(program, items, lie)), answerOf(program, items));
  await game.prove(await game.proof());
  expect(game.state).to.include({ level: Level.tensor, item: lie.item, step: lie.step });
  expect(await game.status()).to.equal(ClaimStatus.refuted);
  return game;
}

/** A world whose worker has stake for many lies. */
async function worldOfManyLies(overrides: Partial<Parameters> = {}): Promise<World> {
  const world = await createWorld(overrides);
  const { account } = world.worker;
  await world.vault.write.deposit([account.address, 70n * ETHER], { account });
  await world.vault.write.stake([70n * ETHER], { account });
  return world;
}

/** Whether a lie is in the answer: in the last item's state, or in what each item has. */
const shows = (program: KnownProgram, items: number, lie: RunLie): boolean =>
  answerOf(program, items, lie).run.root !== answerOf(program, items).run.root;

describe("DisputeGame: a lie in an answer", () => {
  const world = useWorld(worldOfManyLies);

  for (const [name, programOf] of Object.entries(PROGRAMS)) {
    for (const ranges of everyFourth(RANGES, 0)) {
      it(`ofAProgramThatIs_${name}_withRangesOf_${ranges}_isRefuted_whereverItIs`, async () => {
        const program = programOf(ranges);
        for (const items of [1, 2, 5]) {
          for (const item of new Set([0, Math.floor(items / 2), items - 1])) {
            const lie = { item, step: LAST[ranges], element: 299 };
            if (shows(program, items, lie)) await refutes(world(), program, items, lie);
          }
        }
      });
    }

    it(`inEveryStep_ofAProgramThatIs_${name}_isRefuted`, async () => {
      const program = programOf("two");
      for (const step of Object.values(RUN_STEPS)) {
        const lie = { item: 3, step, element: 130 };
        if (shows(program, 4, lie)) await refutes(world(), program, 4, lie);
      }
    });
  }

  it("inAnItemOfALongRun_isRefuted_throughTheRunThatTheWorkerShows", async () => {
    // What an item passes on is doubled by the next: after 32 items nothing is left of a lie.
    for (const item of [40, 55, 69]) {
      const { state } = await refutes(world(), carriedAnswers(), 70, { item, step: RUN_STEPS.index, element: 7 });
      expect(state.runRoot).not.to.equal(zeroHash);
    }
  });
});

describe("DisputeGame: a lie in the answer of a run above 256 items", () => {
  const world = useWorld(worldOfManyLies);

  it("isRefuted_throughTheWholeRunThatTheWorkerShows", async () => {
    const lie = { item: 299, step: RUN_STEPS.index, element: 7 };
    const { state } = await refutes(world(), carriedAnswers(), 300, lie);
    expect(state.runRoot).not.to.equal(zeroHash);
  });
});

for (const arityBits of everyFourth([1, 6], 0)) {
  describe(`DisputeGame: a lie in an answer, with arity 2^${arityBits}`, () => {
    const world = useWorld(() => worldOfManyLies({ arityBits, bondGas: 5_000_000 }));

    it("isRefuted_inItemsThatCarryState_andInThoseThatDoNot", async () => {
      for (const programOf of Object.values(PROGRAMS)) {
        for (const ranges of ["two", "step"] as const) {
          const lie = { item: 16, step: LAST[ranges], element: 130 };
          await refutes(world(), programOf(ranges), 17, lie);
        }
      }
    });
  });
}

describe("DisputeGame: an answer that its worker cannot show", () => {
  const world = useWorld(worldOfManyLies);
  const program = apartAnswers();
  const ITEMS = 5;
  const honest = answerOf(program, ITEMS);
  const [last, each] = honest.run.answer.outputs as [MerkleList, MerkleList];

  /** A worker that executed right, and claims other outputs. */
  const liar = (outputs: MerkleList[], own: OwnRun = honest): OwnRun => answering(own, new Answer(outputs));

  /** The worker is silent, and its challenger takes the claim from it. */
  async function losesByTime(game: RunGame): Promise<void> {
    expect(game.state.turn).to.equal(Side.worker);
    await world().networkHelpers.time.increase(game.state.workerSeconds + 1);
    const args = [packState(game.state), claimKey(world(), game.claim)] as const;
    await world().game.write.timeout(args, { account: world().watcher.account });
    expect(await game.status()).to.equal(ClaimStatus.refuted);
  }

  it("outputOfAnother_orOfNothing_cannotBeExpanded", async () => {
    const outputs: [string, Hash][] = [
      ["another item's", each.node(0, 0)],
      ["nobody's", madeUp("nobody's")],
      ["zero", zeroHash],
      ["the list of the items", each.root],
      ["the trace", honest.run.item(ITEMS - 1).trace.root],
    ];
    for (const [name, root] of outputs) {
      const own = liar([MerkleList.fromHashes([root]), each]);
      const game = await new RunGame(world(), await claimedRun(world(), own, { salt: madeUp(name) }), honest).open();
      expect(game.state).to.include({ level: Level.items, depth: 0, node: root, item: ITEMS - 1 });
      expect(await refusalOf(game.answer()), name).to.match(/LeafNotInList/);
      await losesByTime(game);
    }
  });

  it("itemsOfAnOutput_inAnotherOrder_cannotBeExpanded", async () => {
    const swapped = MerkleList.fromHashes([0, 2, 1, 3, 4].map((k) => each.node(0, k)));
    const claimed = await claimedRun(world(), liar([last, swapped]));
    const game = await new RunGame(world(), claimed, honest).open();
    await game.answer();
    await game.pickNext();
    expect(game.state).to.include({ level: Level.items, depth: 0, item: 1, node: each.node(0, 2) });
    expect(await refusalOf(game.answer())).to.match(/LeafNotInList/);
    await losesByTime(game);
  });

  it("itemsOfAnOutput_withMoreThanZerosPastTheLast_cannotBeShown", async () => {
    const padded = MerkleList.fromHashes([...[0, 1, 2, 3, 4].map((k) => each.node(0, k)), madeUp("sixth")]);
    const claimed = await claimedRun(world(), liar([last, padded]));
    const game = await new RunGame(world(), claimed, honest).open();
    expect(game.state).to.include({ level: Level.items, depth: 3, width: ITEMS });
    const data = joined(Array.from({ length: 8 }, (_, k) => padded.node(0, k)));
    expect(await refusalOf(game.reveal(data))).to.match(/PaddingNotZero\(5\)/);
    await losesByTime(game);
  });

  it("listOfMoreOrFewerItems_cannotBeShown", async () => {
    for (const width of [4, 9]) {
      const other = MerkleList.fromHashes(Array.from({ length: width }, (_, k) => each.node(0, k % ITEMS)));
      const claimed = await claimedRun(world(), liar([last, other]), { salt: madeUp(`${width}`) });
      const game = await new RunGame(world(), claimed, honest).open();
      // Its lowest nodes, then those three levels below its root.
      for (const height of new Set([0, Math.max(0, other.depth - 3)])) {
        const nodes = Array.from({ length: Math.min(8, 2 ** (other.depth - height)) }, (_, k) => other.node(height, k));
        const data = joined([...nodes, ...new Array<Hash>(8 - nodes.length).fill(zeroHash)]);
        expect(await refusalOf(game.reveal(data))).to.match(/NotTheNode|PaddingNotZero/);
      }
      await losesByTime(game);
    }
  });

  it("outputWithMoreThanZerosPastItsEnd_endsAtTheChunk_thatItsWorkerCannotShow", async () => {
    // Of 300 words of 4 bytes the last chunk holds 176 bytes.
    const { trace } = honest.run.item(ITEMS - 1);
    const bytes = Buffer.concat([trace.tensor(RUN_STEPS.last), Buffer.alloc(512 - 176, 0)]);
    bytes[1_300] = 1;
    const root = tensorRoot(bytes);
    expect(root).not.to.equal(last.root);
    const list = MerkleList.fromHashes([0, 1].map((k) => (k === 1 ? root : trace.list.node(0, k))));
    const own = liar([MerkleList.fromHashes([root]), each]);
    const game = await new RunGame(world(), await claimedRun(world(), own), honest).open();
    await game.expand(joined([0, 1].map((k) => list.node(0, k))), []);
    expect(game.state).to.include({ level: Level.trace, traceRoot: list.root, item: ITEMS - 1 });
    await game.pickNext();
    expect(game.state).to.include({ level: Level.trace, depth: 0, index: 1, node: root });
    const interior = MerkleList.fromHashes([trace.tree(RUN_STEPS.index).root, root]);
    await game.expand(joined([interior.node(0, 0), root]), []);
    await game.pickNext();
    expect(game.state).to.include({ level: Level.tensor, node: root, tailBytes: 176, step: RUN_STEPS.last });
    const chunks = Array.from({ length: 3 }, (_, k) => toHash(sha256(bytes.subarray(512 * k, 512 * (k + 1)))));
    await game.reveal(joined([...chunks, zeroHash]));
    await game.pickNext();
    expect(game.state).to.include({ level: Level.tensor, depth: 0, index: 2 });
    const shown: Hex = `0x${bytes.subarray(1_024, 1_536).toString("hex")}`;
    expect(await refusalOf(game.reveal(shown))).to.match(/PaddingNotZero/);
    await losesByTime(game);
  });
});

describe("DisputeGame: an honest answer", () => {
  const world = useWorld(worldOfManyLies);

  /** A game of a challenger that is wrong about an answer, at its proof of what is right. */
  const wrongChallenger = async (program: KnownProgram, items: number, lie: RunLie) => {
    const game = new RunGame(
      world(),
      await claimedRun(world(), answerOf(program, items)),
      answerOf(program, items, lie),
    );
    const proof = await game.proof();
    expect(game.state.item).to.equal(lie.item);
    return { game, proof };
  };
  const refused = async (game: RunGame, proof: StepProof, why: RegExp): Promise<void> => {
    expect(await refusalOf(game.prove(proof))).to.match(why);
    expect(await game.status()).to.equal(ClaimStatus.submitted);
  };

  for (const [name, programOf] of Object.entries(PROGRAMS)) {
    it(`ofAProgramThatIs_${name}_standsAgainstAnyWrongChallenger_andItsWorkerAlwaysHasAMove`, async () => {
      for (const ranges of everyFourth(RANGES, 1)) {
        for (const items of [1, 3]) {
          const program = programOf(ranges);
          const lie = { item: items - 1, step: LAST[ranges], element: 299 };
          const { game, proof } = await wrongChallenger(program, items, lie);
          await refused(game, proof, /ProofFails/);
        }
      }
    });

    it(`ofAProgramThatIs_${name}_isShown_whateverOutputIsOpened`, async () => {
      for (const ranges of everyFourth(RANGES, 1)) {
        const own = answerOf(programOf(ranges), 3);
        const claimed = await claimedRun(world(), own);
        const { list } = own.run.answer;
        for (let index = 0; index < list.width; index++) {
          const landing = { depth: 0, index, node: list.node(0, index), siblings: list.path(index) };
          const game = await new RunGame(world(), claimed, own).open(pickAt(own.run, landing), index);
          expect(game.state.turn).to.equal(Side.worker);
          await game.answer();
          expect(game.state.turn).to.equal(Side.challenger);
        }
      }
    });
  }

  it("itemBefore_isProvenUnderTheRunThatTheWorkerShowed_andUnderNoOtherRoot", async () => {
    const items = 5;
    const lie = { item: 2, step: RUN_STEPS.carriedAndEach, element: 200 };
    const { game, proof } = await wrongChallenger(carriedAnswers(), items, lie);
    await refused(game, proof, /ProofFails/);
    const { run } = answerOf(carriedAnswers(), items);
    expect(game.state.runRoot).to.equal(run.runRoot);
    for (const k of [0, 2, 3]) {
      const other = { previous: run.list.node(0, k), previousSiblings: run.list.path(k) };
      await refused(game, { ...proof, ...other }, /PreviousNotProven/);
    }
    // By the way under the claim's root, which is of outputs; as a run of its own.
    const answer = { previous: run.answer.list.node(0, 0), previousSiblings: run.answer.path(0, items - 1) };
    await refused(game, { ...proof, ...answer }, /SiblingCount/);
    const mine = MerkleList.fromHashes([0, 1, 2, 3, 4].map((k) => madeUp(`trace ${k}`)));
    await refused(game, { ...proof, previous: mine.node(0, 1), previousSiblings: mine.path(1) }, /PreviousNotProven/);
  });

  it("itemBefore_whereNoRunWasShown_isRefused", async () => {
    const lie = { item: 2, step: RUN_STEPS.carriedAndEach, element: 200 };
    const { game, proof } = await wrongChallenger(apartAnswers(), 4, lie);
    const { run } = answerOf(apartAnswers(), 4);
    expect(game.state.runRoot).to.equal(zeroHash);
    const before = { previous: run.list.node(0, 1), previousSiblings: run.list.path(1) };
    await refused(game, { ...proof, ...before }, /PreviousNotProven\(2\)/);
  });
});

describe("DisputeGame: the same wrong answer, shown as other runs in other games", () => {
  const world = useWorld();
  const ITEMS = 5;

  it("isRefuted_inEachGame_byTheRunThatWasShownThere", async () => {
    const program = carriedAnswers();
    const [own, lying] = [answerOf(program, ITEMS), answerOf(program, ITEMS, { item: 1, step: 0, element: 5 })];
    // All items are right but the last one, whose output is the same as that of the items that go on from the lie.
    const outputs = lying.run.item(ITEMS - 1).trace;
    const late = withLastTensors(
      own,
      new Map([RUN_STEPS.shared, RUN_STEPS.last].map((step) => [step, outputs.tensor(step)])),
    );
    expect(late.run.root).to.equal(lying.run.root);
    expect(late.run.runRoot).not.to.equal(lying.run.runRoot);
    const claimed = await claimedRun(world(), lying);
    const games = [
      await new RunGame(world(), claimed, own).open(undefined, 1),
      await new RunGame(world(), { ...claimed, worker: late }, own).open(undefined, 2),
    ] as const;
    const proofs = [await games[0].proof(), await games[1].proof()] as const;
    expect(games.map(({ state }) => state.item)).to.deep.equal([1, ITEMS - 1]);
    // What was shown in one game says nothing in the other.
    expect(await refusalOf(games[0].prove(proofs[1]))).to.match(/NotProven|NotTheNode|Wrong|NotBelow/);
    expect(await refusalOf(games[1].prove(proofs[0]))).to.match(/NotProven|NotTheNode|Wrong|NotBelow/);
    await games[1].prove(proofs[1]);
    expect(await games[0].status()).to.equal(ClaimStatus.refuted);
  });
});
