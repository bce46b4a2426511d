import { expect } from "chai";
import { zeroHash } from "viem";
import { Level, NO_CHECKPOINT, NO_PICK, NO_PROGRAM, NO_STEP, Side } from "../../../src/chain/structs.ts";
import type { Pick, ProgramFacts, StepProof } from "../../../src/chain/structs.ts";
import { packState, type GameState } from "../../../src/chain/market/state.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import {
  climb,
  expansionAround,
  joined,
  leafPick,
  madeUp,
  manyMadeUp,
  sketched,
  sketchedClaim,
  sketchedRequest,
  SketchedGame,
  type Sketch,
} from "../../../testkit/protocol/sketch.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey } from "../../../testkit/protocol/world.ts";

const CHECKPOINTS = 5;
const ITEMS = 5;
/** The outputs of the programs, by the checkpoint that each is. Two are the same one. */
const CHECKPOINT = [4, 2, 2];
/** Outputs that are the last item's, of items that carry state; and outputs of items that do not. */
const CARRIED: Sketch = {
  inputs: ["shared", "carried"],
  outputs: CHECKPOINT.map((checkpoint) => ({ checkpoint })),
  checkpoints: CHECKPOINTS,
};
const APART: Sketch = {
  inputs: ["each", "index"],
  outputs: CHECKPOINT.map((checkpoint, k) => ({ checkpoint, each: k === 1 })),
  checkpoints: CHECKPOINTS,
};
const [LAST, EACH] = [0, 1];
/** Tensors of the items of output `EACH`. */
const tensors = MerkleList.fromHashes(manyMadeUp("tensor", ITEMS));

