import { expect } from "chai";
import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { reasonForCpu } from "../../../src/executor/gpu/onCpu.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import { compareExperiment, compareRandomProgram, EXPERIMENTS, STEPS } from "../../../testkit/gpu/comparePrograms.ts";
import { softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { CATALOGUE } from "../../../testkit/models/catalogue.ts";
import { compileModel } from "../../../testkit/models/compileModel.ts";

/** A software driver compiles each step for seconds: `npm run verify -- soak --gpu programs` tries more. */
const PROGRAMS = AT_LENGTH ? 6 : 2;
/** One experiment of so many. */
const EVERY = AT_LENGTH ? 8 : 24;
/** At length others each day, and all in eight days. */
const FIRST = AT_LENGTH ? 1 + (Math.floor(Date.now() / 86_400_000) % EVERY) : 1;

describe("programs on a GPU", function () {
  this.timeout(1_800_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  it("randomPrograms_haveTheBitsOfTheDefinition", async () => {
    let onGpu = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) onGpu += (await compareRandomProgram(seed, gpu)).onGpu;
    expect(onGpu).to.be.at.least((PROGRAMS * STEPS) / 2);
  });

  it(`experimentsOfOperators_from${FIRST}InStepsOf${EVERY}_haveTheBitsOfTheDefinition`, async () => {
    for (let number = FIRST; number <= EXPERIMENTS.length; number += EVERY) await compareExperiment(number, gpu);
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
