import { CHUNK_BYTES } from "./merkle/sizes.ts";
import { DType, dtypeBytes, isFloat, isHalf, isInteger } from "../numerics/dtype.ts";
import { FLOAT64_LIMBS } from "../numerics/exactSum.ts";
import { encodeStepBody } from "./encode.ts";
import { coefficient, openedChunks, type Opened } from "./openedChunks.ts";
import { isElementary, Op, signature } from "./operations.ts";
import { INPUT_WORDS, proofBytes } from "./proofBytes.ts";
import { isDot, isPartial, isTotal, limbsOf } from "./reduction.ts";
import { product, sum } from "./sums.ts";
import { Reduce, type Axis, type Instruction, type Step, type View } from "./types.ts";

/**
 * Upper bounds on the gas costs of parts of a step proof, measured on contracts/verifier and rounded up.
 * test/contracts/verifier/gas.test.ts and gasOfTerms.test.ts compare estimates for whole proofs with measurements: an
 * estimate is never below the measurement, and gas.test.ts limits it to at most four times the measurement.
 */
const GAS = {
  transaction: 21_000,
  /**
   * The game's own part: program, checkpoint and step proofs, the claimed chunk, state, settlement
   * (test/contracts/game/proofGas.test.ts).
   */
  game: 200_000,
  /** An input's root, proven under the trace, the interior or the job: some 20 siblings. */
  gameInput: 30_000,
  /** Execution of the verifier whatever the step. */
  fixed: 25_000,
  decode: { input: 1_500, view: 2_200, axis: 900, coefficient: 350, digit: 700, constant: 1_300, instruction: 1_100 },
  /** Opening an input with at least one chunk; each chunk: hash, copies, byte order; each parent node on the way up. */
  opening: 4_000,
  chunk: 4_800,
  node: 1_100,
  /**
   * Placing a view for a block of terms; an axis with a divisor, an index read or an end in reach; finding a chunk, and
   * each halving of the list of chunks on the way.
   */
  place: { view: 900, axis: 650, detour: 220, coefficient: 130, seek: 700, halving: 180 },
  /** A block of terms without newly placed views, and each read in the block: moving the read's view on. */
  block: 900,
  blockRead: 250,
  /** Beginning a run of the fastest digit; each slower digit counted up or back to 0. */
  run: { start: 900, digit: 170 },
  /**
   * A term summed as read (float32, 16 bits and float64), and each read for the term; any other term: reads and fold.
   */
  bareTerm: 490,
  halfBareTerm: 450,
  float64BareTerm: 500,
  bareRead: 15,
  term: 350,
  read: 290,
  fold: 600,
  /**
   * Reversing the byte order of a chunk's word: one for each term if elements lie a word apart or more. By log2 of an
   * element's bytes.
   */
  word: [0, 170, 170, 290, 330, 330],
  epilogue: 4_000,
  /** The first call of contracts/verifier/Elementary.sol in a transaction: 2,600 for a cold account, and the call. */
  coldElementary: 3_000,
  /**
   * An operation in an expression, with a share of the loop over instructions. Elementary functions are calls to
   * Elementary.sol: the cheap functions (exp, log, tanh, sigmoid, expm1, log1p, sin, cos, sinh, cosh, atanh) and the
   * others. test/contracts/verifier/elementary.test.ts prints the largest call of each function, gas.test.ts sums 400
   * of erf, atan, sinh and sqrt. A cast to an integer checks the range, by code for all float types
   * (gasOfTerms.test.ts: 60 casts of the smallest normal number).
   */
  operation: {
    cheapElementary: 6_500,
    elementary: 12_500,
    sqrt: 2_500,
    digitOrSelect: 1_000,
    cast: 1_500,
    castToInteger: 2_300,
    float: 1_900,
    integer: 1_450,
  },
  /**
   * Floats other than float32: operations (calls to Elementary.sol), folds other than sums, and beginning and rounding
   * a float64 sum. 16-bit elementary functions cost conversions in addition; float64 functions have a price for erf and
   * a price for all others.
   */
  otherFloat: {
    operation: 5_000,
    iterative: 9_500,
    cast: 4_000,
    elementary: 5_500,
    erf64: 85_000,
    elementary64: 30_000,
    fold: 1_600,
    float64Sum: 25_000,
  },
  /** Not gas, but a bound used for gas: the chunks searched for one epilogue read. */
  epilogueChunks: 64,
  /**
   * Not gas, but a bound used for gas: memory used by the verifier besides the arguments, bytes: slots, the decoded
   * body, digits.
   */
  verifierMemory: 16_384,
} as const;

/** Returns whether a type is a float other than float32: all these share one arithmetic. */
const isOtherFloat = (dtype: DType): boolean => isFloat(dtype) && dtype !== DType.float32;

/** Returns the gas for a term summed as read. */
function bareTermGas(dtype: DType): number {
  if (isHalf(dtype)) return GAS.halfBareTerm;
  return dtype === DType.float64 ? GAS.float64BareTerm : GAS.bareTerm;
}

