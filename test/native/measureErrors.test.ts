import { expect } from "chai";
import { usualRange } from "../../src/native/inputRange.ts";
import { numbersOf } from "../../src/native/elements.ts";
import { CalibrationError } from "../../src/native/errors.ts";
import { measureErrors, type Measuring } from "../../src/native/measureErrors.ts";
import type { NativeResult } from "../../src/native/nativeRuntime.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { classifierBytes } from "../../testkit/models/classifier.ts";
import { openBoth, type OpenedModel } from "../../testkit/native/openedModel.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("measuring native errors", () => {
  let opened: OpenedModel;
  before(async () => (opened = await openBoth(classifierBytes())));
  after(() => opened.close());

  const measuring = (native = opened.native): Measuring => ({
    native,
    exact: opened.exact.run,
    signature: opened.signature,
    outputs: opened.outputs,
    box: opened.compiled.inputs.map(usualRange),
  });
  /** A runtime that is exact, but for what is done to its logits. */
  const altered = (alter: (logits: number[], inputs: readonly Uint8Array[]) => void) => ({
    ...measuring(),
    native: {
      name: "altered",
      run: async (inputs: readonly Uint8Array[]): Promise<NativeResult> => {
        const { outputs, deciding } = await opened.exact.run(inputs);
        const { dims, data } = deciding.get("logits")!;
        const logits = [...data];
        alter(logits, inputs);
        return { outputs, deciding: new Map([["logits", { dims, data: Float64Array.from(logits) }]]) };
      },
      close: () => Promise.resolve(),
    },
  });

  it("measure_onnxruntime_findsFloat32ErrorsAndTheSameWithTheSameSeed", async () => {
    const inputs = { given: [], random: 16, search: 32, seed: 5 };
    const found = await measureErrors(measuring(), inputs);
    const { relative, absolute } = found.tensors[0]!;
    expect(relative)
      .to.be.above(2 ** -26)
      .and.below(2 ** -16);
    expect(absolute)
      .to.be.above(2 ** -26)
      .and.below(2 ** -12);
    expect(found.inputs).to.deep.equal({ given: 0, random: 16, searched: 32 });
    expect(found.thick(16).differing).to.equal(0);
    expect(found.thick(16).all).to.be.above(24);
    expect(found.thick(1e6).all).to.equal(0);
    expect((await measureErrors(measuring(), inputs)).tensors).to.deep.equal(found.tensors);
  });

  it("measure_errorThatGrowsWithAnInput_isClimbedBeyondRandomInputs", async () => {
    // The error grows with the nearness to one point of the box.
    const grown = altered((logits, [bytes]) => {
      const far = numbersOf(bytes!, DType.float32).map((value, i) => Math.abs(value - Math.sin(7 * i)));
      logits[0]! += 1e-4 * 2 ** -far.reduce((sum, each) => sum + each, 0);
    });
    const random = await measureErrors(grown, { given: [], random: 400, search: 0, seed: 1 });
    const searched = await measureErrors(grown, { given: [], random: 100, search: 300, seed: 1 });
    expect(searched.tensors[0]!.absolute).to.be.above(4 * random.tensors[0]!.absolute);
  });

  it("measure_givenInputs_areMeasuredToo", async () => {
    const given = [[new Uint8Array(128)], [new Uint8Array(new Float32Array(32).fill(0.5).buffer)]];
    const once = altered((logits, [bytes]) => {
      if (bytes!.every((byte) => byte === 0)) logits[3]! += 0.25;
    });
    const found = await measureErrors(once, { given, random: 2, search: 0, seed: 1 });
    expect(found.tensors[0]!.absolute).to.be.closeTo(0.25, 1e-6);
    expect(found.inputs.given).to.equal(2);
  });

  it("measure_exactNanWhereNativeIsFinite_isRefused", async () => {
    const { exact } = measuring();
    const broken = async (inputs: readonly Uint8Array[]): Promise<NativeResult> => {
      const { outputs, deciding } = await exact(inputs);
      const { dims, data } = deciding.get("logits")!;
      return { outputs, deciding: new Map([["logits", { dims, data: data.map(() => NaN) }]]) };
    };
    const error = await rejection(
      measureErrors({ ...measuring(), exact: broken }, { given: [], random: 1, search: 0, seed: 1 }),
    );
    expect(error).to.be.instanceOf(CalibrationError);
    expect(error.message).to.include("--range");
  });

  it("measure_nativeNan_isNoErrorAndNeverThick", async () => {
    let runs = 0;
    const broken = altered((logits) => void (runs++ > 0 && logits.fill(NaN)));
    const found = await measureErrors(broken, { given: [], random: 3, search: 0, seed: 1 });
    const one = await measureErrors(
      altered(() => undefined),
      { given: [], random: 1, search: 0, seed: 1 },
    );
    expect(found.tensors).to.deep.equal(one.tensors);
    expect(found.thick(1)).to.deep.equal(one.thick(1));
  });

  it("measure_nativeNanOnAllInputs_isRefused_becauseNoErrorIsKnown", async () => {
    const broken = altered((logits) => logits.fill(NaN));
    const error = await rejection(measureErrors(broken, { given: [], random: 3, search: 0, seed: 1 }));
    expect(error).to.be.instanceOf(CalibrationError);
    expect(error.message).to.match(/logits was NaN or infinite on all inputs.*--range/);
  });
});
