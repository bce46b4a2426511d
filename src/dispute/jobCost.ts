import type { Job } from "../chain/structs.ts";
import { hopOf } from "../chain/market/revealLevels.ts";
import { depthOf, HASH_BYTES } from "../program/merkle/sizes.ts";
import type { ProgramShape } from "./run/execution.ts";

/**
 * What a job must pay for its gas, in percent of what the gas costs at the price of now: the price may rise between the
 * claim and the delivery, a window later. If it rises by more, the worker may wait with the delivery.
 */
const COVERED_PERCENT = 150n;

/**
 * The fee that covers a job's gas, with the margin for a rising price.
 * @param gas See {@link jobGas}.
 * @param gasPrice wei.
 * @returns In the smallest unit of the stake asset, which is worth a wei.
 */
export const coveringFee = ({ total }: Pick<JobGas, "total">, gasPrice: bigint): bigint =>
  (BigInt(total) * gasPrice * COVERED_PERCENT + 99n) / 100n;

/** What the gas of a job's transactions follows from. */
export type JobShape = {
  /** Of the program's header. */
  headerBytes: number;
  /** Checkpoints of the program. */
  checkpoints: number;
  /** Items of the run. */
  items: number;
  /** Outputs that the claim consists of; 0 in trace form. */
  answers: number;
  /** Bytes of each output that is delivered on chain. */
  delivered: readonly number[];
  /** Gas of the callback that each delivery makes, 0 for none. */
  callbackGas: number;
  /** log2 of the nodes that a submission shows, at most: the deployment's. */
  arityBits: number;
};

/** Upper bounds of the gas of each transaction that an undisputed job takes its worker. */
export type JobGas = {
  claim: number;
  submit: number;
  /** Without a delivery. */
  finalise: number;
  /** Of each output, the first one with the finalising. */
  deliveries: readonly number[];
  /** Of all that such a worker sends: it finalises by the first delivery, if there is one. */
  total: number;
};

/** Every transaction, and a byte of its calldata, other than zero or zero (EIP-2028), at the floor of EIP-7623. */
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
/** Words of which the contracts' types fill a number of bytes. */
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
 * What is executed beside calldata: what test/parties/worker/jobCost.test.ts measures with the accounts that are dearest (a
 * worker that has no credit, so that its pay fills a word of storage), and some thousands to spare, because compilers
 * and deployments differ.
 */
const CLAIM = 45_000;
const SUBMIT = 20_000;
const FINALISE = 25_000;
const RELEASE = 36_000;
const DELIVER = 15_000;
/** The word that says what was delivered, of a job of several outputs: filled by the first delivery, then changed. */
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
/** A callback's own costs: an account that was not touched, what is written if it fails; and bytes copied for it. */
const CALLBACK = 35_000;
const BYTES_COPIED_FOR_A_GAS = 5;
/** Memory also costs the square of its words, divided by this. */
const MEMORY_DIVISOR = 512;

const transaction = ({ full, zero }: Calldata, execution: number): number => {
  const cost = (kind: "gas" | "floor"): number => BYTE[kind] * full + ZERO_BYTE[kind] * zero;
  return TRANSACTION + Math.max(cost("gas") + Math.ceil(execution), cost("floor"));
};

/** What a job's gas follows from. @param terms Of the job, posted or not. */
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

/** Upper bounds of the gas that a job takes its worker, if nobody disputes its claim. Pure. */
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
    // The first one finalises, the last one releases the fee.
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

/** The terms of a job as calls bring them: collateral 16, times 10, limits 4, small numbers 4, addresses, two words. */
const TERMS = words(12, 16 + 10 + 4 + 4 + 2 * 20 + 2 * WORD);
/** The call that seals, and what claiming on terms of a group and opening cost more than claiming and submitting. */
const SEAL = 18_000;
const CLAIM_ON_TERMS = 45_000;
const OPEN = 12_000;

/** An upper bound of the gas that a job whose submissions are sealed takes its worker beside that of another job. */
export const SEALED_GAS =
  transaction(sum(JOB, TERMS, words(1, WORD)), SEAL) +
  BYTE.gas * (2 * TERMS.full + 20 + WORD) +
  ZERO_BYTE.gas * (2 * TERMS.zero + 12) +
  CLAIM_ON_TERMS +
  OPEN;

/**
 * An upper bound of the gas that is still needed to deliver some of a job's outputs. Pure.
 * @param wanted The numbers of all outputs that the job wants, in the order of `shape.delivered`.
 * @param missing Those that are not delivered yet; a claim that is not final lacks all of them.
 */
export function missingGas(shape: JobShape, wanted: readonly number[], missing: readonly number[]): number {
  const delivered = shape.delivered.filter((_, k) => missing.includes(wanted[k]!));
  // The first of these counts the finalising, which is more than the marks that a shorter list leaves out.
  return jobGas({ ...shape, delivered }).deliveries.reduce((total, gas) => total + gas, 0);
}
