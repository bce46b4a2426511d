import { expect } from "chai";
import { softwareGpu } from "../../testkit/gpu/softwareGpu.ts";
import { productFigures } from "../../tools/measure/gpu/benches.ts";
import { EXAM_KINDS, examProgram } from "../../tools/measure/gpu/examPrograms.ts";
import { checkClassProgram } from "../../tools/verify/examClasses/check.ts";

describe("the visit to a GPU", function () {
  this.timeout(120_000);

  it("programsOfExams_takeASeedOnly_andDifferByNonce", async () => {
    for (const kind of EXAM_KINDS) {
      const program = examProgram(kind, 16, 3);
      expect(program.model.inputs.map(({ shape }) => shape)).to.deep.equal([[4]]);
      const { milliseconds, ...found } = await checkClassProgram(program, 8);
      expect(found, kind).to.deep.equal({ roots: 8, results: 8, nans: 0 });
      expect(milliseconds).to.be.greaterThan(0);
    }
  });

  it("products_haveTheSameBitsByEachKernelAndOnTheCpu", async function () {
    const gpu = await softwareGpu(this);
    const { milliseconds } = (await productFigures(gpu, [16, 20])) as { milliseconds: object[] };
    for (const row of milliseconds) {
      expect(row).to.include({ isEqual: true });
      expect(row).to.have.all.keys("size", "bytes", "floats", "definition", "cpu", "isEqual");
    }
  });
});