/** Returns the gas for an operation at run time: a share of the loop over instructions, and the call. */
export function operationGas(instruction: Instruction): number {
  const { op, dtype, b } = instruction;
  if (op === Op.cast && (isOtherFloat(dtype) || isOtherFloat(b as DType))) return GAS.otherFloat.cast;
  if (isOtherFloat(dtype) && op !== Op.select) {
    const name = signature(op)!.name;
    if (isElementary(op) && dtype === DType.float64)
      return op === Op.erf ? GAS.otherFloat.erf64 : GAS.otherFloat.elementary64;
    if (isElementary(op)) return operationGas({ ...instruction, dtype: DType.float32 }) + GAS.otherFloat.elementary;
    return name === "sqrt" || name === "fmod" ? GAS.otherFloat.iterative : GAS.otherFloat.operation;
  }
  const name = signature(op)!.name;
  switch (name) {
    case "exp":
    case "log":
    case "tanh":
    case "sigmoid":
    case "expm1":
    case "log1p":
    case "sin":
    case "cos":
    case "sinh":
    case "cosh":
    case "atanh":
      return GAS.operation.cheapElementary;
    case "sqrt":
      return GAS.operation.sqrt;
    case "digit":
    case "select":
      return GAS.operation.digitOrSelect;
    case "cast":
      return isFloat(dtype) && isInteger(b as DType) ? GAS.operation.castToInteger : GAS.operation.cast;
    default:
      if (isElementary(op)) return GAS.operation.elementary;
      return isFloat(dtype) ? GAS.operation.float : GAS.operation.integer;
  }
}

/** Calldata prices: execution pays the standard one, and no transaction less than the floor (EIP-7623). */
const STANDARD = { zero: 4, nonzero: 16 } as const;
const FLOOR = { zero: 10, nonzero: 40 } as const;
/** ABI heads of the arguments, and the game's state, header and proofs. */
const FIXED_CALLDATA = { nonzero: 1_500, zero: 3_000 } as const;
const SLOT_CALLDATA = { nonzero: 4, zero: 28 } as const;

/** Returns the gas reserved for the game itself in a step proof with `inputs` input tensors. */
export const gameGas = (inputs: number): number => GAS.game + GAS.gameInput * inputs;

/** The maximum gas and bytes for one element's proof transaction. */
export type ProofSize = { gas: number; bytes: number };

/**
 * The gas of a whole step-proof transaction for the worst element and the worst data, never less than what it takes.
 * @param step A well-formed step.
 */
export const estimateStepProofGas = (step: Step): number => estimateStepProof(step).gas;

/**
 * The gas and the bytes of a whole step-proof transaction for the worst element and the worst data, never less than
 * what it takes.
 * @param step A well-formed step.
 */
export function estimateStepProof(step: Step): ProofSize {
  const bodyBytes = encodeStepBody(step).length;
  const opened = step.inputs.map((_, input) => openedChunks(step, input));
  return { gas: proofGas(step, bodyBytes, opened), bytes: proofBytes(step, bodyBytes, opened) };
}

function proofGas(step: Step, bodyBytes: number, opened: readonly Opened[]): number {
  const { zero, nonzero } = calldataOf(step, bodyBytes, opened);
  const calldata = (price: { zero: number; nonzero: number }): number => price.zero * zero + price.nonzero * nonzero;

  const game = gameGas(step.inputs.length);
  // Arguments are copied by the game, by its checker, and by the verifier.
  const memory = 2 * memoryGas(zero + nonzero) + memoryGas(zero + nonzero + GAS.verifierMemory);
  const opening = sum(opened.map(openingGas));
  const execution = GAS.fixed + decodeGas(step) + opening + memory + reductionGas(step, opened) + epilogueGas(step);
  const standard = GAS.transaction + calldata(STANDARD) + execution;
  return Math.ceil(Math.max(standard, GAS.transaction + calldata(FLOOR)) + game);
}

const openingGas = ({ chunks, nodes }: Opened): number =>
  chunks === 0 ? 0 : GAS.opening + GAS.chunk * chunks + GAS.node * nodes;

/** Counts a proof's zero and nonzero calldata bytes; `gameGas` includes the bytes of the game's own part. */
function calldataOf(step: Step, bodyBytes: number, opened: readonly Opened[]): { zero: number; nonzero: number } {
  const chunks = sum(opened.map((o) => o.chunks));
  const siblings = sum(opened.map((o) => o.siblings));
  const slots = chunks + INPUT_WORDS * step.inputs.length;
  const nonzero = bodyBytes + CHUNK_BYTES * chunks + 32 * siblings + SLOT_CALLDATA.nonzero * slots;
  return { nonzero: nonzero + FIXED_CALLDATA.nonzero, zero: SLOT_CALLDATA.zero * slots + FIXED_CALLDATA.zero };
}

function memoryGas(bytes: number): number {
  const words = Math.ceil(bytes / 32);
  return 6 * words + words ** 2 / 512;
}

