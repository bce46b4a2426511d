import { zeroAddress } from "viem";
import type { Job, Terms } from "../chain/structs.ts";
import { hopOf } from "../chain/market/revealLevels.ts";
import { depthOf, HASH_BYTES } from "../program/merkle/sizes.ts";
import type { ProgramShape } from "./run/execution.ts";

/**
 * The minimum fee for a job's gas, in percent of the gas cost at the current price: the price may rise between the
 * claim and the delivery, a window later. If the price rises further, the worker may delay the delivery.
 */
const COVERED_PERCENT = 150n;

/**
 * Returns the fee that covers a job's gas, with the margin for a rising price.
 * @param gas See {@link jobGas}.
 * @param gasPrice wei.
 * @returns In the stake asset's smallest unit, worth one wei.
 */
export const coveringFee = ({ total }: Pick<JobGas, "total">, gasPrice: bigint): bigint =>
  (BigInt(total) * gasPrice * COVERED_PERCENT + 99n) / 100n;

/** Properties that determine the gas for a job's transactions. */
export type JobShape = {
  /** Bytes of the program's header. */
  headerBytes: number;
  /** Checkpoints of the program. */
  checkpoints: number;
  /** Items of the run. */
  items: number;
  /** Outputs that the claim consists of; 0 in trace form. */
  answers: number;
  /** Bytes of each output delivered on chain. */
  delivered: readonly number[];
  /** Gas of each delivery's callback, 0 without a callback. */
  callbackGas: number;
  /** log2 of a submission's maximum number of nodes: the deployment's value. */
  arityBits: number;
};

/** Upper bounds for the gas of each transaction that the worker sends for an undisputed job. */
export type JobGas = {
  claim: number;
  submit: number;
  /** Without a delivery. */
  finalise: number;
  /** Gas of each output's delivery; the first delivery includes the finalising. */
  deliveries: readonly number[];
  /** Gas of all the worker's transactions: the first delivery, if any, also finalises the claim. */
  total: number;
};

/**
 * The base cost per transaction, and the cost per calldata byte, nonzero or zero (EIP-2028), with the floor from
 * EIP-7623.
 */
const TRANSACTION = 21_000;
const BYTE = { gas: 16, floor: 40 } as const;
const ZERO_BYTE = { gas: 4, floor: 10 } as const;

/** Calldata by what its bytes can be: `full` ones count as other than zero. */
type Calldata = { full: number; zero: number };

const WORD = 32;
const sum = (...parts: readonly Calldata[]): Calldata => ({
  full: parts.reduce((total, { full }) => total + full, 0),
  zero: parts.reduce((total, { zero }) => total + zero, 0),
});
/** Calldata with `count` words; the contracts' types fill `full` bytes. */
const words = (count: number, full: number): Calldata => ({ full, zero: count * WORD - full });
const bytes = (count: number): Calldata => ({ full: Math.ceil(count / WORD) * WORD, zero: 0 });
const SELECTOR: Calldata = { full: 4, zero: 0 };
/** Requester 20, two roots and the salt 96, work 8, counts 13, fee 16, the times 16, limits 16, flag 1. */
const JOB = sum(SELECTOR, words(17, 186));
/** The worker and the claim's root. */
const CLAIMED = sum(JOB, words(2, 20 + WORD));
/** Offset and length of the nodes. */
const NODES_HEAD = words(2, 2 * 3);
/** Two roots; offsets, lengths and the output's number. */
const DELIVERY_HEAD = words(12, 2 * WORD + 10 * 3);

/*
 * Gas of execution beside calldata: measured by test/parties/worker/jobCost.test.ts with the dearest accounts (a worker
 * without credit, whose pay fills a word of storage), plus some thousands to spare, because compilers and deployments
 * differ.
 */
const CLAIM = 45_000;
const SUBMIT = 20_000;
const FINALISE = 25_000;
const RELEASE = 36_000;
const DELIVER = 15_000;
/**
 * Gas for the word that marks delivered outputs, in a job with several outputs: the first delivery fills the word,
 * later deliveries change it.
 */
const FIRST_MARK = 22_100;
const MARK = 5_000;
/** A node of a submission: hash and log. */
const NODE = 600;
/** A sibling of an opening: hash. */
const SIBLING = 800;
/** A byte of a header: hash and copies. */
const HEADER_BYTE = 2;
/** A byte of an output: log 8, hash and copies below 2. */
const OUTPUT_BYTE = 10;
/** A callback's own costs: an untouched account, the record of a failure, and the bytes copied for the callback. */
const CALLBACK = 35_000;
const BYTES_COPIED_FOR_A_GAS = 5;
/** Memory also costs the square of the memory's words, divided by the divisor. */
const MEMORY_DIVISOR = 512;

const transaction = ({ full, zero }: Calldata, execution: number): number => {
  const cost = (kind: "gas" | "floor"): number => BYTE[kind] * full + ZERO_BYTE[kind] * zero;
  return TRANSACTION + Math.max(cost("gas") + Math.ceil(execution), cost("floor"));
};

/**
 * Returns the properties that determine a job's gas.
 * @param terms The terms of the job, posted or not.
 */
