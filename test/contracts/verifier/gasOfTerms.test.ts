import { expect } from "chai";
import {
  DType,
  dtypeBytes,
  dtypeName,
  writeWord,
  type DType as DTypeCode,
  type Word,
} from "../../../src/numerics/dtype.ts";
import { limbCount } from "../../../src/numerics/exactSum.ts";
import { estimateStepProofGas, gameGas } from "../../../src/program/gas.ts";
import { Op, signature } from "../../../src/program/operations.ts";
import { hasTwoResults, isPartial } from "../../../src/program/reduction.ts";
import { Reduce, type Axis, type Constant, type Instruction, type Step } from "../../../src/program/types.ts";
import { everyFourth, itInTime } from "../../../testkit/atLength.ts";
import { tensorOf } from "../../../testkit/programs/tensorOf.ts";
import { openStepGasMeter } from "../../../testkit/verifier/stepGas.ts";

const ELEMENTS = 64;

type Shape = {
  reduce: Reduce;
  dtype: DTypeCode;
  reads: number;
  redDigits: number[];
  axes: Axis[];
  code?: Instruction[];
  constants?: Constant[];
};

/** A total of words, `limbs` for each sum, which fill few chunks that are read again and again. */
function totalOf(reduceType: DTypeCode, limbs: number, blocks: number): Step {
  const isWhole = reduceType !== DType.limb;
  const terms: Shape = {
    reduce: isWhole ? Reduce.total : Reduce.partialTotal,
    dtype: DType.limb,
    reads: 1,
    redDigits: [blocks, limbs],
    axes: [axis(ELEMENTS, 1, [[2, 1]])],
  };
  const words = isWhole ? 1 : limbs;
  return { ...stepOf(terms), dtype: reduceType, reduceType, count: words, outDigits: [words] };
}

/** Many terms over few chunks, so that what a term costs is nearly all. */
function stepOf({ reduce, dtype, reads, redDigits, axes, code = [], constants = [] }: Shape): Step {
  const arg = reduce === Reduce.argminLast;
  const last = code.at(-1);
  const type = last?.op === Op.cast ? (last.b as DTypeCode) : dtype;
  const first = last === undefined ? 0 : reads + constants.length + code.length - 1;
  const words = isPartial(reduce) ? limbCount(dtype) : 1;
  return {
    dtype: arg ? DType.int64 : isPartial(reduce) ? DType.limb : type,
    count: words,
    inputs: Array.from({ length: reads }, (_, index) => ({ kind: "input", index, dtype, count: ELEMENTS })),
    outDigits: [words],
    redDigits,
    reduce,
    reduceType: type,
    constants,
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

  const { float16, bfloat16, float32, float64, int64, uint8 } = DType;
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
    // Of 1.5, of the greatest number and of the least, each with the least: calls of another contract.
    ...(
      [
        [float16, [0x3e00n, 0x7bffn, 1n]],
        [bfloat16, [0x3fc0n, 0x7f7fn, 1n]],
        [float64, [0x3ff8000000000000n, 0x7fefffffffffffffn, 1n]],
      ] as const
    ).flatMap(([dtype, words]) =>
      (["add", "sub", "mul", "div", "fmod", "min", "sqrt", "round"] as const).flatMap((name) =>
        words.map((word): [string, Shape, Word] => [
          `30 operations ${name} of type ${dtype} on ${word}`,
          {
            ...{ reduce: Reduce.max, dtype, reads: 1, redDigits: [2, 16], axes: [row] },
            constants: [{ dtype, value: 1n }],
            code: Array.from({ length: 30 }, () => ({
              op: Op[name],
              dtype,
              a: 0,
              b: signature(Op[name])!.arity - 1,
              c: 0,
            })),
          },
          word,
        ]),
      ),
    ),
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
    // Numbers, zeros and infinities; with a subnormal the loop over halves takes its longest way.
    ...(
      [
        [float16, [0x3c01n, 0n, 0x8001n, 0xfc00n, 0x7e00n]],
        [bfloat16, [0x3f81n, 0n, 0x8001n, 0xff80n, 0x7fc0n]],
        [float64, [0x3ff0000000000001n, 0n, 0x8000000000000001n, 0xfff0000000000000n]],
      ] as const
    ).flatMap(([dtype, words]) =>
      words.map((word): [string, Shape, Word] => [
        `a dot product of type ${dtype} of ${word}`,
        { reduce: Reduce.dot, dtype, reads: 2, redDigits: [60, 32], axes: [row] },
        word,
      ]),
    ),
    ...[float16, bfloat16, float64].flatMap((dtype): [string, Shape, Word][] => [
      [
        `a sum of choices of type ${dtype}`,
        {
          ...{ reduce: Reduce.sum, dtype, reads: 2, redDigits: [60, 32], axes: [row] },
          code: [{ op: Op.select, dtype, a: 2, b: 0, c: 1 }],
          constants: [{ dtype: DType.bool, value: 1n }],
        },
        1n,
      ],
      [
        `words of a dot product with a stride, type ${dtype}`,
        { reduce: Reduce.partialDot, dtype, reads: 2, redDigits: [60, 32], axes: [strided] },
        1n,
      ],
    ]),
  ];
  for (const [reduceType, limbs] of [
    [float32, 4],
    [float16, 4],
    [bfloat16, 4],
    [float64, 18],
    [DType.limb, 4],
    [DType.limb, 18],
  ] as const)
    for (const word of [0n, 1n, 2n ** 256n - 1n]) {
      const words = `Of${limbs}Words_of${word.toString(16).slice(0, 4)}`;
      itInTime(`totalTo${dtypeName(reduceType)}${words}_estimateIsNotBelowTheMeasuredGas`, async () => {
        const step = totalOf(reduceType, limbs, 200);
        const bytes = tensorOf(
          DType.limb,
          Array.from({ length: ELEMENTS }, (_, k) => (k % limbs === limbs - 1 ? 0n : word)),
        );
        for (const element of new Set([0, step.count - 2, step.count - 1].filter((k) => k >= 0))) {
          const measured = await meter.measure(step, element, [bytes]);
          expect(estimateStepProofGas(step) - gameGas(1)).to.be.at.least(measured);
        }
      });
    }

  for (const [name, shape, word] of everyFourth(cases, 0)) {
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
