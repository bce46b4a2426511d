import { expect } from "chai";
import { measureRates } from "../../../src/executor/gpu/rates.ts";
import { faultyGpu, softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";

const MIB = 2 ** 20;

describe("rates of a GPU", function () {
  this.timeout(120_000);

  it("areMeasured_andMemoryIsFilledAsFarAsAsked", async function () {
    const gpu = await softwareGpu(this);
    const rates = await measureRates(gpu, { fillBytes: 5 * MIB, milliseconds: 1 });
    expect(rates).to.include({ filledBytes: 5 * MIB, wrongWords: 0 });
    for (const rate of [rates.int8, rates.float32, rates.memory, rates.slowestMemory])
      expect(rate).to.be.greaterThan(0);
    expect(rates.slowestMemory).to.be.at.most(rates.memory);
  });

  it("cardThatKeepsLessThanItSays_readsWrongWords", async function () {
    const gpu = await softwareGpu(this);
    // A renamed card of a small memory: addresses wrap.
    const small = faultyGpu(gpu, "b0[i] = ((i + P.y)", "b0[i & 0xffffu] = ((i + P.y)");
    const { wrongWords } = await measureRates(small, { fillBytes: MIB, milliseconds: 1 });
    expect(wrongWords).to.be.greaterThan(MIB / 4 - 2 ** 17);
  });
});