export const jobShape = (
  { headerBytes, checkpoints, outputBytes }: Pick<ProgramShape, "headerBytes" | "checkpoints" | "outputBytes">,
  { callbackGas, maxOutputBytes, items, answers }: Pick<Job, "callbackGas" | "maxOutputBytes" | "items" | "answers">,
  arityBits: number,
): JobShape => ({
  headerBytes,
  checkpoints,
  items,
  answers,
  delivered: outputBytes.filter((bytes) => bytes <= maxOutputBytes),
  callbackGas,
  arityBits,
});

/** Returns upper bounds for the worker's gas for a job with an undisputed claim. The function is pure. */
export function jobGas(shape: JobShape): JobGas {
  const { headerBytes, checkpoints, items, answers, delivered, callbackGas, arityBits } = shape;
  // Down to an output: among the outputs, or through the run and then through the last item's trace.
  const depth = answers > 0 ? depthOf(answers) : depthOf(items) + depthOf(checkpoints);
  const nodes = 2 ** (answers > 0 ? depth : hopOf(items === 1 ? depth : depthOf(items), arityBits));
  const claim = transaction(JOB, CLAIM);
  const submit = transaction(sum(JOB, NODES_HEAD, bytes(nodes * HASH_BYTES)), SUBMIT + nodes * NODE);
  const finalise = transaction(CLAIMED, FINALISE + RELEASE);
  const last = delivered.length - 1;
  const deliveries = delivered.map((output, k) => {
    const calldata = sum(CLAIMED, DELIVERY_HEAD, bytes(headerBytes), bytes(depth * HASH_BYTES), bytes(output));
    const mark = last === 0 ? 0 : k === 0 ? FIRST_MARK : MARK;
    // The first delivery finalises the claim; the last delivery releases the fee.
    const state = DELIVER + mark + (k === 0 ? FINALISE : 0) + (k === last ? RELEASE : 0);
    const proof = HEADER_BYTE * headerBytes + SIBLING * depth + OUTPUT_BYTE * output;
    const callback = callbackGas === 0 ? 0 : callbackGas + CALLBACK + output / BYTES_COPIED_FOR_A_GAS;
    // The bytes are in memory for the log, and once more for a callback.
    const memory = ((callbackGas === 0 ? 1 : 2) * output) / WORD;
    return transaction(calldata, state + proof + callback + memory ** 2 / MEMORY_DIVISOR);
  });
  const end = deliveries.length === 0 ? finalise : deliveries.reduce((total, gas) => total + gas);
  return { claim, submit, finalise, deliveries, total: claim + submit + end };
}

/** The terms of a job in a call: collateral 16, times 10, limits 4, small numbers 4, addresses, three words. */
const TERMS = words(13, 16 + 10 + 4 + 4 + 2 * 20 + 3 * WORD);
/**
 * Gas of the sealing call, and the extra gas for claiming on a group's terms and for opening, compared with claiming
 * and submitting.
 */
const SEAL = 18_000;
const CLAIM_ON_TERMS = 45_000;
const OPEN = 12_000;
/**
 * Gas for asking a contract for a worker's class: more than twice the gas of `ExamClaims`. The contract is the
 * requester's choice, and may burn all gas of a call: workers pay for no more.
 */
const ASK_CLASS = 80_000;

/** An upper bound for the worker's extra gas in a job with terms, without seals, compared with a job without terms. */
const TERMED_GAS = 2 * (BYTE.gas * TERMS.full + ZERO_BYTE.gas * TERMS.zero) + CLAIM_ON_TERMS;

/** An upper bound for the worker's extra gas in a job with sealed submissions, compared with a job without terms. */
export const SEALED_GAS =
  transaction(sum(JOB, TERMS, words(1, WORD)), SEAL) + BYTE.gas * (20 + WORD) + ZERO_BYTE.gas * 12 + TERMED_GAS + OPEN;

/** A worker's limit for the gas of a claim on a job with terms, beyond the gas of a transaction with the same bytes. */
export const MAX_CLAIM_GAS = BigInt(CLAIM + CLAIM_ON_TERMS + ASK_CLASS);

/**
 * Returns an upper bound for the worker's extra gas in a job with the given terms, compared with a job without terms.
 */
export const termsGas = ({ openFrom = 0, classes = zeroAddress }: Partial<Pick<Terms, "openFrom" | "classes">>) =>
  (openFrom === 0 ? TERMED_GAS : SEALED_GAS) + (classes === zeroAddress ? 0 : ASK_CLASS);

/**
 * Returns an upper bound for the gas still needed to deliver some of a job's outputs. The function is pure.
 * @param wanted The numbers of all outputs that the job wants, ordered like `shape.delivered`.
 * @param missing The numbers of undelivered outputs; a claim before finality lacks all outputs.
 */
export function missingGas(shape: JobShape, wanted: readonly number[], missing: readonly number[]): number {
  const delivered = shape.delivered.filter((_, k) => missing.includes(wanted[k]!));
  // The first delivery's bound counts the finalising, which exceeds the marks missing from a shorter list.
  return jobGas({ ...shape, delivered }).deliveries.reduce((total, gas) => total + gas, 0);
}
