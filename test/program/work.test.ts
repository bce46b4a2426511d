import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { DType, isFloat } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { decodeStepBody } from "../../src/program/decode.ts";
import { encodeHeader, encodeStepBody } from "../../src/program/encode.ts";
import { readHeader } from "../../src/program/header.ts";
import { Op } from "../../src/program/operations.ts";
import { Reduce, type Instruction, type Program, type Step } from "../../src/program/types.ts";
import { programTerms, programWork } from "../../src/program/work.ts";
import { modelOf } from "../../testkit/onnx/agreement.ts";
import { CASES } from "../../testkit/operators/cases.ts";
import { MICROSOFT_CASES } from "../../testkit/operators/microsoftCases.ts";
import { randomProgram } from "../../testkit/programs/randomProgram.ts";
import { axis, matMulStep, modelOfSteps, NO_REDUCTION, rowSumStep } from "../../testkit/programs/stepModel.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { RandomTensors } from "../../testkit/random/tensors.ts";

const f32 = DType.float32;
const workOf = (...steps: Step[]): bigint => programWork({ inputs: [], steps });

/** An elementwise step of `count` elements and up to two reads of its own type. */
function elementwise(code: readonly Instruction[], count: number, dtype: DType = f32): Step {
  const ref = (index: number) => ({ kind: "input" as const, index, dtype, count });
  const view = (input: number) => ({ input, fill: 0n, axes: [axis(0, count, 1)] });
  return {
    ...NO_REDUCTION,
    ...{ dtype, count, inputs: [ref(0), ref(1)], outDigits: [count], epilogueReads: [view(0), view(1)] },
    epilogue: { code, out: 1 + code.length },
  };
}

const instruction = (op: Op, b = 0, dtype: DType = f32): Instruction => ({ op, dtype, a: 0, b, c: 0 });
const gained = (op: Op, count: number, dtype: DType = f32): bigint =>
  workOf(elementwise([instruction(op, 0, dtype)], count, dtype)) - workOf(elementwise([], count, dtype));

/** What a program's steps amount to at the least, counted from their encoding: a unit for each term and operation. */
function minWork(steps: readonly Step[]): bigint {
  const SUM = 600n;
  const STEP = 4_000n;
  return steps.reduce((all, { dtype, count, ...step }) => {
    const { reduce, reduceType, redDigits, term, epilogue } = decodeStepBody(
      encodeStepBody({ dtype, count, ...step }),
      {
        dtype,
        count,
      },
    );
    const elements = BigInt(count);
    const terms = reduce === Reduce.none ? 0n : redDigits.reduce((product, radix) => product * BigInt(radix), elements);
    const adds: readonly number[] = [Reduce.sum, Reduce.dot, Reduce.partialSum, Reduce.partialDot, Reduce.total];
    const sums = adds.includes(reduce) && (reduceType === DType.limb || isFloat(reduceType!)) ? elements : 0n;
    const operations = terms * BigInt(term.code.length) + elements * BigInt(epilogue.code.length);
    return all + STEP + terms + SUM * sums + operations;
  }, 0n);
}

/** The programs of an experiment of each kind with each operator; those that are refused by name are left out. */
function* operatorPrograms(): Generator<readonly [name: string, Program]> {
  for (const [operator, makers] of [...Object.entries(CASES), ...Object.entries(MICROSOFT_CASES)]) {
    const random = new RandomTensors(new Prng(operator.length));
    for (const make of makers) {
      const file = modelOf(make(random));
      try {
        yield [operator, compile(readModel(file), { shapes: {} }).program];
      } catch (error) {
        if (!(error instanceof RefuteError)) throw error;
      }
    }
  }
}

