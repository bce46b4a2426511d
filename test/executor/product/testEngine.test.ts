import { expect } from "chai";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../../src/executor/engine/matMulEngine.ts";
import { EngineFaultError, EngineUnfitError } from "../../../src/executor/errors.ts";
import { testEngine } from "../../../src/executor/product/testEngine.ts";
import { faultyEngine, type Faults } from "../../../testkit/programs/faultyEngine.ts";
import { rejection } from "../../../testkit/rejection.ts";

const SEEDS = 40;

describe("test of an engine at the start", function () {
  this.timeout(60_000);
  let engine: MatMulEngine;
  before(async () => void (engine = await onnxEngine()));
  after(() => engine.close());

  it("severalAtOnce_findNoFault", async () => {
    const engines = await Promise.all(Array.from({ length: 4 }, () => onnxEngine()));
    await Promise.all([...engines, ...engines].map((engine, seed) => testEngine(engine, seed)));
    await Promise.all(engines.map((engine) => engine.close()));
  });

  it("onnxruntime_passes_withEverySeed", async () => {
    for (let seed = 0; seed < 10 * SEEDS; seed++) await testEngine(engine, seed);
  });

  const FAULTS: Record<string, Faults> = {
    oneElement: { floats: (out) => void (out[out.length - 1] = -1 - out[out.length - 1]!) },
    oneElement_byOneByteSum: { bytes: (out) => void out[out.length - 1]!++ },
    resultsOfLessPrecision: {
      floats: (out) => out.set(Float32Array.from(out, (x) => Math.fround(x * (1 + 2 ** -30)))),
    },
    resultsThatAreNotWritten: { bytes: (out) => void out.fill(0) },
    lastColumns_ofOddNumbers: {
      floats: (out, { rows, columns }) => {
        for (let row = 0; columns % 2 === 1 && row < rows; row++) out[row * columns + columns - 1] = 0.1;
      },
    },
    lastElement_whereColumnsLieTermByTerm: {
      floats: (out, { isByTerms }) => void (isByTerms === true && (out[out.length - 1] = -1 - out.at(-1)!)),
    },
    lastTerm_whereThereAreMany: {
      floats(out, { columns, inner, isByTerms = false }, left, right) {
        if (inner < 64) return;
        for (let index = 0; index < out.length; index++) {
          const [row, column] = [Math.floor(index / columns), index % columns];
          const last = isByTerms ? (inner - 1) * columns + column : (column + 1) * inner - 1;
          out[index]! -= left[(row + 1) * inner - 1]! * right[last]!;
        }
      },
    },
  };

  /** Faults that the fixed products do not show: theirs have 33 terms. */
  const beside = ({ floats, bytes }: Faults): Faults => ({
    floats: (out, shape, ...operands) => (shape.inner === 33 ? undefined : floats?.(out, shape, ...operands)),
    ...(bytes && { bytes }),
  });

  for (const [name, faults] of Object.entries(FAULTS)) {
    it(`${name}_isFound`, async () => {
      const faulty = faultyEngine(engine, beside(faults));
      let found = 0;
      for (let seed = 0; seed < SEEDS; seed++)
        found += await testEngine(faulty, seed).then(
          () => 0,
          () => 1,
        );
      // One start draws a few products only: it may miss what is rare.
      expect(found).to.be.above(/where|Odd/.test(name) ? SEEDS / 4 : SEEDS - 1);
    });
  }

  it("operandsThatAreCopiedWhenAProductIsPrepared_areFound", async () => {
    const stale: MatMulEngine = {
      ...faultyEngine(engine, {}),
      product: (left, right, out, shape) => engine.product(left.slice(), right.slice(), out, shape),
    };
    expect(await rejection(testEngine(stale))).to.be.instanceOf(EngineFaultError);
  });

  it("resultsThatAreWrittenOnce_areFound", async () => {
    const once: MatMulEngine = {
      ...faultyEngine(engine, {}),
      product(left, right, out, shape) {
        const multiply = engine.product(left, right, out, shape);
        let calls = 0;
        return () => (calls++ === 0 ? multiply() : undefined);
      },
    };
    expect(await rejection(testEngine(once))).to.be.instanceOf(EngineFaultError);
  });

  it("theSeedInTheMessage_repeatsTheFailure", async () => {
    const faulty = faultyEngine(engine, beside(FAULTS.oneElement!));
    const { message } = await rejection(testEngine(faulty));
    const seed = /\(seed (\d+)\)/.exec(message);
    expect((await rejection(testEngine(faulty, Number(seed![1])))).message).to.equal(message);
    expect((await rejection(testEngine(faulty))).message).not.to.equal(message);
  });

  it("addonThatTakesNoSharedMemory_isRefused_andSaysWhichNodeDoes", async () => {
    const refusing: MatMulEngine = {
      ...faultyEngine(engine, {}),
      product(left, right, out, shape) {
        if (left.buffer instanceof SharedArrayBuffer) throw new Error("Invalid argument");
        return engine.product(left, right, out, shape);
      },
    };
    const failure = await rejection(testEngine(refusing));
    expect(failure).to.be.instanceOf(EngineUnfitError);
    expect(failure.message).to.match(/shared memory: Invalid argument; use Node 22\.21/);
  });
});
