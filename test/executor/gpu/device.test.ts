import { expect } from "chai";
import type { GpuDevice } from "../../../src/executor/gpu/api.ts";
import { Gpu } from "../../../src/executor/gpu/device.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("an open GPU", () => {
  it("whoseDriverGivesNoResult_isUsedNoMore_andNothingWaitsForIt", async () => {
    const never = new Promise<never>(() => undefined);
    const device = {
      lost: never,
      createBindGroupLayout: () => ({}),
      createPipelineLayout: () => ({}),
      pushErrorScope: () => undefined,
      popErrorScope: () => never,
    } as unknown as GpuDevice;
    const gpu = new Gpu(
      device,
      { name: "a GPU of tests", vendor: "", driver: "", isSoftware: true, maxBytes: 1 },
      { pageBytes: 256, pages: 1, uniformBytes: 1, hasDot4: false },
      5,
    );
    for (const work of [() => never, () => 1]) {
      const failure = await rejection(gpu.watched(work));
      expect(failure).to.have.property("code", "EXECUTION_DEVICE");
      expect(failure.message).to.match(/^a GPU of tests: no result after 0\.005 seconds; /);
    }
  });
});
