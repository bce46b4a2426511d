import { expect } from "chai";
import { EngineUnfitError } from "../../../src/executor/errors.ts";
import { selfTest } from "../../../src/executor/engine/selfTest.ts";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import type { MatMulEngine } from "../../../src/executor/engine/matMulEngine.ts";

async function refusal(engine: MatMulEngine): Promise<unknown> {
  try {
    await selfTest(engine);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("engine self-test", () => {
  it("onnxruntime_passes", async () => {
    const engine = await onnxEngine();
    expect(await refusal(engine)).to.equal(undefined);
    await engine.close();
  });

  it("engineThatFlushesSmallNumbers_isRefused", async () => {
    const flushing: MatMulEngine = {
      product: (_left, _right, out) => () => void out.fill(0),
      close: () => Promise.resolve(),
    };
    expect(await refusal(flushing)).to.be.instanceOf(EngineUnfitError);
  });
});
