import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { NodeList } from "../../../src/compiler/nodes.ts";
import { sampledToken } from "../../../src/compiler/wraps/sampling.ts";
import { philox } from "../../../src/compiler/operators/philox.ts";
import { createExecutor, type Executor } from "../../../src/executor/createExecutor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Model } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { Prng } from "../../../testkit/random/prng.ts";

type Draw = { logits: readonly number[]; temperature: number; topK: number; topP: number; seed: bigint; index: number };

/** A program of nothing but the choice of a token. */
function choosing(vocabulary: number): CompiledModel {
  const n = new NodeList("decoder.");
  const names = { temperature: "temperature", topK: "topK", topP: "topP", seed: "seed", index: "index" };
  const token = sampledToken(n, "logits", names);
  const input = (name: string, dtype: DType, length = 1) => ({ name, dtype, shape: [length] });
  const model: Model = {
    source: "model",
    irVersion: 10,
    opsets: new Map([["", 21]]),
    graph: {
      name: "choice",
      inputs: [
        input("logits", DType.float32, vocabulary),
        ...["temperature", "topP"].map((name) => input(name, DType.float32)),
        ...["topK", "seed", "index"].map((name) => input(name, DType.int64)),
      ],
      outputs: [{ name: token, dtype: DType.int64, shape: undefined }],
      nodes: n.nodes,
      initializers: n.initializers,
    },
  };
  return compile(model, { shapes: {} });
}

async function drawn(model: CompiledModel, executor: Executor, draw: Draw): Promise<number> {
  const { tensors } = await executor.run([
    floatTensor(draw.logits).bytes,
    floatTensor([draw.temperature]).bytes,
    floatTensor([draw.topP]).bytes,
    int64Tensor([draw.topK]).bytes,
    int64Tensor([BigInt.asIntN(64, draw.seed)]).bytes,
    int64Tensor([draw.index]).bytes,
  ]);
  const { step } = model.program.checkpoints[model.program.outputs[0]!]!;
  return Number(new DataView(tensors[step]!.buffer, tensors[step]!.byteOffset).getBigInt64(0, true));
}

/** The probabilities of tokens after temperature, top-k and top-p, by sorting, in float64. */
function probabilities({ logits, temperature, topK, topP }: Draw): number[] {
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - largest) / temperature));
  const order = logits.map((_, k) => k).sort((a, b) => weights[b]! - weights[a]!);
  const left = order.slice(0, topK > 0 ? topK : order.length);
  const total = left.reduce((sum, k) => sum + weights[k]!, 0);
  const kept: number[] = [];
  let sum = 0;
  for (const k of left) {
    if (sum >= topP * total && kept.length > 0) break;
    kept.push(k);
    sum += weights[k]!;
  }
  return logits.map((_, k) => (kept.includes(k) ? weights[k]! / sum : 0));
}

/** The token by Gumbel-max in float64. */
function expected(draw: Draw): number {
  const { logits, seed, index } = draw;
  const key = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
  const scores = probabilities(draw).map((probability, k) => {
    const word = philox([Math.floor(k / 4), index, 0, 2], key)[k % 4]!;
    return Math.log(probability) - Math.log(-Math.log1p(-(word + 0.5) / 2 ** 32));
  });
  expect(scores).to.have.length(logits.length);
  return scores.indexOf(Math.max(...scores));
}

describe("drawing tokens", () => {
  const prng = new Prng(11);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - prng.uint32() / 2 ** 32)) * Math.cos(prng.uint32());
  const logits = (count: number): number[] => Array.from({ length: count }, () => Math.fround(4 * normal()));

  it("tokens_areThoseOfADirectComputation", async () => {
    const model = choosing(203);
    const executor = await createExecutor(model, { threads: 1 });
    for (let index = 0; index < 60; index++) {
      const draw: Draw = {
        logits: logits(203),
        temperature: prng.pick([0.3, 1, 2.5]),
        topK: prng.pick([0, 1, 5, 50, 203, 1000]),
        topP: prng.pick([0.1, 0.5, 0.9, 0.99, 1]),
        seed: prng.bits(64),
        index,
      };
      expect(await drawn(model, executor, draw), JSON.stringify({ ...draw, logits: 0, seed: 0 })).to.equal(
        expected(draw),
      );
    }
    await executor.close();
  });

  it("frequencies_areTheProbabilities", async () => {
    const model = choosing(12);
    const executor = await createExecutor(model, { threads: 1 });
    const draws = 4000;
    const draw = { logits: logits(12), temperature: 3, topK: 10, topP: 0.97, seed: 77n };
    const counts = new Array<number>(12).fill(0);
    for (let index = 0; index < draws; index++) counts[await drawn(model, executor, { ...draw, index })]!++;
    await executor.close();
    const wanted = probabilities({ ...draw, index: 0 });
    expect(wanted.filter((p) => p === 0).length).to.be.above(1);
    const square = wanted.reduce((sum, p, k) => {
      if (p === 0) expect(counts[k]).to.equal(0);
      return p === 0 ? sum : sum + (counts[k]! - draws * p) ** 2 / (draws * p);
    }, 0);
    // Chi squared with at most 9 degrees of freedom is above 33.7 once in 10,000 times.
    expect(square).to.be.below(33.7);
  });

  it("temperatureOfZero_isTheFirstOfTheLargest", async () => {
    const model = choosing(7);
    const executor = await createExecutor(model, { threads: 1 });
    const draw = { temperature: 0, topK: 0, topP: 1, seed: 1n, index: 0 };
    expect(await drawn(model, executor, { ...draw, logits: [0, 3, 1, 3, -Infinity, 2, 3] })).to.equal(1);
    await executor.close();
  });

  it("tokensOfNoProbability_areNotDrawn", async () => {
    const model = choosing(5);
    const executor = await createExecutor(model, { threads: 1 });
    const never = [-Infinity, 1, -Infinity, -Infinity, 1.5];
    for (let index = 0; index < 40; index++)
      expect(
        await drawn(model, executor, { logits: never, temperature: 1, topK: 0, topP: 1, seed: 3n, index }),
      ).to.be.oneOf([1, 4]);
    await executor.close();
  });
});
