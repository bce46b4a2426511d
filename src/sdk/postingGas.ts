import { encodeFunctionData, size, type Hex } from "viem";
import { jobMarketAbi } from "../chain/abi/jobMarket.ts";
import { depthOf } from "../merkle/sizes.ts";
import { elementsOf, factsOf, type ProgramDescription } from "./description.ts";
import { DEFAULT_TERMS } from "./postJob.ts";
import { PART_BYTES } from "./served.ts";
import { bytesPerElement } from "./typedArrays.ts";

/** What posting a job takes its requester. */
export type PostingGas = {
  /** An upper bound, whatever the inputs hold. */
  gas: number;
  transactions: number;
  inputBytes: number;
};

/** Every transaction, and a byte of its calldata, other than zero or zero (EIP-2028), at the floor of EIP-7623. */
const TRANSACTION = 21_000;
const BYTE = { gas: 16, floor: 40 } as const;
const ZERO_BYTE = { gas: 4, floor: 10 } as const;

/*
 * What is executed beside calldata: test/sdk/postingGas.test.ts measures it, for an account whose words of storage are
 * empty.
 */
const POST = 75_000;
const PUBLISH = 45_000;
/** A byte of calldata: log 8, the rest for hashes and copies. */
const LOGGED_BYTE = 13;

/** Deposits that an account without credit makes before: an approval and the deposit. */
const DEPOSIT = { gas: 46_500 + 95_000, transactions: 2 } as const;

const FULL = "ff";
const word: Hex = `0x${FULL.repeat(32)}`;
const bytes = (count: number): Hex => `0x${FULL.repeat(count)}`;

/** An upper bound of the gas of posting a job: the deposit of its fee, the post, and the parts of large inputs. */
export function postingGas(program: ProgramDescription): PostingGas {
  const sizes = program.inputs.map((input) => elementsOf(input) * bytesPerElement(input.dtype));
  const inputBytes = sizes.reduce((total, length) => total + length, 0);
  const together = inputBytes <= PART_BYTES;
  const parts = together ? [] : sizes.flatMap((length) => partGas(program, length));
  const post = transaction(postData(program, together ? sizes : []), POST);
  return {
    gas: DEPOSIT.gas + post + parts.reduce((total, gas) => total + gas, 0),
    transactions: DEPOSIT.transactions + 1 + parts.length,
    inputBytes,
  };
}

/** The gas of each part of an input. */
function partGas(program: ProgramDescription, length: number): number[] {
  const whole = Math.floor(length / PART_BYTES);
  const rest = length % PART_BYTES;
  const full = whole === 0 ? 0 : transaction(partData(program, length, PART_BYTES), PUBLISH);
  const last = rest === 0 ? [] : [transaction(partData(program, length, rest), PUBLISH)];
  return [...Array.from({ length: whole }, () => full), ...last];
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
  fee: 2n ** 128n - 1n,
  window: 2 ** 32 - 1,
  claimSeconds: 2 ** 32 - 1,
  deadline: 2n ** 64n - 1n,
  rootOnly: false,
  salt: word,
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

function partData(program: ProgramDescription, input: number, length: number): Hex {
  const { fee, window, claimSeconds, deadline, callbackGas, maxOutputBytes, rootOnly, salt } = TERMS;
  const [work, deliverables] = [deadline, deadline];
  const roots = { programRoot: word, inputsRoot: word, work, checkpoints: window, deliverables };
  const limits = { fee, window, claimSeconds, deadline, callbackGas, maxOutputBytes, rootOnly, salt };
  const siblings = path(Math.max(0, depthOf(Math.ceil(input / PART_BYTES))));
  const part = {
    input: 1,
    part: 1,
    data: bytes(length),
    siblings,
    inputRoot: word,
    inputSiblings: path(depthOf(program.inputs.length)),
  };
  return encodeFunctionData({
    abi: jobMarketAbi,
    functionName: "publishInput",
    args: [{ requester: `0x${FULL.repeat(20)}`, ...roots, ...limits }, factsOf(program), part],
  });
}
