import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { createGpuExecutor } from "../../../src/executor/gpu/executor.ts";
import { reasonForCpu } from "../../../src/executor/gpu/onCpu.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { bytesOf } from "../../../src/program/trace/runInputs.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { shrunkenGpu, softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { CATALOGUE } from "../../../testkit/models/catalogue.ts";
import { compileModel } from "../../../testkit/models/compileModel.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { ALL_CASES } from "../../../testkit/operators/allCases.ts";
import { randomProgram } from "../../../testkit/programs/randomProgram.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const STEPS = 12;
/** A software driver compiles each step for seconds: longer campaigns set the number of steps. */
const PROGRAMS = Math.ceil(Number(process.env.REFUTE_STEPS ?? (AT_LENGTH ? 72 : 24)) / STEPS);
/** One operator of so many, and the first case of each. */
const EVERY = AT_LENGTH ? 8 : 24;

describe("programs on a GPU", function () {
  this.timeout(1_800_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  /**
   * Compares each tensor with the definition. All products are computed by residues, kernels are cut, and dispatches
   * come in an order that is drawn.
   * @returns how many steps the GPU computed
   */
  async function compare(model: CompiledModel, inputs: readonly Uint8Array[], what: string, on = gpu): Promise<number> {
    const products = { least: { terms: 1, rows: 1, columns: 1 }, mostBytes: 10_000 };
    const cutting = { mostOperations: 2 ** 16, order: new Prng(2) };
    const executor = await createGpuExecutor(model, on, { seed: 1, products, cutting });
    const { tensors } = await executor.run(inputs);
    await executor.close();
    executeReference(model, inputs).forEach((tensor, s) => {
      expect(Buffer.from(tensors[s]!).toString("hex"), `${what}, step ${s}`).to.equal(
        Buffer.from(tensor).toString("hex"),
      );
    });
    return tensors.length - executor.cpuSteps.length;
  }

  it("randomPrograms_haveTheBitsOfTheDefinition", async () => {
    let onGpu = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const { model, inputs } = randomProgram(new Prng(seed), STEPS);
      // Every second program on an adapter that binds little, and has no products of bytes.
      const { steps, inputs: given } = model.program;
      const all = [...steps, ...given, ...steps.flatMap((step) => step.inputs)];
      const bytes = all.reduce((sum, each) => sum + bytesOf(each) + 256, 2_048);
      const small = shrunkenGpu(gpu, { pageBytes: 256 * Math.ceil(bytes / 1_024), pages: 8, hasDot4: false });
      const on = seed % 2 === 0 ? small : gpu;
      onGpu += await compare(model, inputs, `program ${seed}`, on);
    }
    expect(onGpu).to.be.at.least((PROGRAMS * STEPS) / 4);
  });

  it("experimentsOfOperators_haveTheBitsOfTheDefinition", async () => {
    for (const [k, [operator, makers]] of Object.entries(ALL_CASES).entries()) {
      if (k % EVERY !== 0) continue;
      const random = new RandomTensors(new Prng(k));
      for (const make of makers.slice(0, 1)) {
        const experiment = make(random);
        const model = compile(readModel(modelOf(experiment)), { shapes: {} });
        const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
        await compare(model, inputs, operator);
      }
    }
  });
});

describe("the models of the catalogue", () => {
  const names = CATALOGUE.filter(({ name }) => AT_LENGTH || !name.startsWith("imgly"));
  it("haveNoStepThatAGpuLeavesToTheCpu", () => {
    for (const entry of names) {
      const { model } = compileModel(entry, entry.inputs());
      expect(model.program.steps.map(reasonForCpu).filter(Boolean), entry.name).to.deep.equal([]);
    }
  }).timeout(60_000);
});
