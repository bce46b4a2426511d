import { expect } from "chai";
import { DType, dtypeBytes, writeWord, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { estimateStepProofGas, gameGas } from "../../../src/program/gas.ts";
import { Op } from "../../../src/program/operations.ts";
import { hasTwoResults, isPartial } from "../../../src/program/reduction.ts";
import { Reduce, type Axis, type Instruction, type Step } from "../../../src/program/types.ts";
import { openStepGasMeter } from "../../../testkit/verifier/stepGas.ts";

const ELEMENTS = 64;

type Shape = {
  reduce: Reduce;
  dtype: DTypeCode;
  reads: number;
  redDigits: number[];
  axes: Axis[];
  code?: Instruction[];
};

/** Many terms over few chunks, so that what a term costs is nearly all. */
function stepOf({ reduce, dtype, reads, redDigits, axes, code = [] }: Shape): Step {
  const arg = reduce === Reduce.argminLast;
  const last = code.at(-1);
  const type = last === undefined ? dtype : (last.b as DTypeCode);
  const first = last === undefined ? 0 : reads + code.length - 1;
  const words = isPartial(reduce) ? 4 : 1;
  return {
    dtype: arg ? DType.int64 : isPartial(reduce) ? DType.limb : type,
    count: words,
    inputs: Array.from({ length: reads }, (_, index) => ({ kind: "input", index, dtype, count: ELEMENTS })),
    outDigits: [words],
    redDigits,
    reduce,
    reduceType: type,
    constants: [],
    termReads: Array.from({ length: reads }, (_, input) => ({ input, fill: 0n, axes })),
    epilogueReads: [],
    term: { code, outA: first, outB: hasTwoResults(reduce) ? 1 : 0 },
    epilogue: { code: [], out: 0 },
  };
}

const axis = (extent: number, stride: number, coeffs: [digit: number, coeff: number][], div = 1): Axis => ({
  extent,
  stride,
  base: 0,
  div,
  coeffs: coeffs.map(([digit, coeff]) => ({ digit, coeff })),
});

describe("estimateStepProofGas for many terms of one kind", () => {
  let meter: Awaited<ReturnType<typeof openStepGasMeter>>;
  before(async () => void (meter = await openStepGasMeter()));

  const { float32, float64, int64, uint8 } = DType;
  const row = axis(ELEMENTS, 1, [[2, 1]]);
  const strided = axis(ELEMENTS / 2, 2, [[2, 1]]);
  const pairs = axis(ELEMENTS, 1, [[1, 1], ...Array.from({ length: 9 }, (_, k): [number, number] => [2 + k, 1])]);
  const halved = Array.from({ length: 8 }, () =>
    axis(
      ELEMENTS / 2,
      0,
      [
        [1, 2],
        [2, 2],
      ],
      2,
    ),
  );
  const toInteger = { op: Op.cast, dtype: float32, a: 0, b: DType.int32, c: 0 };
  const cases: [string, Shape, Word][] = [
    // The smallest normal number takes the longest way there.
    [
      "60 casts of a float32 to an integer",
      {
        reduce: Reduce.max,
        dtype: float32,
        reads: 1,
        redDigits: [2, 32],
        axes: [row],
        code: Array.from({ length: 60 }, () => toInteger),
      },
      0x00800000n,
    ],
    ...[float32, float64, int64, uint8].flatMap((dtype): [string, Shape, Word][] => [
      [
        `argmins of 6 reads, type ${dtype}`,
        { reduce: Reduce.argminLast, dtype, reads: 6, redDigits: [30, 64], axes: [row] },
        1n,
      ],
      [
        `argmins of 6 reads with a stride, type ${dtype}`,
        { reduce: Reduce.argminLast, dtype, reads: 6, redDigits: [60, 32], axes: [strided] },
        1n,
      ],
      [
        `argmins in runs of 2 under 8 digits of 1, type ${dtype}`,
        { reduce: Reduce.argminLast, dtype, reads: 1, redDigits: [60, 1, 1, 1, 1, 1, 1, 1, 1, 2], axes: [pairs] },
        1n,
      ],
      [
        `maxima through 8 axes with divisors, type ${dtype}`,
        { reduce: Reduce.max, dtype, reads: 2, redDigits: [30, 2], axes: halved },
        1n,
      ],
    ]),
    [
      "a dot product among 6 reads with a stride",
      { reduce: Reduce.dot, dtype: float32, reads: 6, redDigits: [60, 32], axes: [strided] },
      0x80000001n,
    ],
    [
      "words of a dot product with a stride",
      { reduce: Reduce.partialDot, dtype: float32, reads: 2, redDigits: [60, 32], axes: [strided] },
      0xff800000n,
    ],
  ];
  for (const [name, shape, word] of cases) {
    it(`${name}_estimateIsNotBelowTheMeasuredGas`.replaceAll(/[ ,]+/g, "_"), async () => {
      const step = stepOf(shape);
      const bytes = new Uint8Array(ELEMENTS * dtypeBytes(shape.dtype));
      for (let k = 0; k < ELEMENTS; k++) writeWord(bytes, k, shape.dtype, word);
      const measured = await meter.measure(
        step,
        0,
        step.inputs.map(() => bytes),
      );
      const estimate = estimateStepProofGas(step) - gameGas(shape.reads);
      if (process.env.REFUTE_SHOW) console.log(name, measured, estimate, (estimate / measured).toFixed(2));
      expect(estimate).to.be.at.least(measured);
    });
  }
});
