import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { compile } from "../../src/compiler/compile.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { blocksOf } from "../../src/executor/blocks/blocksOf.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { GraphBuilder } from "../../testkit/onnx/graphBuilder.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";

const ITEMS = 130;
const [WIDTH, ANSWERS] = [24, 5];

/** Two dense layers, with an input and an output for each item. */
function denseModel(): CompiledModel {
  const g = new GraphBuilder();
  const weights = (rows: number, columns: number): string =>
    g.constant(
      floatTensor(
        Array.from({ length: rows * columns }, (_, k) => Math.sin(k)),
        [rows, columns],
      ),
    );
  const hidden = g.node("Relu", [g.node("MatMul", ["x", weights(WIDTH, WIDTH)])]);
  g.nodes.push({ op: "MatMul", inputs: [hidden, weights(WIDTH, ANSWERS)], outputs: ["y"] });
  const bytes = buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, WIDTH] }],
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: g.nodes,
    initializers: g.initializers,
  });
  return compile(readModel(bytes), { shapes: {}, run: { each: ["x"], eachOutputs: ["y"] } });
}

describe("items that take nothing from each other", function () {
  this.timeout(60_000);
  const executors = new FastExecutors({ threads: 1 });
  const { block } = executors.execute;
  after(() => executors.close());

  /** @param slow How long each item and each block takes more, milliseconds. */
  async function run(
    model: CompiledModel,
    slow: { item?: number; block?: number },
    together: Execute["block"] | null = block,
  ) {
    const counts = { singles: 0, blocks: 0 };
    const one: Execute = async (...asked) => {
      counts.singles++;
      await sleep(slow.item ?? 0);
      return executors.execute(...asked);
    };
    const many: Execute["block"] = async (asked, order) => {
      counts.blocks++;
      await sleep(slow.block ?? 0);
      return together!(asked, order);
    };
    const bytes = floatTensor(Array.from({ length: ITEMS * WIDTH }, (_, k) => Math.cos(k))).bytes;
    const inputs = new RunInputs(model.program.inputs, { items: ITEMS, firstItem: 0 }, [bytes]);
    const execute = Object.assign(one, together && { block: many });
    const { runRoot, answer } = await executeRun(knownProgram(model), inputs, execute);
    return { roots: [runRoot, answer.root], ...counts };
  }

  it("areExecutedInBlocks_whereBlocksAreFaster", async () => {
    const model = denseModel();
    const alone = await run(model, {}, null);
    expect([alone.singles, alone.blocks]).to.deep.equal([ITEMS, 0]);
    // Seventeen items are timed, and the last one is executed by itself.
    const fast = await run(model, { item: 20 });
    expect(fast).to.deep.equal({ roots: alone.roots, singles: 18, blocks: 4 });
    expect(await run(model, { item: 20 })).to.deep.equal({ roots: alone.roots, singles: 1, blocks: 5 });
  });

  it("areExecutedOneByOne_whereBlocksAreSlower", async () => {
    const model = denseModel();
    const slow = await run(model, { block: 2_000 });
    expect([slow.singles, slow.blocks]).to.deep.equal([ITEMS - 64, 2]);
    const again = await run(model, {});
    expect([again.singles, again.blocks]).to.deep.equal([ITEMS, 0]);
    expect(again.roots).to.deep.equal(slow.roots);
  });

  it("areExecutedOneByOne_whereAnExecutorHasNoBlocks", async () => {
    const none: Execute["block"] = () => Promise.resolve({ items: [], carried: new Map(), isWrong: false });
    const found = await run(denseModel(), {}, none);
    expect([found.singles, found.blocks]).to.deep.equal([ITEMS, 1]);
    expect(found.roots).to.deep.equal((await run(denseModel(), {}, null)).roots);
  });

  it("haveBlocksOnlyInProgramsThatMultiplyFewVectors", () => {
    expect(blocksOf(denseModel().program, [])?.lengths).to.deep.equal([4, 8, 16, 32, 48, 64]);
    const shape = (...of: number[]) => of;
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: DType.float32, shape: shape(1, 3, 8, 8) }],
      outputs: [{ name: "y", dtype: DType.float32 }],
      nodes: [{ op: "Conv", inputs: ["x", "w"], outputs: ["y"], attributes: { kernel_shape: [3, 3] } }],
      initializers: {
        w: floatTensor(
          Array.from({ length: 108 }, (_, k) => Math.sin(k)),
          shape(4, 3, 3, 3),
        ),
      },
    });
    const { program } = compile(readModel(bytes), { shapes: {}, run: { each: ["x"], eachOutputs: ["y"] } });
    expect(blocksOf(program, [])).to.equal(undefined);
  });
});
