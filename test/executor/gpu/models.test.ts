import type { Gpu } from "../../../src/executor/gpu/device.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { compareModel } from "../../../testkit/gpu/compareModel.ts";
import { softwareGpu } from "../../../testkit/gpu/softwareGpu.ts";
import { CATALOGUE } from "../../../testkit/models/catalogue.ts";

describe("models of the catalogue on a GPU", function () {
  this.timeout(1_200_000);
  let gpu: Gpu;
  before(async function () {
    gpu = await softwareGpu(this);
  });

  for (const { name } of CATALOGUE)
    itAtLength(`${name}_hasTheBitsAndNodesOfTheCpu_onEveryTensor`, async () => {
      await compareModel(name, gpu);
    });
});