describe("the work of a program", () => {
  it("everyOperator_hasAtLeastItsTermsSumsOperationsAndSteps", () => {
    let programs = 0;
    for (const [operator, program] of operatorPrograms()) {
      programs++;
      expect(programWork(program) >= minWork(program.steps), operator).to.equal(true);
    }
    expect(programs).to.be.above(200);
  });

  it("randomPrograms_haveAtLeastTheirTermsSumsOperationsAndSteps", () => {
    for (let seed = 0; seed < 100; seed++) {
      const { program } = randomProgram(new Prng(seed), 6).model;
      expect(programWork(program) >= minWork(program.steps), `seed ${seed}`).to.equal(true);
    }
  });

  it("header_hasTheWorkOfInputsAndSteps", () => {
    const steps = [rowSumStep(3, 5)];
    const { program } = modelOfSteps([{ dtype: f32, count: 15 }], steps);
    expect(readHeader(encodeHeader(program)).work).to.equal(programWork(program));
    // 15 elements of 4 bytes: 4 + 2 each.
    expect(programWork(program) - workOf(...steps)).to.equal(15n * 6n);
  });

  it("sumsOfOneTerm_costTheSums", () => {
    // A step; elements of 4 bytes; sums; terms with a read of two axes.
    expect(workOf(rowSumStep(100, 1))).to.equal(4_000n + 100n * (4n + 4n + 600n) + 100n * (1n + 4n + 2n));
  });

  it("largeProduct_gathersItsFactorsOnce", () => {
    // 64 x 4096 elements of each factor, for 64 x 64 sums of 4096 terms.
    expect(workOf(matMulStep(64, 4096, 64))).to.equal(
      4_000n + 4_096n * (4n + 4n + 600n) + 4_096n * 4_096n + 2n * 64n * 4_096n * 6n,
    );
  });

  it("smallProduct_readsForEachTerm", () => {
    expect(workOf(matMulStep(4, 4, 4))).to.equal(4_000n + 16n * 608n + 64n * 13n);
  });

  it("programTerms_countsElementsThatAreNotReduced", () => {
    expect(programTerms([rowSumStep(3, 5), elementwise([], 7)])).to.equal(22n);
  });

  it("functionOfOneNumber_needsItsDefinitionForFewOperands", () => {
    expect(gained(Op.exp, 10)).to.equal(10n * (60n + 6_000n));
    expect(gained(Op.exp, 2 ** 20)).to.equal(2n ** 20n * 60n + 2n ** 14n * 6_000n);
    expect(gained(Op.exp, 2 ** 20, DType.float16)).to.equal(2n ** 20n * 60n + 2n ** 16n * 6_000n);
  });

  it("functionInTwoSteps_keepsItsResults", () => {
    const count = 2 ** 15;
    const [once, other] = [elementwise([instruction(Op.exp)], count), elementwise([instruction(Op.log)], count)];
    const definitions = 2n ** 14n * 6_000n;
    expect(2n * workOf(once) - workOf(once, once)).to.equal(definitions);
    expect(workOf(once) + workOf(other) - workOf(once, other)).to.equal(0n);
  });

  it("power_needsItsDefinitionForEachPair_butOfConstantExponentForFewNumbers", () => {
    const count = 2 ** 20;
    const general = elementwise([instruction(Op.pow, 1)], count);
    const constants = [{ dtype: f32, value: 0x40400000n }];
    const cube = { ...elementwise([instruction(Op.pow, 2)], count), constants };
    const cubed = { ...cube, epilogue: { ...cube.epilogue, out: 3 } };
    const copied = workOf(elementwise([], count));
    expect(workOf(general) - copied).to.equal(2n ** 20n * 6_060n);
    expect(workOf(cubed) - copied).to.equal(2n ** 20n * 60n + 2n ** 16n * 6_000n);
  });

  it("float64_isComputedByTheDefinition", () => {
    const add = (dtype: DType): bigint => workOf(elementwise([instruction(Op.add, 1, dtype)], 100, dtype)) - 4_000n;
    const count = 100n;
    expect(add(f32)).to.equal(count * (4n + 4n + 2n * 5n + 1n));
    // An element with one digit, two reads of one axis and coefficient, and an operation.
    expect(add(DType.float64)).to.equal(count * (4n + 8n + 400n + 30n + 2n * (200n + 120n + 60n) + 400n));
  });

  it("sumOf16Bits_isAddedTwice_byTheDefinitionIfItsTermsAreComputed", () => {
    const half = DType.float16;
    const sums = { ...rowSumStep(100, 3), dtype: half, reduceType: half };
    const widened = 4_000n + 100n * (4n + 2n + 600n) + 300n * 7n;
    expect(workOf(sums)).to.equal(widened + 100n * 600n + 300n * 6n);

    const cut = sums.termReads.map((view) => ({
      ...view,
      axes: [...view.axes, { ...view.axes[0]!, base: -1, stride: 0 }],
    }));
    expect(workOf({ ...sums, termReads: cut })).to.equal(widened + 300n + 100n * 600n + 300n * (6n + 3n * 3n));

    const negated = { ...sums, term: { code: [instruction(Op.neg, 0, half)], outA: 1, outB: 0 } };
    const defined = 100n * (400n + 30n) + 300n * (400n + 60n + 200n + 2n * (120n + 60n) + 400n);
    expect(workOf(negated)).to.equal(widened + 300n + defined);
  });
});
