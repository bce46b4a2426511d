import { expect } from "chai";
import { createExecutor, maxThreads, type Executor, type ExecutorOptions } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import { isExact } from "../../src/executor/engine/byteEngine.ts";
import type { MatMulEngine, MatrixShape } from "../../src/executor/engine/matMulEngine.ts";
import { selfTestExecutor } from "../../src/executor/selfTest.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { EngineFaultError } from "../../src/executor/errors.ts";
import { CannotRunHereError } from "../../src/base/platform.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { AT_LENGTH, itInTime } from "../../testkit/atLength.ts";
import { rejection } from "../../testkit/rejection.ts";

const SEEDS = AT_LENGTH ? 5 : 2;

/** The self test, with something put around each run of the executor. */
const around = (change: (run: Executor["run"]) => Executor["run"]) =>
  selfTestExecutor(async (model, options) => {
    const executor = await createExecutor(model, options);
    const run = change((inputs, options) => executor.run(inputs, options));
    return { ...executor, run };
  });

/** The self test with another engine, on one thread. */
const withEngine = (engine: MatMulEngine) =>
  selfTestExecutor((model: CompiledModel, options: ExecutorOptions) => createExecutor(model, { ...options, engine }));

describe("self test of the executor", () => {
  let engine: MatMulEngine;
  before(async () => void (engine = await onnxEngine()));
  after(() => engine.close());

  itInTime("thisMachine_passes_onAsManyThreadsAsJobsGet", async () => {
    expect((await selfTestExecutor()).threads).to.equal(Math.max(2, maxThreads()));
  });

  it("aHealthyMachine_passesWithEverySeed", async () => {
    for (let seed = 0; seed < SEEDS; seed++) await selfTestExecutor(createExecutor, seed);
  });

  itInTime("onnxruntime_computesProductsOfFloats_andOfBytes", async () => {
    const calls = { floats: 0, bytes: 0 };
    await withEngine({
      product: (...args) => (calls.floats++, engine.product(...args)),
      bytes: {
        minRight: engine.bytes!.minRight,
        product: (...args) => (calls.bytes++, engine.bytes!.product(...args)),
      },
      close: () => Promise.resolve(),
    });
    expect(calls.floats).to.be.above(0);
    expect(calls.bytes).to.be.above(0);
  });

  itInTime("addonThatTakesNoSharedMemory_isRefused", async () => {
    // As in Node before 22.21: products in memory that is not shared pass.
    const failure = await rejection(
      withEngine({
        ...engine,
        product: (left, right, out, shape) => {
          if (left.buffer instanceof SharedArrayBuffer) throw new Error("Invalid argument");
          return engine.product(left, right, out, shape);
        },
      }),
    );
    expect(failure).to.be.instanceOf(CannotRunHereError).and.to.have.property("code", "CANNOT_RUN_HERE");
    expect((failure as Error).message).to.match(/Invalid argument/);
  });

  itInTime("engineWhoseByteProductsAreWrong_isRefused", async () => {
    let isWrong: (shape: MatrixShape) => boolean = () => true;
    const bytes: NonNullable<MatMulEngine["bytes"]> = {
      minRight: engine.bytes!.minRight,
      product: (left, right, zeros, out, shape) => {
        const run = engine.bytes!.product(left, right, zeros, out, shape);
        return () => {
          void run();
          if (isWrong(shape)) out[0]! ^= 1;
        };
      },
    };
    expect(isExact(bytes)).to.equal(false);
    const failure = await rejection(withEngine({ ...engine, bytes }));
    expect(failure).to.be.instanceOf(CannotRunHereError);
    expect(failure.cause).to.be.instanceOf(EngineFaultError);
    expect(failure.message).to.match(/of bytes has wrong sums.*\(seed \d+\)$/);
    // Of a shape that the engine's own test does not try.
    isWrong = ({ inner }) => inner === 96;
    const later = await rejection(withEngine({ ...engine, bytes }));
    expect(later.cause).to.be.instanceOf(EngineFaultError);
    expect(later.message).to.match(/\[4, 96\] x \[96, 64\] of bytes has wrong sums/);
  });

  itInTime("threadThatFails_isRefused", async () => {
    const failure = await rejection(selfTestExecutor(() => Promise.reject(new Error("a worker thread failed"))));
    expect(failure).to.be.instanceOf(CannotRunHereError);
    expect((failure as Error).message).to.match(/a worker thread failed/);
  });

  itInTime("aWrongBitInABlock_isRefused", async () => {
    const failure = await rejection(
      selfTestExecutor(async (model, options) => {
        const executor = await createExecutor(model, options);
        const runBlock: Executor["runBlock"] = async (items) => {
          const result = await executor.runBlock(items);
          result.items.at(-1)!.tensors.at(-1)![3]! ^= 1;
          return result;
        };
        return { ...executor, runBlock };
      }),
    );
    expect(failure.message).to.match(/has other bits in a block of items/);
  });

  itInTime("aWrongBit_orAWrongHash_isRefused", async () => {
    const flipped = await rejection(
      around((run) => async (inputs, options) => {
        const result = await run(inputs, options);
        result.tensors.at(-1)![3]! ^= 1;
        return result;
      }),
    );
    expect((flipped as Error).message).to.match(/has other bits than the definition/);
    const misHashed = await rejection(
      around((run) => async (inputs, options) => {
        const result = await run(inputs, options);
        for (const step of options!.trees!.keys())
          options!.trees!.set(step, MerkleList.fromHashes([`0x${"0".repeat(64)}`]));
        return result;
      }),
    );
    expect(misHashed).to.be.instanceOf(CannotRunHereError);
    expect((misHashed as Error).message).to.match(/hashes of step/);
  });
});
