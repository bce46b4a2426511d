import { expect } from "chai";
import type { Hex } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { waitForResult } from "../../src/parties/requester/result.ts";
import { everyFourth } from "../../testkit/atLength.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { ETHEREUM_LIMITS, ROLLUP_MAX_BYTES } from "../../testkit/nodes/poolRules.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { first, reference, type Running } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import type { WorkerOptions } from "../../src/parties/worker/options.ts";

const WINDOW_OVER = 3_601;

/** `MAX_OUTPUT_BYTES` of contracts/market/MarketParameters.sol. */
const LARGEST_OUTPUT = 65_536;

/** Takes the first ten numbers of an input of bytes. */
const headOf = (shape: readonly number[]): KnownProgram => {
  const slice = { starts: int64Tensor([0]), ends: int64Tensor([10]), axes: int64Tensor([0]), all: int64Tensor([-1]) };
  const bytes = buildModel({
    inputs: [{ name: "x", dtype: DType.uint8, shape }],
    outputs: [{ name: "y", dtype: DType.uint8, shape: [10] }],
    initializers: slice,
    nodes: [
      { op: "Reshape", inputs: ["x", "all"], outputs: ["flat"] },
      { op: "Slice", inputs: ["flat", "starts", "ends", "axes"], outputs: ["y"] },
    ],
  });
  return knownProgram(compile(readModel(bytes), { shapes: {} }));
};

/** Spreads a row of float16 over a matrix. */
const matrixOf = (rows: number, columns: number): KnownProgram => {
  const bytes = buildModel({
    inputs: [{ name: "x", dtype: DType.float16, shape: [1, columns] }],
    outputs: [{ name: "y", dtype: DType.float16, shape: [rows, columns] }],
    initializers: { shape: int64Tensor([rows, columns]) },
    nodes: [{ op: "Expand", inputs: ["x", "shape"], outputs: ["y"] }],
  });
  return knownProgram(compile(readModel(bytes), { shapes: {} }));
};

const bytesOf = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, k) => (k * 31) % 251);

/** Small positive numbers. */
const halves = (count: number): Uint8Array => Uint8Array.from({ length: 2 * count }, (_, k) => (k % 2 ? 0x3c : k));

/** Transactions that a pool takes, by the pool's limit, bytes. */
const POOLS = { "Ethereum's pools": ETHEREUM_LIMITS.maxBytes, "a rollup's pool": ROLLUP_MAX_BYTES };

describe("transactions through a pool", function () {
  const players = usePlayers("test");
  let worker: Running<WorkerEvent>;
  const startWorker = async (key: Hex, program: KnownProgram, options: Partial<WorkerOptions> = {}): Promise<void> =>
    void (worker = await players().startWorker(key, program, reference(), options));
  // Before the chain is closed.
  const stopWorker = () => worker.stop();
  const ending = (title: string, test: () => Promise<void>) => it(title, () => test().finally(stopWorker));

  /** Has a job executed, and returns the outputs that were delivered. */
  async function answered(program: KnownProgram, input: Uint8Array): Promise<ReadonlyMap<number, Uint8Array>> {
    await startWorker(await players().workerKey(), program);
    const { requester, jobId } = await players().post(program, [input]);
    await first(worker, "submitted");
    await players().chain.advance(WINDOW_OVER);
    await first(worker, "delivered");
    return (await waitForResult(requester, jobId, { intervalMs: 20 })).outputs;
  }

  for (const [name, maxBytes] of Object.entries(POOLS)) {
    const inputs = { picture: [1, 224, 224, 3], fullPart: [65_536], twoFullParts: [131_072] };
    for (const [what, shape] of everyFourth(Object.entries(inputs), maxBytes === ROLLUP_MAX_BYTES ? 1 : 0)) {
      const count = shape.reduce((product, extent) => product * extent, 1);
      ending(`${what}_of${count}Bytes_isPostedThrough_${name}`, async function () {
        await players().limitTransactions(maxBytes);
        const input = bytesOf(count);
        const outputs = await answered(headOf(shape), input);
        expect(Buffer.from(outputs.get(0)!).equals(Buffer.from(input.subarray(0, 10)))).to.equal(true);
      });
    }

    ending(`outputOfTheLargestSize_isDeliveredThrough_${name}`, async function () {
      await players().limitTransactions(maxBytes);
      const input = halves(256);
      const outputs = await answered(matrixOf(LARGEST_OUTPUT / 512, 256), input);
      expect(outputs.get(0)!.length).to.equal(LARGEST_OUTPUT);
      expect(Buffer.from(outputs.get(0)!.subarray(0, 512)).equals(Buffer.from(input))).to.equal(true);
    });
  }

  ending("outputAboveTheLargestSize_isNotDelivered_andItsClaimIsFinal", async function () {
    const program = matrixOf(256, 256);
    await startWorker(await players().workerKey(), program);
    const { job } = await players().post(program, [halves(256)]);
    expect(job.deliverables).to.equal(0n);
    await first(worker, "submitted");
    await players().chain.advance(WINDOW_OVER);
    await first(worker, "finalised");
  });

  ending("deliveryThatAlwaysFails_doesNotStopAWorkerThatMayHaveOneOpenClaim", async function () {
    // The pool takes a delivery of this size when the job is posted, and not when it is due.
    const [large, small] = [matrixOf(100, 256), mlpProgram()];
    const key = await players().workerKey();
    const policy = { minFee: 1n, marginSeconds: 10, maxOpenClaims: 1 };
    await startWorker(key, large, { programs: ProgramLibrary.of([large, small]), policy });
    const stuck = await players().post(large, [halves(256)]);
    await first(worker, "submitted", ({ jobId }) => jobId === stuck.jobId);
    await players().limitTransactions(16_384);
    await players().chain.advance(WINDOW_OVER);
    const next = await players().post(small, [mlpInput(1)]);
    await first(worker, "finalised", ({ jobId }) => jobId === stuck.jobId);
    await first(worker, "submitted", ({ jobId }) => jobId === next.jobId);
    await players().chain.advance(WINDOW_OVER);
    await first(worker, "delivered", ({ jobId }) => jobId === next.jobId);
    expect((await next.requester.vault.accountOf(players().addressOf(key))).locked).to.equal(0n);
  });
});
