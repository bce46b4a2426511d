import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { plainOutputs } from "../../src/native/plain/plainRun.ts";
import { firstDifference } from "../../src/examine/conform/tolerance.ts";
import { bindInputs } from "../../src/model/onnx/bindInputs.ts";
import { shapesOf } from "../../src/model/onnx/inputs/readInputFile.ts";
import { elementCount, type Model, type TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { executeBoth } from "../../testkit/models/executeBoth.ts";
import {
  LLAMA_100M,
  LLAMA_TINY,
  llama,
  llamaInputs,
  parameterCount,
  type LlamaShape,
} from "../../testkit/models/llama.ts";
import { writeInTwoFiles } from "../../testkit/onnx/dataFile.ts";
import { runOnnxruntime } from "../../testkit/onnx/onnxruntime.ts";

/** The program for the shapes of the inputs, the mask known where there is a past. */
function compiled(bytes: Uint8Array, inputs: ReadonlyMap<string, TensorData>, past: number): CompiledModel {
  const isBound = (name: string): boolean => past > 0 && name === "attention_mask";
  const [bound, given] = [true, false].map((wanted) => new Map([...inputs].filter(([n]) => isBound(n) === wanted)));
  return compile(bindInputs(readModel(bytes), bound!), { shapes: shapesOf(given!) });
}

/** The weights that a file holds: of products and tables of four bits, and the floats of other tables and gains. */
function weightsIn({ graph: { nodes, initializers } }: Model): number {
  const number = (value: unknown): number => Number((value as { value: bigint }).value);
  let count = 0;
  for (const { operator, inputs, attributes } of nodes) {
    if (operator === "MatMulNBits") count += number(attributes.get("K")) * number(attributes.get("N"));
    if (operator === "GatherBlockQuantized") count += 2 * elementCount(initializers.get(inputs[0]!)!.shape);
    if (operator === "Gather" && inputs[1] === "input_ids") count += elementCount(initializers.get(inputs[0]!)!.shape);
    if (operator.endsWith("SimplifiedLayerNormalization"))
      count += elementCount(initializers.get(inputs.at(-1)!)!.shape);
  }
  return count;
}

describe("LLaMA of four bits", () => {
  const CASES: readonly [name: string, tokens: number, past: number, more: Partial<LlamaShape>][] = [
    ["prompt", 6, 0, {}],
    ["promptWithZeroPoints", 5, 0, { zeroPoints: true, packedTable: true }],
    ["nextToken", 1, 7, {}],
    ["nextTokensOfAPackedTable", 3, 4, { packedTable: true }],
  ];
  for (const [name, tokens, past, more] of CASES) {
    it(`${name}_agreesWithOnnxruntime_fastIsBitEqualToReference`, async () => {
      const shape = { ...LLAMA_TINY, ...more };
      const bytes = llama(shape);
      const inputs = llamaInputs(shape, tokens, past);
      const model = compiled(bytes, inputs, past);
      const given = model.inputs.map((input) => inputs.get(input.name)!.bytes);
      const reference = await executeBoth(model, given);
      const expected = await runOnnxruntime(bytes, inputs);
      expect(model.outputs.map((output) => output.name)).to.have.members([...expected.keys()]);
      model.outputs.forEach((output, k) => {
        const { step } = model.program.checkpoints[model.program.outputs[k]!]!;
        const wanted = expected.get(output.name)!;
        expect(output.shape).to.deep.equal([...wanted.shape]);
        // onnxruntime rounds each of a product's sums in float32, which moves results that are near 0 the most.
        const found = firstDifference({ ...output, bytes: reference[step]! }, wanted, { rtol: 1e-4, atol: 1e-5 });
        expect(found, output.name).to.equal(undefined);
      });
    }).timeout(60_000);
  }

  it("weightsInAFileOfTheirOwn_sameProgram_sameResultOfOnnxruntime", async () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-"));
    try {
      const [path, bytes, inputs] = [join(folder, "m.onnx"), llama(LLAMA_TINY), llamaInputs(LLAMA_TINY, 2)];
      writeInTwoFiles(path, bytes);
      const [one, two] = [bytes, path].map(
        (from) => compile(readModel(from), { shapes: shapesOf(inputs) }).programRoot,
      );
      expect(two).to.equal(one);
      const [whole, split] = [await plainOutputs(bytes, inputs), await plainOutputs(path, inputs)];
      expect(split).to.deep.equal(whole);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }).timeout(60_000);

  it("parameterCount_isWhatTheFileHolds", () => {
    for (const more of [{}, { packedTable: true, zeroPoints: true }]) {
      const shape = { ...LLAMA_TINY, ...more };
      expect(weightsIn(readModel(llama(shape)))).to.equal(parameterCount(shape));
    }
    expect(parameterCount(LLAMA_100M)).to.be.above(1e8);
  });

  it("sameSeed_sameBytes", () => {
    expect(Buffer.compare(llama(LLAMA_TINY, 3), llama(LLAMA_TINY, 3))).to.equal(0);
    expect(Buffer.compare(llama(LLAMA_TINY, 3), llama(LLAMA_TINY, 4))).to.not.equal(0);
  });
});
