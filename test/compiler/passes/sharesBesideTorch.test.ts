import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { wrapTraining, TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Model, TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { cutOf, SHARE_CASES, type ShareCase } from "../../../testkit/training/randomShares.ts";
import { SharedTraining, type ExecuteProgram } from "../../../testkit/training/shares.ts";

/** Debian's Python, where python3-torch is, before any other. */
const PYTHON = ["/usr/bin/python3", "python3"].find((python) => spawnSync(python, ["-c", "import torch"]).status === 0);
/** Of a gradient's greatest element: float32 forward and backward, beside float64. */
const TOLERANCE = 2e-5;

const valuesOf = ({ dtype, bytes, shape }: TensorData) => {
  const buffer = Uint8Array.from(bytes).buffer;
  const values = dtype === DType.int64 ? [...new BigInt64Array(buffer)].map(Number) : [...new Float32Array(buffer)];
  return { values, shape };
};

/** The case as the script reads it. */
function asked({ graph }: Model, weights: readonly string[], { loss, x, labels, batch }: ShareCase): string {
  const rows = (bytes: Uint8Array, dtype: DType, shape: readonly number[]) => valuesOf({ dtype, bytes, shape });
  const { name, dtype, shape } = graph.inputs[0]!;
  const floats = loss === "mse";
  const width = labels.length / batch / (floats ? 4 : 8);
  const tensors = Object.fromEntries([...graph.initializers].map(([key, tensor]) => [key, valuesOf(tensor)]));
  const nodes = graph.nodes.map(({ operator, inputs, outputs, attributes }) => ({
    ...{ op: operator, inputs, output: outputs[0] },
    attributes: Object.fromEntries(
      [...attributes].map(([key, { value }]) => [key, Array.isArray(value) ? value.map(Number) : Number(value)]),
    ),
  }));
  return JSON.stringify({
    ...{ nodes, weights, loss, output: graph.outputs[0]!.name },
    tensors: { ...tensors, [name]: rows(x, dtype, shape as number[]) },
    labels: rows(labels, floats ? DType.float32 : DType.int64, floats || width > 1 ? [batch, width] : [batch]),
  });
}

/** The gradient of all weights, as the sums of shares give it: the momentum after the first step. */
async function byShares(model: Model, { batch, loss, x, labels }: ShareCase, cut: readonly number[]) {
  expect(cut.reduce((sum, count) => sum + count, 0)).to.equal(batch);
  const training = new SharedTraining(model, { loss, optimiser: "momentum" });
  const given = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
  given
    .set("x", x)
    .set(TRAINING.labels, labels)
    .set(TRAINING.rates, floatTensor([1]).bytes);
  given.set(TRAINING.index, int64Tensor([0]).bytes);
  const execute: ExecuteProgram = async (compiled, inputs) => {
    const executor = await createExecutor(compiled, { threads: 1 });
    const tensors = (await executor.run(inputs)).tensors.map((tensor) => tensor.slice());
    await executor.close();
    return tensors;
  };
  const made = await training.cut(given, cut, execute);
  return [...new Float32Array(made.get(TRAINING.next("state_0"))!.buffer)];
}

/** Compares random cases. @returns the greatest difference, in parts of each weight tensor's greatest gradient */
async function greatestDifference(seeds: readonly number[]): Promise<number> {
  const torch = spawn(PYTHON!, ["test/golden/gradients/whole.py"], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: torch.stdout });
  const ended = once(torch, "exit").then(() => Promise.reject(new Error("whole.py ended")));
  ended.catch(() => undefined);
  let worst = 0;
  for (const seed of seeds)
    for (const make of Object.values(SHARE_CASES)) {
      const prng = new Prng(seed);
      const drawn = make(prng);
      const model = readModel(drawn.onnx);
      const { parts } = wrapTraining(model, { loss: drawn.loss, optimiser: "momentum" });
      const answer = Promise.race([once(lines, "line"), ended]);
      torch.stdin.write(
        `${asked(
          model,
          parts.map(({ name }) => name),
          drawn,
        )}\n`,
      );
      const own = await byShares(model, drawn, cutOf(prng, drawn.batch));
      const whole = JSON.parse(String((await answer)[0])) as number[];
      expect(own).to.have.length(whole.length);
      // A single class has no loss, and no gradient.
      const greatest = whole.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      own.forEach((value, k) => (worst = Math.max(worst, Math.abs(value - whole[k]!) / (greatest || 1))));
    }
  torch.stdin.end();
  return worst;
}

describe("sums over shares, beside PyTorch's gradient of the whole batch", function () {
  this.timeout(600_000);
  before(function () {
    if (PYTHON === undefined) {
      console.log("      skipped: no torch (python3-torch) on this machine");
      this.skip();
    }
  });

  itInTime("randomShapesAndCuts_agree", async () => {
    expect(await greatestDifference([1])).to.be.below(TOLERANCE);
  });

  itAtLength("manyRandomShapesAndCuts_agree", async () => {
    const seeds = Array.from({ length: 12 }, (_, k) => 500 + k);
    const worst = await greatestDifference(seeds);
    console.log(`      ${3 * seeds.length} models: at most ${worst.toExponential(1)} of the greatest gradient`);
    expect(worst).to.be.below(TOLERANCE);
  });
});
