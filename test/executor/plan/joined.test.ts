import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { partsOf } from "../../../src/executor/plan/planParts.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { Team } from "../../../src/executor/threads/threadPool.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** Inputs of so many rows each, joined, and nodes behind that. */
function joined(rows: readonly number[], columns: number, nodes: readonly NodeSpec[] = []) {
  const inputs = rows.map((_, k) => `x${k}`);
  const last = nodes.at(-1)?.outputs[0] ?? "joined";
  return compile(
    readModel(
      buildModel({
        opset: 21,
        irVersion: 10,
        inputs: rows.map((count, k) => ({ name: `x${k}`, dtype: DType.float32, shape: [count, columns] })),
        outputs: [{ name: last, dtype: DType.float32 }],
        nodes: [{ op: "Concat", inputs, outputs: ["joined"], attributes: { axis: 0 } }, ...nodes],
      }),
    ),
    { shapes: {} },
  );
}

describe("steps that join tensors", () => {
  const cases: [name: string, rows: readonly number[], columns: number, nodes: readonly NodeSpec[], parts: number][] = [
    ["vectors", [4096, 1, 3, 8191], 1, [], 4],
    ["rows", [5, 40, 2], 129, [], 3],
    [
      "with arithmetic behind them",
      [300, 500],
      7,
      [
        { op: "Mul", inputs: ["joined", "joined"], outputs: ["m"] },
        { op: "Sub", inputs: ["m", "joined"], outputs: ["y"] },
      ],
      2,
    ],
    ["of few elements", [5, 6], 3, [], 0],
  ];
  for (const [name, rows, columns, nodes, parts] of cases)
    it(`${name}: part by part, with the bits of the reference`, async () => {
      const model = joined(rows, columns, nodes);
      const prng = new Prng(1);
      const inputs = rows.map(
        (count) =>
          numberTensor(
            DType.float32,
            Array.from({ length: count * columns }, () => prng.uint32() - 2 ** 31),
          ).bytes,
      );
      const step = model.program.steps.find(({ epilogueReads }) => epilogueReads.length >= rows.length)!;
      expect(partsOf(step)?.length ?? 0).to.equal(parts);
      const expected = executeReference(model, inputs);
      const check = async (options: ExecutorOptions): Promise<void> => {
        const executor = await createExecutor(model, options);
        const { tensors } = await executor.run(inputs);
        tensors.forEach((tensor, k) => expect(Buffer.compare(tensor, expected[k]!)).to.equal(0));
        await executor.close();
      };
      await check({ threads: 1 });
      const team = Team.hold(2);
      await check({ threads: 2, minSplit: 0, evenly: true });
      await team.release();
    });
});
