import { concatHex, encodeFunctionData, hexToBytes, size, type Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { referenceSuffix } from "../../chain/market/references.ts";
import { CHUNK_BYTES, depthOf } from "../../program/merkle/sizes.ts";
import { sum } from "../../program/sums.ts";
import { readHeader } from "../../program/header.ts";
import { ONE_ITEM } from "../../program/run.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import { elementsOf, factsOf, type ProgramDescription } from "./description.ts";
import { DEFAULT_TERMS } from "./postJob.ts";
import { isPostedWhole, PART_BYTES } from "./jobLimits.ts";
import { bytesPerElement } from "./typedArrays.ts";

/** The requester's cost of posting a job. */
export type PostingGas = {
  /** An upper bound, whatever the inputs hold. */
  gas: number;
  transactions: number;
  inputBytes: number;
};

/**
 * The base cost of a transaction, and the cost of a calldata byte, nonzero or zero (EIP-2028), with the floor of
 * EIP-7623.
 */
const TRANSACTION = 21_000;
const BYTE = { gas: 16, floor: 40 } as const;
const ZERO_BYTE = { gas: 4, floor: 10 } as const;

/*
 * Gas of execution beside calldata, measured by test/parties/requester/postingGas.test.ts for an account whose words of
 * storage are empty.
 */
const POST = 74_200;
const PUBLISH = 45_000;
/** A tensor that comes with the post: its tree and its place in the lists. */
const TENSOR = 2_750;
/** Gas per level in the tree of carried state: the market computes the root of zeros. */
const ZERO_LEVEL = 1_500;
/** A byte of calldata: log 8, the rest for hashes and copies. */
const LOGGED_BYTE = 13;

/** Deposits that an account without credit makes before: an approval and the deposit. */
const DEPOSIT = { gas: 46_500 + 95_000, transactions: 2 } as const;

const FULL = "ff";
const word: Hex = `0x${FULL.repeat(32)}`;
const bytes = (count: number): Hex => `0x${FULL.repeat(count)}`;

/**
 * Returns an upper bound for the gas of posting a job: the fee's deposit, the post, and the parts of large inputs.
 * @param items Number of items in the run.
 * @param given The inputs, if known. Otherwise carried state counts as unposted zeros.
 * @param references Locations of the inputs, if not posted.
 */
export function postingGas(
  program: ProgramDescription,
  items = 1,
  given?: readonly Uint8Array[],
  references?: readonly string[],
): PostingGas {
  const { inputs } = readHeader(hexToBytes(program.header));
  const run = given && new RunInputs(inputs, { ...ONE_ITEM, items }, given);
  const tensors = program.inputs.map((input, k): InputTensors => {
    const { kind } = inputs[k]!.source;
    const usual = kind === "each" ? items : kind === "shared" ? 1 : 0;
    const posted = run?.posted(k).length ?? usual;
    return { count: references === undefined ? posted : 0, bytes: elementsOf(input) * bytesPerElement(input.dtype) };
  });
  const levels = tensors.map(({ bytes: size }, k) => (inputs[k]!.source.kind === "carried" ? levelsOf(size) : 0));
  const sizes = tensors.map(({ count, bytes: size }) => count * size);
  const inputBytes = sizes.reduce((total, length) => total + length, 0);
  const count = tensors.reduce((total, input) => total + input.count, 0);
  const together = isPostedWhole(count, inputBytes);
  const posted = together ? count : 0;
  const parts = together ? [] : tensors.flatMap((input) => partGas(program, input));
  const data = postData(program, together && references === undefined ? sizes : []);
  const suffix = references === undefined ? "0x" : referenceSuffix(references);
  const post = transaction(concatHex([data, suffix]), POST + TENSOR * posted + ZERO_LEVEL * sum(levels));
  return {
    gas: DEPOSIT.gas + post + parts.reduce((total, gas) => total + gas, 0),
    transactions: DEPOSIT.transactions + 1 + parts.length,
    inputBytes,
  };
}

/** Returns a tensor tree's levels, plus one for chunks. */
const levelsOf = (length: number): number => 1 + depthOf(Math.ceil(length / CHUNK_BYTES));

/** An input's posted tensors, and the bytes per tensor. */
type InputTensors = { count: number; bytes: number };

/** The gas of each part of an input. */
function partGas(program: ProgramDescription, { count, bytes: length }: InputTensors): number[] {
  if (count === 0) return [];
  const whole = Math.floor(length / PART_BYTES);
  const rest = length % PART_BYTES;
  const full = whole === 0 ? 0 : transaction(partData(program, length, count, PART_BYTES), PUBLISH);
  const last = rest === 0 ? [] : [transaction(partData(program, length, count, rest), PUBLISH)];
  const ofTensor = [...Array.from({ length: whole }, () => full), ...last];
  return Array.from({ length: count }, () => ofTensor).flat();
}

function transaction(data: Hex, execution: number): number {
  const total = size(data);
  let zeros = 0;
  for (let at = 2; at < data.length; at += 2) if (data.startsWith("00", at)) zeros++;
  const cost = (kind: "gas" | "floor"): number => BYTE[kind] * (total - zeros) + ZERO_BYTE[kind] * zeros;
  return TRANSACTION + Math.max(cost("gas") + execution + LOGGED_BYTE * total, cost("floor"));
}

const TERMS = {
  ...DEFAULT_TERMS,
  items: 2 ** 32 - 1,
  firstItem: 2 ** 32 - 1,
  fee: 2n ** 128n - 1n,
  window: 2 ** 32 - 1,
  claimSeconds: 2 ** 32 - 1,
  deadline: 2n ** 64n - 1n,
  rootOnly: false,
  salt: word,
  terms: [],
} as const;

const postData = (program: ProgramDescription, sizes: readonly number[]): Hex =>
  encodeFunctionData({
    abi: jobMarketAbi,
    functionName: "post",
    args: [
      { ...TERMS, program: factsOf(program), inputRoots: program.inputs.map(() => word), inputs: sizes.map(bytes) },
    ],
  });

const path = (levels: number): Hex[] => Array.from({ length: levels }, () => word);

/** @param tensors Of the input. */
function partData(program: ProgramDescription, input: number, tensors: number, length: number): Hex {
  const { fee, window, claimSeconds, deadline, callbackGas, maxOutputBytes, rootOnly, salt } = TERMS;
  const [work, deliverables] = [deadline, deadline];
  const counts = { checkpoints: window, items: window, firstItem: window, answers: 1 };
  const roots = { programRoot: word, inputsRoot: word, work, ...counts, deliverables };
  const limits = { fee, window, claimSeconds, deadline, callbackGas, maxOutputBytes, rootOnly, salt, termsHash: word };
  const siblings = path(Math.max(0, depthOf(Math.ceil(input / PART_BYTES))));
  const part = {
    input: 1,
    part: 1,
    data: bytes(length),
    siblings,
    inputRoot: word,
    inputSiblings: path(depthOf(tensors) + depthOf(program.inputs.length)),
  };
  return encodeFunctionData({
    abi: jobMarketAbi,
    functionName: "publishInput",
    args: [{ requester: `0x${FULL.repeat(20)}`, ...roots, ...limits }, factsOf(program), part],
  });
}