describe("DisputeGame: forged moves of games over answers", () => {
  const world = useWorld();

  /** A claim of three made-up outputs, of which that of each item is the list of some tensors. */
  async function answered(sketch: Sketch, items = ITEMS) {
    const program = sketched(sketch);
    const outputs = MerkleList.fromHashes([madeUp("a"), tensors.root, madeUp("c")]);
    const request = await sketchedRequest(world(), program, { items });
    const claim = await sketchedClaim(
      world(),
      request,
      [0, 1, 2].map((k) => outputs.node(0, k)),
    );
    const pick = (output: number): Pick => leafPick(outputs, output, program);
    return { program, outputs, claim, pick, game: () => new SketchedGame(world(), claim) };
  }
  type Answered = Awaited<ReturnType<typeof answered>>;

  const refused = async (sent: Promise<unknown>, why: RegExp): Promise<void> => {
    expect(await refusalOf(sent)).to.match(why);
  };
  const output = ({ outputs }: Answered, index: number) => outputs.node(0, index);
  /** A made-up trace of one of whose checkpoints a tensor is. */
  const traceAround = (tensor: `0x${string}`, checkpoint: number, hop = 3) =>
    expansionAround(tensor, { width: CHECKPOINTS, index: checkpoint, hop });
  /** A made-up run in whose last trace a tensor is. */
  const runAround = (tensor: `0x${string}`, checkpoint: number, levels = 3) =>
    expansionAround(
      tensor,
      { width: ITEMS, index: ITEMS - 1, hop: 3 },
      { index: checkpoint, siblings: manyMadeUp("trace", levels) },
    );
  /** A game over the items of the output that each has, in which they were revealed. */
  const amongItems = async (a: Answered): Promise<SketchedGame> => {
    const game = await a.game().open(a.pick(EACH), 9);
    const data = joined(Array.from({ length: 8 }, (_, k) => tensors.node(0, k)));
    return game.reveal(data);
  };
  const atItem = async (a: Answered, item: number): Promise<SketchedGame> =>
    (await amongItems(a)).pick(leafPick(tensors, item));

  describe("open", () => {
    it("leadsToEachOutput_whereItSays", async () => {
      const [carried, apart, single] = [await answered(CARRIED), await answered(APART), await answered(CARRIED, 1)];
      const common = { turn: Side.worker, runRoot: zeroHash, traceRoot: zeroHash, interiorRoot: zeroHash };
      for (const k of CHECKPOINT.keys()) {
        const at = { ...common, depth: 0, step: CHECKPOINT[k], number: k };
        expect((await carried.game().open(carried.pick(k), k)).state).to.include({
          ...at,
          ...{ level: Level.answer, item: ITEMS - 1, index: k, width: 3, node: output(carried, k) },
        });
        expect((await single.game().open(single.pick(k), k)).state).to.include({
          ...at,
          ...{ level: Level.items, item: 0, index: 0, width: 1, node: output(single, k) },
        });
        expect((await apart.game().open(apart.pick(k), k)).state).to.include(
          k === EACH
            ? { ...at, level: Level.items, depth: 3, item: 0, index: 0, width: ITEMS, node: tensors.root }
            : { ...at, level: Level.items, item: ITEMS - 1, index: 0, width: 1, node: output(apart, k) },
        );
      }
    });

    it("aboveTheOutputs_belowThem_orAtPadding_isRefused", async () => {
      const a = await answered(APART);
      const above = { ...a.pick(0), node: a.outputs.node(1, 0), siblings: a.outputs.path(0, 1) };
      await refused(a.game().open(above), /WrongPathLength\(1, 2\)/);
      const root = { ...a.pick(0), node: a.outputs.root, siblings: [] };
      await refused(a.game().open(root), /WrongPathLength\(0, 2\)/);
      const below = { ...a.pick(EACH), index: 8n, node: tensors.node(0, 0) };
      const siblings = [...tensors.path(0), ...a.outputs.path(EACH)];
      await refused(a.game().open({ ...below, siblings }), /WrongPathLength\(5, 2\)/);
      await refused(a.game().open(leafPick(a.outputs, 3, a.program)), /PickPastWidth\(3, 3\)/);
      await refused(a.game().open({ ...a.pick(0), index: 4n }), /PickNotBelowNode\(4, 0\)/);
    });

    it("withAnotherOutput_orAnotherPath_isRefused", async () => {
      const a = await answered(CARRIED);
      await refused(a.game().open({ ...a.pick(0), node: output(a, 1) }), /NotTheNode/);
      await refused(a.game().open({ ...a.pick(1), index: 0n }), /NotTheNode/);
      await refused(a.game().open({ ...a.pick(0), siblings: a.pick(1).siblings }), /NotTheNode/);
    });

    it("withoutTheProgram_orWithAnother_isRefused", async () => {
      const a = await answered(CARRIED);
      await refused(a.game().open({ ...a.pick(0), program: NO_PROGRAM }), /HeaderLength/);
      const others: ProgramFacts[] = [sketched(APART), { ...a.program, stepsRoot: zeroHash }];
      for (const program of others) await refused(a.game().open({ ...a.pick(0), program }), /WrongProgram/);
    });

    it("withOpeningsThatNobodyReads_isRefused", async () => {
      const unread = [madeUp("unread")];
      for (const sketch of [CARRIED, APART]) {
        const a = await answered(sketch);
        for (const k of CHECKPOINT.keys()) {
          const checkpoint = { ...NO_CHECKPOINT, siblings: unread };
          const step = { ...NO_STEP, siblings: unread };
          await refused(a.game().open({ ...a.pick(k), checkpoint }), /WrongPathLength\(1, 0\)/);
          await refused(a.game().open({ ...a.pick(k), step }), /WrongPathLength\(1, 0\)/);
          await refused(a.game().open({ ...a.pick(k), checkpoint, step }), /WrongPathLength\(2, 0\)/);
        }
      }
    });

    it("underANumberThatIsTaken_isRefused_underOthersAsOftenAsOneLikes", async () => {
      const a = await answered(CARRIED);
      const first = await a.game().open(a.pick(0), 7);
      for (const k of [0, 1]) await refused(a.game().open(a.pick(k), 7), /GameExists/);
      for (const number of [0, 2 ** 32 - 1]) await a.game().open(a.pick(0), number);
      await new SketchedGame(world(), a.claim, world().mallory).open(a.pick(0), 7);
      // A game that is over keeps its number.
      const { account } = world().watcher;
      await world().game.write.concede([first.packed, claimKey(world(), a.claim)], { account });
      await refused(a.game().open(a.pick(1), 7), /GameExists/);
    });
  });

  describe("expand of an output of items that carry state", () => {
    it("intoARunThatHasIt_entersTheRun", async () => {
      const a = await answered(CARRIED);
      const game = await a.game().open(a.pick(1));
      const expansion = runAround(output(a, 1), CHECKPOINT[1]!);
      await game.expand(expansion);
      const runRoot = MerkleList.fromHashes(expansion.children.slice(0, ITEMS)).root;
      expect(game.state).to.include({
        ...{ level: Level.run, depth: 3, index: 0, width: ITEMS, node: runRoot, runRoot, traceRoot: zeroHash },
        turn: Side.challenger,
      });
      // What was shown is not asked for again.
      const list = MerkleList.fromHashes(expansion.children.slice(0, ITEMS));
      const short = { ...leafPick(list, 0), node: list.node(1, 0), siblings: list.path(0, 1) };
      await refused(game.pick(short), /PickShortOfReveal\(2, 3\)/);
      await game.pick(leafPick(list, 3));
      expect(game.state).to.include({ level: Level.trace, depth: 3, item: 3, runRoot, traceRoot: list.node(0, 3) });
    });

    it("withAWayOfAnotherLength_isRefused", async () => {
      const a = await answered(CARRIED);
      const game = await a.game().open(a.pick(0));
      const right = runAround(output(a, 0), CHECKPOINT[0]!);
      const with_ = (siblings: readonly `0x${string}`[]) => game.expand({ ...right, siblings });
      await refused(with_(right.siblings.slice(1)), /WrongPathLength\(2, 3\)/);
      await refused(with_([]), /WrongPathLength\(0, 3\)/);
      await refused(with_([...right.siblings, madeUp("more")]), /SiblingCount\(1, 0\)/);
    });

    it("intoARunWhereItStandsElsewhere_isRefused", async () => {
      const a = await answered(CARRIED);
      const game = await a.game().open(a.pick(0));
      // At another checkpoint of the last trace, in a trace of another item, another output in its place.
      await refused(game.expand(runAround(output(a, 0), 3)), /LeafNotInList/);
      const siblings = manyMadeUp("trace", 3);
      for (let index = 0; index < ITEMS - 1; index++) {
        const elsewhere = expansionAround(
          output(a, 0),
          { width: ITEMS, index, hop: 3 },
          { index: CHECKPOINT[0]!, siblings },
        );
        await refused(game.expand(elsewhere), /LeafNotInList/);
      }
      await refused(game.expand(runAround(output(a, 1), CHECKPOINT[0]!)), /LeafNotInList/);
    });

    it("intoItsTraceAlone_orARunOfAnotherLength_isRefused", async () => {
      const a = await answered(CARRIED);
      const game = await a.game().open(a.pick(0));
      const trace = traceAround(output(a, 0), CHECKPOINT[0]!);
      await refused(game.expand(trace), /WrongPathLength\(0, 3\)/);
      // The trace's nodes as if they were the run's.
      await refused(game.expand({ ...trace, siblings: manyMadeUp("trace", 3) }), /LeafNotInList/);
      const right = runAround(output(a, 0), CHECKPOINT[0]!);
      for (const children of [right.children.slice(0, 4), [...right.children, ...right.children], []])
        await refused(game.expand({ ...right, children }), /WrongDataLength/);
      for (const padding of [5, 7]) {
        const children = right.children.with(padding, madeUp("padding"));
        await refused(game.expand({ ...right, children }), new RegExp(`PaddingNotZero\\(${padding}\\)`));
      }
    });
  });

  describe("expand of an item's output", () => {
    it("intoATraceThatHasIt_entersTheTrace_ofThatItem", async () => {
      const a = await answered(APART);
      const last = await a.game().open(a.pick(LAST), 1);
      await last.expand(traceAround(output(a, LAST), CHECKPOINT[LAST]!));
      const entered = { level: Level.trace, depth: 3, index: 0, width: CHECKPOINTS, runRoot: zeroHash };
      const { node } = last.state;
      expect(last.state).to.include({ ...entered, item: ITEMS - 1, traceRoot: node, turn: Side.challenger });
      const game = await atItem(a, 3);
      expect(game.state).to.include({ level: Level.items, depth: 0, item: 3, index: 3, step: CHECKPOINT[EACH] });
      await game.expand(traceAround(tensors.node(0, 3), CHECKPOINT[EACH]!));
      expect(game.state).to.include({ ...entered, item: 3, traceRoot: game.state.node });
    });

    it("intoATraceWhereItStandsElsewhere_orWithAnotherTensor_isRefused", async () => {
      const a = await answered(APART);
      const game = await atItem(a, 3);
      for (const checkpoint of [0, 1, 3, 4])
        await refused(game.expand(traceAround(tensors.node(0, 3), checkpoint)), /LeafNotInList/);
      // Traces of other items.
      for (const item of [0, 1, 2, 4])
        await refused(game.expand(traceAround(tensors.node(0, item), CHECKPOINT[EACH]!)), /LeafNotInList/);
      // The list of the items in place of one of them, and the claim's root.
      for (const root of [tensors.root, a.outputs.root])
        await refused(game.expand(traceAround(root, CHECKPOINT[EACH]!)), /LeafNotInList/);
    });

    it("withAWayOrNodesOfAnotherNumber_orPadding_isRefused", async () => {
      const a = await answered(APART);
      const game = await atItem(a, 1);
      const right = traceAround(tensors.node(0, 1), CHECKPOINT[EACH]!);
      await refused(game.expand({ ...right, siblings: [madeUp("more")] }), /SiblingCount\(1, 0\)/);
      for (const children of [right.children.slice(0, 4), [...right.children, ...right.children], []])
        await refused(game.expand({ ...right, children }), /WrongDataLength/);
      const children = right.children.with(5, madeUp("padding"));
      await refused(game.expand({ ...right, children }), /PaddingNotZero\(5\)/);
      // A run in which the item's trace is.
      await refused(
        game.expand(runAround(tensors.node(0, 1), CHECKPOINT[EACH]!)),
        /SiblingCount\(3, 0\)|LeafNotInList/,
      );
    });

    it("aboveTheLeaves_isRefused_andSoIsRevealingALeaf", async () => {
      const a = await answered(APART);
      const above = await a.game().open(a.pick(EACH));
      await refused(above.expand(traceAround(tensors.root, CHECKPOINT[EACH]!)), /NothingToExpand\(1, 3\)/);
      await refused(above.reveal(joined(manyMadeUp("other", 8))), /PaddingNotZero/);
      const other = MerkleList.fromHashes(manyMadeUp("other", ITEMS));
      const data = joined(Array.from({ length: 8 }, (_, k) => other.node(0, k)));
      await refused(above.reveal(data), /NotTheNode/);
      const leaf = await a.game().open(a.pick(LAST), 1);
      await refused(leaf.reveal(data), /NothingToReveal\(1\)/);
      const carried = await answered(CARRIED);
      await refused((await carried.game().open(carried.pick(0))).reveal(data), /NothingToReveal\(0\)/);
    });
  });

  it("itemsOfAnOutput_pickedPastTheLast_orWithAnother_isRefused", async () => {
    const a = await answered(APART);
    const game = await amongItems(a);
    for (const item of [5, 7]) await refused(game.pick(leafPick(tensors, item)), /PickPastWidth/);
    await refused(game.pick({ ...leafPick(tensors, 2), node: tensors.node(0, 3) }), /NotTheNode/);
    await refused(game.pick({ ...leafPick(tensors, 2), index: 3n }), /NotTheNode/);
    const short = { ...leafPick(tensors, 0), node: tensors.node(1, 0), siblings: tensors.path(0, 1) };
    await refused(game.pick(short), /PickShortOfReveal\(2, 3\)/);
  });

  it("expand_byAnyoneElse_isRefused_andByItsWorkerOnlyInItsTurn", async () => {
    const a = await answered(APART);
    const game = await a.game().open(a.pick(LAST));
    const right = traceAround(output(a, LAST), CHECKPOINT[LAST]!);
    for (const stranger of [world().watcher, world().mallory]) await refused(game.expand(right, stranger), /NotWorker/);
    await refused(game.pick(leafPick(tensors, 0)), /NotTurnOf/);
    await game.expand(right);
    await refused(game.expand(right), /NotTurnOf/);
  });

  it("expansion_bindsItsWorkerInOneGameOnly_andNoGameTakesTheOthersState", async () => {
    const a = await answered(CARRIED);
    const [one, two] = [await a.game().open(a.pick(0), 1), await a.game().open(a.pick(0), 2)];
    await one.expand(runAround(output(a, 0), CHECKPOINT[0]!));
    expect(two.state.runRoot).to.equal(zeroHash);
    const other = runAround(output(a, 0), CHECKPOINT[0]!);
    await two.expand({ ...other, children: other.children.with(0, madeUp("another item")) });
    expect(two.state.runRoot).not.to.equal(one.state.runRoot);
    const list = MerkleList.fromHashes(other.children.slice(0, ITEMS));
    for (const changes of [
      { runRoot: two.state.runRoot },
      { number: 2 },
      { item: 1 },
      { step: 1 },
      { level: Level.answer },
      { traceRoot: madeUp("trace") },
    ] satisfies Partial<GameState>[]) {
      const state = packState({ ...one.state, ...changes });
      const sent = world().game.write.pick([state, leafPick(list, 0)], { account: world().watcher.account });
      await refused(sent, /StaleState/);
    }
  });

  describe("prove above the traces", () => {
    const proofOf = (pick: Pick): StepProof => ({
      ...{ pick, body: "0x", element: 0n, chunk: "0x", chunkSiblings: [] },
      ...{ previous: zeroHash, previousSiblings: [], inputs: [], openings: [] },
    });
    const prove = (game: SketchedGame, pick: Pick): Promise<unknown> =>
      world().game.write.prove([game.packed, game.claim, proofOf(pick)], { account: world().watcher.account });

    it("atAnOutput_isNoTensor", async () => {
      const [carried, apart] = [await answered(CARRIED), await answered(APART)];
      const here = (index: bigint, node: `0x${string}`, program: ProgramFacts): Pick => ({
        ...{ ...NO_PICK, step: NO_STEP },
        ...{ index, node, program },
      });
      const one = await carried.game().open(carried.pick(2));
      await refused(prove(one, here(2n, output(carried, 2), carried.program)), /NotAtTensor\(0\)/);
      const two = await apart.game().open(apart.pick(2));
      await refused(prove(two, here(0n, output(apart, 2), apart.program)), /NotAtTensor\(1\)/);
      const three = await atItem(apart, 2);
      await refused(prove(three, here(2n, tensors.node(0, 2), apart.program)), /NotAtTensor\(1\)/);
      // Nor a step of the output's checkpoint, before the worker has shown a trace.
      const deeper = { ...leafPick(tensors, 2, apart.program), siblings: manyMadeUp("trace", 3) };
      await refused(prove(two, deeper), /WrongPathLength\(3, 0\)/);
    });

    it("amongItems_pickedDownToALeaf_isNoTensor", async () => {
      const a = await answered(APART);
      await refused(prove(await amongItems(a), leafPick(tensors, 2, a.program)), /NotAtTensor\(1\)/);
    });
  });

  it("answerOfOneOutput_isOpenedAtTheRoot", async () => {
    const program = sketched({ inputs: ["carried"], outputs: [{ checkpoint: 1 }], checkpoints: 2 });
    const root = madeUp("the output");
    const claim = await sketchedClaim(world(), await sketchedRequest(world(), program, { items: 3 }), [root]);
    expect(claim.root).to.equal(root);
    const list = MerkleList.fromHashes([root]);
    const game = new SketchedGame(world(), claim);
    await refused(game.open({ ...leafPick(list, 0, program), siblings: [zeroHash] }), /WrongPathLength\(1, 0\)/);
    await refused(game.open({ ...leafPick(list, 0, program), index: 1n }), /PickNotBelowNode|PickPastWidth/);
    await game.open(leafPick(list, 0, program));
    const siblings = manyMadeUp("trace", 1);
    const children = [madeUp("0"), madeUp("1"), climb(root, 1, siblings), zeroHash];
    await game.expand({ children, siblings });
    expect(game.state).to.include({ level: Level.run, width: 3, item: 2 });
  });
});
