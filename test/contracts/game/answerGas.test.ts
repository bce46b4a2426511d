import { expect } from "chai";
import { MOVE_GAS } from "../../../src/dispute/moveGas.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import {
  expansionAround,
  leafPick,
  manyMadeUp,
  sketched,
  sketchedClaim,
  sketchedRequest,
  SketchedGame,
  type Sketch,
} from "../../../testkit/protocol/sketch.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

const { open, seam, level, headerByte, expand, child } = MOVE_GAS;
const OUTPUTS = 16;
const CHECKPOINTS = 4_096;
const ITEMS = 65_536;
/** The disputed output, and the checkpoint that each output is. */
const OUTPUT = 11;
const CHECKPOINT = 2_730;

/** A program of the most outputs, each of them the same checkpoint. */
const full = (inputs: Sketch["inputs"], each = false): Sketch => ({
  ...(inputs === undefined ? {} : { inputs }),
  outputs: Array.from({ length: OUTPUTS }, () => ({ checkpoint: CHECKPOINT, each })),
  checkpoints: CHECKPOINTS,
});

describe("GasSchedule: answers", () => {
  const world = useWorld();
  const roots = manyMadeUp("output", OUTPUTS);

  /** A game over an output, opened. */
  async function opened(sketch: Sketch, items = ITEMS) {
    const program = sketched(sketch);
    const own = roots.slice(0, sketch.outputs.length);
    const claim = await sketchedClaim(world(), await sketchedRequest(world(), program, { items }), own);
    const index = Math.min(OUTPUT, own.length - 1);
    const game = await new SketchedGame(world(), claim).open(leafPick(MerkleList.fromHashes(own), index, program));
    return { game, headerBytes: (program.header.length - 2) / 2 };
  }
  const openPrice = (headerBytes: number): bigint => BigInt(open + 4 * level + seam + headerBytes * headerByte);

  /** An expansion is paid what it burns, which is at most its price and not much less. */
  const isPriced = ({ gas, paid }: SketchedGame, levels: number): void => {
    const price = BigInt(expand + 16 * child + levels * level);
    const said = `burns ${gas}, is paid ${paid}, at most ${price}`;
    expect(gas <= paid && paid <= gas + 700n, said).to.equal(true);
    expect(gas <= price && gas * 105n >= price * 100n, said).to.equal(true);
  };

  it("expandIntoALongRun_throughALongTrace_costsAtMostItsPrice_andNotMuchLess", async () => {
    const { game } = await opened(full(["carried"]));
    const trace = { index: CHECKPOINT, siblings: manyMadeUp("trace", 12) };
    await game.expand(expansionAround(roots[OUTPUT]!, { width: ITEMS, index: ITEMS - 1, hop: 4 }, trace));
    isPriced(game, 24);
  });

  it("expandIntoAShortRun_costsAtMostItsPrice_andNotMuchLess", async () => {
    const { game } = await opened(full(["carried"]), 16);
    const trace = { index: CHECKPOINT, siblings: manyMadeUp("trace", 12) };
    await game.expand(expansionAround(roots[OUTPUT]!, { width: 16, index: 15, hop: 4 }, trace));
    isPriced(game, 12);
  });

  it("expandIntoATrace_costsAtMostItsPrice_andNotMuchLess", async () => {
    const { game } = await opened(full(["each", "shared"]));
    await game.expand(expansionAround(roots[OUTPUT]!, { width: CHECKPOINTS, index: CHECKPOINT, hop: 4 }));
    isPriced(game, 8);
  });

  for (const [name, inputs, each] of [
    ["ofEachItem", ["each"], true],
    ["ofTheLastItem", ["each"], false],
    ["ofItemsThatCarryState", ["carried"], false],
  ] as const) {
    it(`openAtAnOutput_${name}_isPaidAsBurnt`, async () => {
      const { game, headerBytes } = await opened(full(inputs, each));
      const { gas, paid } = game;
      const said = `burns ${gas}, is paid ${paid}, at most ${openPrice(headerBytes)}`;
      expect(paid >= gas && paid * 100n <= gas * 102n, said).to.equal(true);
    });
  }

  it("openAtAnOutput_ofAProgramWithTheMostInputs_isPaidAsBurnt", async () => {
    // The longest headers: items carry nothing, or the last input, so that every input is looked at. Bytes of a number
    // of elements are zero, or none of them is.
    for (const last of ["each", "carried"] as const) {
      for (const elements of [1, 2 ** 32 - 1]) {
        const inputs = [...new Array<"each">(142).fill("each"), last];
        const sketch = { inputs, elements, outputs: [{ checkpoint: CHECKPOINT }], checkpoints: CHECKPOINTS };
        const { game, headerBytes } = await opened(sketch, 2);
        expect(headerBytes).to.be.within(2_035, 2_048);
        const said = `burns ${game.gas}, is paid ${game.paid}, at most ${openPrice(headerBytes)}`;
        expect(game.paid >= game.gas && game.paid * 100n <= game.gas * 102n, said).to.equal(true);
      }
    }
  });
});