function decodeGas(step: Step): number {
  const views = [...step.termReads, ...step.epilogueReads];
  const axes = views.flatMap((view) => view.axes);
  const coefficients = sum(axes.map((axis) => axis.coeffs.length));
  const { decode } = GAS;
  return (
    decode.input * step.inputs.length +
    decode.digit * (step.outDigits.length + step.redDigits.length) +
    decode.constant * step.constants.length +
    decode.view * views.length +
    decode.axis * axes.length +
    decode.coefficient * coefficients +
    decode.instruction * (step.term.code.length + step.epilogue.code.length)
  );
}

const codeGas = (code: readonly Instruction[]): number => sum(code.map(operationGas));

function placeGas(step: Step, view: View, chunks: number): number {
  const coefficients = sum(view.axes.map((axis) => axis.coeffs.length));
  const { place } = GAS;
  const seek = place.seek + place.halving * Math.ceil(Math.log2(chunks + 1));
  const detours = view.axes.filter((axis) => !alwaysInside(step, axis)).length;
  const axes = place.axis * view.axes.length + place.detour * detours + place.coefficient * coefficients;
  return place.view + axes + seek + wordGas(step, view);
}

/** Returns the gas for reversing the byte order in a word read by a view. */
const wordGas = (step: Step, view: View): number => GAS.word[Math.log2(dtypeBytes(step.inputs[view.input]!.dtype))]!;

/** Returns the bytes between neighbouring terms' elements, as a digit counts up. */
const pitchOf = (step: Step, view: View, along: number): number =>
  dtypeBytes(step.inputs[view.input]!.dtype) *
  Math.abs(sum(view.axes.map((axis) => axis.stride * coefficient(axis, along))));

/** Returns the gas for reversing the byte order of words read for one term. */
const turningGas = (step: Step, along: number): number =>
  sum(step.termReads.map((view) => wordGas(step, view) * Math.min(1, pitchOf(step, view, along) / 32)));

function reductionGas(step: Step, opened: readonly Opened[]): number {
  if (step.reduceType === undefined) return 0;
  const terms = product(step.redDigits);
  const along =
    step.outDigits.length +
    Math.max(
      0,
      step.redDigits.findLastIndex((radix) => radix > 1),
    );
  const runLength = [...step.outDigits, ...step.redDigits][along]!;
  const runs = terms / runLength;

  let blocks = runs;
  let places = 0;
  step.termReads.forEach((view, n) => {
    const perRun = placesPerRun(step, n, along, runLength, opened[view.input]!.chunks);
    blocks += runs * (perRun - 1);
    places += runs * perRun * placeGas(step, view, opened[view.input]!.chunks);
  });
  blocks = Math.min(blocks, terms);

  const adds = step.reduce === Reduce.sum || isDot(step.reduce) || isPartial(step.reduce);
  const exact = isFloat(step.reduceType) && adds;
  const bare = exact && step.term.code.length === 0;
  const reads = step.termReads.length;
  const bareTerm = bareTermGas(step.reduceType) + GAS.bareRead * reads;
  const fold = !exact && isOtherFloat(step.reduceType) ? GAS.otherFloat.fold : GAS.fold;
  const perTerm = bare ? bareTerm : GAS.term + GAS.read * reads + fold + codeGas(step.term.code);
  const isFloat64Sum = (exact || isTotal(step.reduce)) && limbsOf(step) === FLOAT64_LIMBS;
  const sumOf = isFloat64Sum ? GAS.otherFloat.float64Sum : 0;
  const run = GAS.run.start + GAS.run.digit * (along - step.outDigits.length);
  const turning = terms * turningGas(step, along);
  return sumOf + runs * run + blocks * (GAS.block + GAS.blockRead * reads) + places + terms * perTerm + turning;
}

/** Returns how often a run over the fastest reduction digit places a read. */
function placesPerRun(step: Step, n: number, along: number, runLength: number, chunks: number): number {
  const view = step.termReads[n]!;
  let blocks = 1;
  for (const axis of view.axes) {
    const moves = coefficient(axis, along) !== 0;
    if (axis.indirect !== undefined) {
      const index = step.termReads[axis.indirect]!;
      if (index.axes.some((a) => coefficient(a, along) !== 0)) return runLength;
    }
    if (moves && axis.div !== 1) return runLength;
    // Enters and leaves its bounds once.
    if (moves && !alwaysInside(step, axis)) blocks += 2;
  }
  const bytes = pitchOf(step, view, along);
  if (bytes > 0 && chunks > 1) blocks += Math.ceil((bytes * (runLength - 1)) / CHUNK_BYTES);
  return Math.min(blocks, runLength);
}

function alwaysInside({ outDigits, redDigits }: Step, axis: Axis): boolean {
  const radices = [...outDigits, ...redDigits];
  const moves = axis.coeffs.map(({ digit, coeff }) => coeff * (radices[digit]! - 1));
  const lowest = axis.base + sum(moves.filter((move) => move < 0));
  const highest = axis.base + sum(moves.filter((move) => move > 0));
  return axis.indirect === undefined && axis.div === 1 && lowest >= 0 && highest < axis.extent;
}

function epilogueGas(step: Step): number {
  const reads = step.epilogueReads.map((view) => placeGas(step, view, GAS.epilogueChunks) + GAS.read);
  return GAS.epilogue + sum(reads) + codeGas(step.epilogue.code) + GAS.coldElementary;
}
