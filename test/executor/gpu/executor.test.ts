import { expect } from "chai";
import { createExecutorOn } from "../../../src/executor/gpu/chooseExecutor.ts";
import { Gpu } from "../../../src/executor/gpu/device.ts";
import type { MatMulEngine } from "../../../src/executor/engine/matMulEngine.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { selfTestGpu } from "../../../src/executor/gpu/selfTest.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType, writeWord } from "../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { Op } from "../../../src/program/operations.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { compareModel } from "../../../testkit/gpu/compareModel.ts";
import { faultyGpu, shrunkenGpu, softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { axis, modelOfSteps, NO_REDUCTION, stepModel } from "../../../testkit/programs/stepModel.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";

const COUNT = 300;

/** x -> op(op(x, x)), in two steps of which the second reads the first; both are checkpoints. */
function chain(op: Op, dtype: DType): CompiledModel {
  const step = (kind: "input" | "step"): Step => ({
    ...{ dtype, count: COUNT, outDigits: [COUNT], redDigits: [], reduce: Reduce.none },
    inputs: [{ kind, index: 0, dtype, count: COUNT }],
    ...{ constants: [], termReads: [], term: { code: [], outA: 0, outB: 0 } },
    epilogueReads: [
      { input: 0, fill: 0n, axes: [{ extent: COUNT, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }] },
    ],
    epilogue: { code: [{ op, dtype, a: 0, b: 0, c: 0 }], out: 1 },
  });
  return {
    program: {
      inputs: [{ dtype, count: COUNT }],
      steps: [step("input"), step("step")],
      checkpoints: [
        { first: 0, step: 0 },
        { first: 1, step: 1 },
      ],
      ...{ outputs: [1], maxStepGas: 0, maxStepBytes: 0 },
    },
    ...{ programRoot: "0x00", constants: new Map(), outputs: [] },
    inputs: [{ name: "x", dtype, shape: [COUNT] }],
    origins: [
      { node: "", operator: "first" },
      { node: "", operator: "second" },
    ],
  };
}

const numbers = (seed: number, bytes: number): Uint8Array => {
  const prng = new Prng(seed);
  return Uint8Array.from({ length: bytes }, () => prng.below(256));
};

describe("the executor on a GPU", function () {
  this.timeout(300_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  it("realModel_hasTheBitsAndNodesOfTheCpu_onEveryTensor", async () => {
    await compareModel("silero_v5", gpu);
  });

  it("programsAboveOneBuffer_lieInSeveral_andAboveAllAreRefused", async () => {
    const bytes = await compareModel("oww_timer", gpu);
    const pageBytes = 256 * Math.ceil(bytes / 8 / 256);
    await compareModel("oww_timer", shrunkenGpu(gpu, { pageBytes, pages: 8, uniformBytes: 16_384 }));
    const refused = await rejection(compareModel("oww_timer", shrunkenGpu(gpu, { pageBytes, pages: 7 })));
    expect(refused).to.have.property("code", "EXECUTION_MEMORY");
    expect(refused.message).to.include("give smaller shapes");
  });

  it("functionsOfFloat64_areComputedByTheCpu_betweenStepsOfTheGpu", async () => {
    const model = chain(Op.exp, DType.float64);
    const executor = await createGpuExecutor(model, gpu);
    expect(executor.cpuSteps).to.deep.equal([0, 1].map((step) => ({ step, reason: "a function of float64" })));
    const inputs = [numbers(3, 8 * COUNT)];
    const { tensors } = await executor.run(inputs);
    await executor.close();
    expect(tensors.map((tensor) => Buffer.from(tensor))).to.deep.equal(
      executeReference(model, inputs).map((tensor) => Buffer.from(tensor)),
    );
  });

  it("failureOfTheCpusSteps_givesTheMemoryBack", async () => {
    let [made, destroyed] = [0, 0];
    const createBuffer: Gpu["device"]["createBuffer"] = (description) => {
      const buffer = gpu.device.createBuffer(description);
      const destroy = buffer.destroy.bind(buffer);
      made++;
      buffer.destroy = () => {
        destroyed++;
        destroy();
      };
      return buffer;
    };
    const device = new Proxy(gpu.device, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (key === "createBuffer") return createBuffer;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const counted = new Gpu(device, gpu.facts, gpu.bounds);
    const engine: MatMulEngine = {
      product: () => {
        throw new Error("no engine");
      },
      close: () => Promise.resolve(),
    };
    const failure = await rejection(createGpuExecutor(chain(Op.exp, DType.float64), counted, { engine }));
    expect(failure.message).to.include("no engine");
    expect(made).to.be.above(1);
    expect(destroyed).to.equal(made);
  });

  it("firstChain_hasOneItem_sinceNothingIsKnownOfItsTime", async () => {
    const { model } = runProgram();
    const run = new RunInputs(model.program.inputs, { items: 6, firstItem: 0 }, runInputBytes(6));
    const items = Array.from({ length: 6 }, (_, k) => run.of(k, new Map()));
    const executor = await createGpuExecutor(model, gpu, { chainMs: 600_000 });
    const unknown = await createGpuExecutor(model, gpu);
    expect((await unknown.runChain(items)).items).to.have.length(1);
    await executor.run(items[0]!);
    expect((await executor.runChain(items)).items).to.have.length(6);
    await Promise.all([executor.close(), unknown.close()]);
  });

  it("spotChecks_areOfTensorsThatSomebodyReads", async () => {
    const weights = new Uint8Array(COUNT).map((_, k) => k);
    const constants = new Map([[tensorTree(weights).root, weights]]);
    const axes = [axis(0, COUNT, 1)];
    const unpack: Step = {
      ...{ ...NO_REDUCTION, dtype: DType.float32, count: COUNT, outDigits: [COUNT] },
      inputs: [{ kind: "constant", root: tensorTree(weights).root, dtype: DType.uint8, count: COUNT }],
      epilogueReads: [{ input: 0, fill: 0n, axes }],
      epilogue: { code: [{ op: Op.cast, dtype: DType.uint8, a: 0, b: DType.float32, c: 0 }], out: 1 },
    };
    const scale: Step = {
      ...{ ...NO_REDUCTION, dtype: DType.float32, count: COUNT, outDigits: [COUNT] },
      inputs: [
        { kind: "step", index: 0, dtype: DType.float32, count: COUNT },
        { kind: "input", index: 0, dtype: DType.float32, count: COUNT },
      ],
      epilogueReads: [0, 1].map((input) => ({ input, fill: 0n, axes })),
      epilogue: { code: [{ op: Op.mul, dtype: DType.float32, a: 0, b: 1, c: 0 }], out: 2 },
    };
    const model = modelOfSteps([{ dtype: DType.float32, count: COUNT }], [unpack, scale], constants);
    // A wrong product is seen in the first execution, whatever the seed.
    for (let seed = 0; seed < 8; seed++) {
      const executor = await createGpuExecutor(model, faultyGpu(gpu, "p.x + q.x, false", "p.x + q.x + 1, false"), {
        seed,
      });
      expect(executor.unpacked).to.deep.equal([0]);
      const inputs = [new Uint8Array(new Float32Array(COUNT).fill(1.5).buffer)];
      const failure = await rejection(executor.run(inputs, { keep: (step) => step === 1 }));
      expect(failure.message).to.include("of step 1");
      await executor.close();
    }
  });

  it("indicesFarOutside_readTheFillValue_andUnsignedOnesAreNeverNegative", async () => {
    for (const dtype of [DType.int64, DType.uint64]) {
      const words = [2n ** 64n - 1n, 1n, 2n ** 63n, 2n ** 32n];
      const index = new Uint8Array(32);
      words.forEach((word, k) => writeWord(index, k, dtype, word));
      const step: Step = {
        ...{ ...NO_REDUCTION, dtype: DType.uint8, count: 4, outDigits: [4] },
        inputs: [
          { kind: "input", index: 0, dtype, count: 4 },
          { kind: "input", index: 1, dtype: DType.uint8, count: 4 },
        ],
        epilogueReads: [
          { input: 0, fill: 0n, axes: [axis(0, 4, 1)] },
          { input: 1, fill: 9n, axes: [{ extent: 4, stride: 1, base: 0, div: 1, coeffs: [], indirect: 0 }] },
        ],
        epilogue: { code: [], out: 1 },
      };
      const executor = await createGpuExecutor(stepModel([step]), gpu);
      const { tensors } = await executor.run([index, Uint8Array.of(1, 2, 3, 4)]);
      await executor.close();
      expect([...tensors[0]!]).to.deep.equal([dtype === DType.int64 ? 4 : 9, 2, 9, 9]);
    }
  });

  it("alteredTensors_areReadByLaterSteps_andKeptOnesAreReturned", async () => {
    const model = chain(Op.sqrt, DType.float32);
    const executor = await createGpuExecutor(model, gpu);
    const inputs = [numbers(4, 4 * COUNT)];
    const onStep = (step: number, tensor: Uint8Array): void => void (step === 0 && tensor.fill(0x3f));
    const expected = executeReference(model, inputs, { onStep });
    const { tensors } = await executor.run(inputs, { onStep, keep: (step) => step === 1 });
    await executor.close();
    expect(0 in tensors).to.equal(false);
    expect(Buffer.compare(tensors[1]!, expected[1]!)).to.equal(0);
  });

  it("spotChecks_findAFault_andTheGpuIsUsedNoMore", async () => {
    const executor = await createGpuExecutor(chain(Op.sqrt, DType.float32), faultyGpu(gpu, "x >> 1u", "x >> 2u"));
    const inputs = [numbers(5, 4 * COUNT).map((byte, k) => (k % 4 === 3 ? byte & 0x7f : byte))];
    for (let k = 0; k < 2; k++) {
      const failure = await rejection(executor.run(inputs));
      expect(failure).to.have.property("code", "EXECUTION_DEVICE");
      expect(failure.message).to.include(gpu.facts.name);
      expect(failure.message).to.match(/ element \d+ of step [01] \((first|second)\)/);
    }
    await executor.close();
  });

  it("selfTest_passesHere_andNamesPlantedFaults", async () => {
    await selfTestGpu(gpu, 1, [Op.exp]);
    const ofProducts = [
      // A bit of a residue, and an eighth of the certificate's bound.
      ["poke(P[0].z + l * P[0].w * width + w, word);", "poke(P[0].z + l * P[0].w * width + w, word ^ (l & 1u));"],
      ["e[j] = (bound[j", "e[j] = (shr64(bound, 3u)[j"],
    ] as const;
    const others = [
      // Carries of sums, and of SHA-256's additions; a rotation.
      ["c = s >> 16u;", "c = 0;"],
      ["d = c; c = b; b = a; a = t + u;", "d = c; c = b; b = a; a = t ^ u;"],
      ["rotated(e, 11u)", "rotated(e, 12u)"],
      // What lanes of a workgroup add to a sum.
      ["atomicAdd(&pool[first + i], v)", "atomicAdd(&pool[first + i], v & 0x7fff)"],
      // The memory of lanes between results in a word.
      ["clear(lane);", ""],
    ] as const;
    for (const [from, to, hasDot4] of [
      ...ofProducts.flatMap((fault) => [[...fault, true] as const, [...fault, false] as const]),
      ...others.map((fault) => [...fault, true] as const),
    ]) {
      const failure = await rejection(selfTestGpu(shrunkenGpu(faultyGpu(gpu, from, to), { hasDot4 }), 1, []));
      expect(failure, to).to.have.property("code", "CANNOT_RUN_HERE");
    }
    // The place that a lane found: the check of single elements may come first.
    const place = faultyGpu(gpu, " = acc0.x;", " = lane;");
    expect((await rejection(selfTestGpu(place, 1, []))).message).to.include("other bits than the definition");
    const failure = await rejection(selfTestGpu(faultyGpu(gpu, "var k = 26u", "var k = 5u"), 1, [Op.exp]));
    expect(failure.message).to.match(/the function exp has other bits/);
  });

  it("unknownDevice_isRefused_andAutoFallsBack", async () => {
    const model = chain(Op.sqrt, DType.float32);
    const warnings: string[] = [];
    const failure = await rejection(createExecutorOn("no such GPU", model, (reason) => warnings.push(reason)));
    expect(failure).to.have.property("code", "CANNOT_RUN_HERE");
    expect(failure.message).to.include(gpu.facts.name);
    expect(warnings).to.deep.equal([]);
  });
});
