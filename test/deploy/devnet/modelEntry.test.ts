import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { modelEntry } from "../../../src/deploy/devnet/modelEntry.ts";
import { readModels } from "../../../src/cli/models.ts";

/** One of each option of a models file. */
const ENTRIES = [
  { path: "plain.onnx" },
  {
    path: "all.onnx",
    shapes: { x: [1, 3, 48, 192] },
    dims: { N: 2 },
    bind: { sr: 16_000 },
    lengths: { list: 2 },
    uint8: [{ input: "x", layout: "NCHW", scale: 1, mean: [0.5], std: [0.5], reverse: true }],
    decide: { y: "top5", z: "round=2" },
    drawn: { noise: { low: -1, high: 1, shape: [2] } },
    noise: { w: 0.5 },
    stepBytes: 50_000,
    seed: "18446744073709551615",
    limits: { seconds: 60 },
  },
  { path: "run.onnx", run: { each: ["x"], carried: { past: "present" }, lastOutputs: ["y"] }, seedInput: true },
  { path: "decoder.onnx", decoder: { slots: 64, endTokens: [2], greedy: true } },
  { path: "train.onnx", train: { loss: "mse", output: "y", optimiser: "adam", attributes: { beta: 0.5 }, rates: 3 } },
];

describe("modelEntry", () => {
  it("entries_areReadAsTheModelsThatTheyWere", () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-"));
    const read = (entries: object) => {
      writeFileSync(join(folder, "models.json"), JSON.stringify(entries));
      return readModels(join(folder, "models.json"));
    };
    try {
      const specs = read(ENTRIES);
      expect(read(specs.map(modelEntry))).to.deep.equal(specs);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
