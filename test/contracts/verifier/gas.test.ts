import { expect } from "chai";
import { encodeFunctionData } from "viem";
import { DType, dtypeName, type DType as DTypeCode } from "../../../src/numerics/dtype.ts";
import { makeProvable } from "../../../src/compiler/passes/provable/makeProvable.ts";
import { executeStepReference } from "../../../src/executor/referenceStep.ts";
import { estimateStepProofGas, gameGas } from "../../../src/program/gas.ts";
import { MAX_STEP_BYTES } from "../../../src/program/limits.ts";
import { Op, type Op as OpCode } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { OTHER_FLOATS } from "../../../testkit/numerics/floatWords.ts";
import { axis, matMulStep, rowSumStep } from "../../../testkit/programs/stepModel.ts";
import { longReduction } from "../../../testkit/programs/longReduction.ts";
import { randomStep, randomTensor } from "../../../testkit/programs/randomStep.ts";
import { proveElement } from "../../../testkit/verifier/stepProof.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

/** What the model reserves for the game itself, which is not measured here. */
const reserved = (step: Step): number => gameGas(step.inputs.length);

describe("estimateStepProofGas", () => {
  const deploy = async () => {
    const { viem } = await createCallChain();
    const elementary = await viem.deployContract("Elementary");
    const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
    const meter = await viem.deployContract("ProofGasMeter", [verifier.address]);
    return { verifier, meter };
  };
  let contracts: Awaited<ReturnType<typeof deploy>>;
  before(async () => void (contracts = await deploy()));

  /** The gas of a transaction that does nothing but forward a proof to the verifier. */
  async function measure(step: Step, element: number, tensors: readonly Uint8Array[]): Promise<number> {
    const { proof, value } = proveElement(step, element, tensors);
    const [word, executed] = await contracts.meter.read.evaluate(proof);
    expect(word).to.equal(value);
    const data = encodeFunctionData({ abi: contracts.verifier.abi, functionName: "evaluate", args: proof });
    const bytes = Buffer.from(data.slice(2), "hex");
    const zeros = bytes.filter((byte) => byte === 0).length;
    const price = (zero: number, nonzero: number): number => zero * zeros + nonzero * (bytes.length - zeros);
    return 21_000 + Math.max(price(4, 16) + Number(executed), price(10, 40));
  }

  it("randomSteps_estimateIsNeverBelowTheMeasuredGas", async function () {
    this.timeout(300_000);
    const prng = new Prng(77);
    let tightest = Infinity;
    const misses: string[] = [];
    for (let n = 0; n < Number(process.env.REFUTE_STEPS ?? (AT_LENGTH ? 400 : 40)); n++) {
      const { step, tensors } = randomStep(prng);
      const measured = await measure(step, prng.below(step.count), tensors);
      const estimate = estimateStepProofGas(step) - reserved(step);
      tightest = Math.min(tightest, estimate / measured);
      if (estimate < measured) misses.push(`${n}: ${estimate} < ${measured}`);
    }
    expect(misses).to.deep.equal([]);
    if (process.env.REFUTE_SHOW) console.log("tightest ratio", tightest);
  });

  it("makeProvable_bothStepsAgreeAndTheEstimateIsNotBelowTheMeasuredGas", async () => {
    const prng = new Prng(31);
    for (let n = 0; n < (AT_LENGTH ? 12 : 4); n++) {
      const { step, tensors } = longReduction(prng);
      const limit = { gas: estimateStepProofGas(step) - 1, bytes: MAX_STEP_BYTES };
      const [first, second] = makeProvable([step], limit).steps as [Step, Step];
      const all = [...tensors, executeStepReference(first, tensors)];
      for (const part of [first, second]) {
        const sources = part.inputs.map((ref) => all[ref.kind === "input" ? ref.index : tensors.length]!);
        for (let k = 0; k < 3; k++) {
          const measured = await measure(part, prng.below(part.count), sources);
          expect(estimateStepProofGas(part) - reserved(part), `${n}, reduce ${part.reduce}`).to.be.at.least(measured);
        }
      }
    }
  });

  /** A total of the words of `blocks` exact sums, for each of 8 elements. */
  function total(blocks: number): Step {
    const base = row(blocks, []);
    const coeffs = [4 * blocks, 4, 1].map((coeff, digit) => ({ digit, coeff }));
    return {
      ...base,
      count: 8,
      outDigits: [8],
      redDigits: [blocks, 4],
      reduce: Reduce.total,
      reduceType: DType.float32,
      inputs: [{ kind: "input", index: 0, dtype: DType.limb, count: 32 * blocks }],
      termReads: [{ input: 0, fill: 0n, axes: [contiguous(32 * blocks, coeffs)] }],
    };
  }

  const float = (count: number) => ({ kind: "input" as const, index: 0, dtype: DType.float32, count });
  const contiguous = (count: number, coeffs: { digit: number; coeff: number }[]) => ({
    ...axis(0, count, 1),
    coeffs,
  });
  /** Reads of an input as one axis, whose position is the sum of some digits, each times its coefficient. */
  const walk = (input: number, count: number, ...coeffs: (readonly [digit: number, coeff: number])[]) => ({
    input,
    fill: 0n,
    axes: [
      contiguous(
        count,
        coeffs.map(([digit, coeff]) => ({ digit, coeff })),
      ),
    ],
  });

  function dot(K: number): Step {
    const [rows, columns] = [2, 3];
    return {
      ...matMulStep(rows, K, columns),
      inputs: [float(rows * K), float(columns * K), float(columns)],
      termReads: [walk(0, rows * K, [0, K], [2, 1]), walk(1, columns * K, [1, K], [2, 1])],
      epilogueReads: [walk(2, columns, [1, 1])],
      epilogue: { code: [{ op: Op.add, dtype: DType.float32, a: 0, b: 1, c: 0 }], out: 2 },
    };
  }

  function convolution(C: number): Step {
    const [H, W, O] = [14, 14, 5];
    const axis = (extent: number, stride: number, base: number, digits: number[]) => ({
      extent,
      stride,
      base,
      div: 1,
      coeffs: digits.map((digit) => ({ digit, coeff: 1 })),
    });
    const weights = [2, 3, 4, 5].map((digit, k) => ({ digit, coeff: [9 * C, 3 * C, C, 1][k]! }));
    return {
      dtype: DType.float32,
      count: H * W * O,
      inputs: [float(H * W * C), float(O * 9 * C)],
      outDigits: [H, W, O],
      redDigits: [3, 3, C],
      reduce: Reduce.dot,
      reduceType: DType.float32,
      constants: [],
      termReads: [
        { input: 0, fill: 0n, axes: [axis(H, W * C, -1, [0, 3]), axis(W, C, -1, [1, 4]), axis(C, 1, 0, [5])] },
        { input: 1, fill: 0n, axes: [contiguous(O * 9 * C, weights)] },
      ],
      epilogueReads: [],
      term: { code: [], outA: 0, outB: 1 },
      epilogue: { code: [], out: 0 },
    };
  }

  function column(K: number, code: Step["term"]["code"] = []): Step {
    return {
      ...rowSumStep(256, K),
      inputs: [float(256 * K)],
      termReads: [walk(0, 256 * K, [0, 1], [1, 256])],
      term: { code, outA: code.length, outB: 0 },
    };
  }

  const row = (K: number, code: Step["term"]["code"]): Step => ({
    ...column(K, code),
    termReads: [walk(0, 256 * K, [0, K], [1, 1])],
  });

  const unary = (op: OpCode) => [{ op, dtype: DType.float32, a: 0, b: 0, c: 0 }];
  const cases: [string, Step, number][] = [
    ...[1, 27, 200, 768, 4096].map((K): [string, Step, number] => [`dot of ${K}`, dot(K), 4]),
    ...[3, 16, 64].map((C): [string, Step, number] => [`3x3 convolution of ${C} channels`, convolution(C), 382]),
    ["strided sum of 256", column(256), 3],
    ["sum of 1000 squares", row(1000, [{ op: Op.mul, dtype: DType.float32, a: 0, b: 0, c: 0 }]), 3],
    ["sum of 400 erf", row(400, unary(Op.erf)), 3],
    ["sum of 400 atan", row(400, unary(Op.atan)), 3],
    ["sum of 400 sinh", row(400, unary(Op.sinh)), 3],
    ["sum of 400 square roots", row(400, unary(Op.sqrt)), 3],
  ];
  // Every factor takes the loop's longest way: NaN, an infinity, the smallest subnormal.
  for (const [name, bits] of [
    ["NaN", 0x7fc00001],
    ["infinities", 0xff800000],
    ["subnormals", 0x80000001],
  ] as const) {
    itInTime(`dotOf2000${name}_estimateIsNotBelowTheMeasuredGas`, async () => {
      const step = dot(2000);
      const tensors = step.inputs.map(({ count }) => new Uint8Array(new Uint32Array(count).fill(bits).buffer));
      const measured = await measure(step, 4, tensors);
      expect(estimateStepProofGas(step) - reserved(step)).to.be.at.least(measured);
    });
  }

  /** Quantised: the product of a uint8 less its zero point and an int8, in int32. */
  function quantised(K: number): Step {
    const base = row(K, []);
    const { uint8, int8, int32 } = DType;
    return {
      ...base,
      dtype: int32,
      reduce: Reduce.dot,
      reduceType: int32,
      inputs: [
        { kind: "input", index: 0, dtype: uint8, count: 256 * K },
        { kind: "input", index: 1, dtype: int8, count: 256 * K },
      ],
      constants: [{ dtype: int32, value: 117n }],
      termReads: [base.termReads[0]!, { ...base.termReads[0]!, input: 1 }],
      term: {
        code: [
          { op: Op.cast, dtype: uint8, a: 0, b: int32, c: 0 },
          { op: Op.sub, dtype: int32, a: 3, b: 2, c: 0 },
          { op: Op.cast, dtype: int8, a: 1, b: int32, c: 0 },
        ],
        outA: 4,
        outB: 5,
      },
      epilogue: { code: [], out: 0 },
    };
  }
  for (const blocks of [1, 7, 64, 500]) cases.push([`total of ${blocks} blocks`, total(blocks), 3]);
  cases.push(["quantised dot of 1000", quantised(1000), 3]);

  /** A step with float32 replaced by another type of floats. */
  function inType(step: Step, dtype: DTypeCode): Step {
    const own = <T extends { dtype: DTypeCode }>(part: T): T => ({
      ...part,
      dtype: part.dtype === DType.float32 ? dtype : part.dtype,
    });
    return {
      ...own(step),
      inputs: step.inputs.map(own),
      reduceType: dtype,
      term: { ...step.term, code: step.term.code.map(own) },
      epilogue: { ...step.epilogue, code: step.epilogue.code.map(own) },
    };
  }
  for (const dtype of OTHER_FLOATS) {
    const name = dtypeName(dtype);
    const add = (what: string, step: Step): number => cases.push([`${what} of ${name}`, inType(step, dtype), 3]);
    for (const K of [1, 200, 2000]) add(`dot of ${K}`, dot(K));
    const binary = (op: OpCode) => [{ op, dtype: DType.float32, a: 0, b: 0, c: 0 }];
    for (const op of ["add", "mul", "div", "fmod", "max"] as const) add(`sum of 300 ${op}`, row(300, binary(Op[op])));
    for (const op of ["sqrt", "floor", "round", "sign"] as const) add(`sum of 300 ${op}`, row(300, unary(Op[op])));
    // Of float64 most random operands are settled at once: elementary.test.ts compares the prices with slow ones.
    if (dtype !== DType.float64)
      for (const op of ["exp", "erf", "atan", "sinh"] as const) add(`sum of 300 ${op}`, row(300, unary(Op[op])));
    const there = { op: Op.cast, dtype: DType.float32, a: 0, b: DType.int32, c: 0 };
    const back = { op: Op.cast, dtype: DType.int32, a: 1, b: dtype, c: 0 };
    cases.push([`sum of 300 casts of ${name}`, inType(row(300, [there, back]), dtype), 3]);
  }

  for (const [name, step, element] of cases) {
    itInTime(`${name}_estimateIsNotBelowTheMeasuredGasAndNotFarAbove`.replaceAll(" ", "_"), async () => {
      const prng = new Prng(5);
      const tensors = step.inputs.map(({ dtype, count }) => randomTensor(prng, dtype, count));
      const measured = await measure(step, element, tensors);
      const estimate = estimateStepProofGas(step) - reserved(step);
      if (process.env.REFUTE_SHOW) console.log(name, measured, estimate, (estimate / measured).toFixed(2));
      expect(estimate)
        .to.be.at.least(measured)
        .and.at.most(4 * measured);
    });
  }
});
