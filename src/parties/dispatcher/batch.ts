import { concatHex, encodeAbiParameters, keccak256, stringToHex, type Hex } from "viem";
import { sha256, toHex } from "../../program/merkle/hash.ts";
import { MAX_ITEMS } from "../../program/run.ts";
import type { InputSource, ProgramInput } from "../../program/types.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { describeProgram } from "../requester/describeProgram.ts";
import type { ProgramDescription } from "../requester/description.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import { DispatchInputError } from "./errors.ts";

/** Maximum number of parts in a batch: each round looks at all parts. */
const MAX_PARTS = 100_000;

/** Maximum index in a job's first item. */
const MAX_FIRST_ITEM = 2 ** 32 - 1;

/** The contents of a batch. */
export type BatchRequest = {
  program: KnownProgram;
  /**
   * The inputs in the program's order, like a job over all items. An input with a separate value per item holds all
   * items' values; an index input is empty. A carried input holds each part's initial state, one after the other, or
   * the first part's alone: then all carried inputs do, and the parts are a chain.
   */
  inputs: readonly Uint8Array[];
  items: number;
  /** Items of a part, at most 65,536; the last part may have fewer. */
  partItems: number;
  /** The first item's value for an index input, default 0. */
  firstItem?: number;
  /** Batches with the same content and name are one batch: already computed parts are not paid again. */
  name?: string;
};

/** A part of a batch: what one job computes. */
export type BatchPart = {
  /** From 0. */
  number: number;
  /** The number of the part's first item in the batch. */
  first: number;
  items: number;
  /** The part's first value for an index input. */
  firstItem: number;
  /** For later parts of a chain without the states, unknown at the start: see `inputsOf`. */
  inputs: readonly Uint8Array[];
};

/** An input whose state joins the parts of a run, and the output with the next item's state. */
type Join = { input: number; output: number };

/** A batch, cut into parts. */
export type Batch = {
  /** The hash of the batch's content: every dispatcher derives the same id. */
  id: Hex;
  program: KnownProgram;
  description: ProgramDescription;
  items: number;
  parts: readonly BatchPart[];
  joins: readonly Join[];
  /** Whether each part begins with the final states of the part before: the part's job waits for these states. */
  isChained: boolean;
};

/**
 * Cuts a batch into parts.
 * @throws DispatchInputError
 */
export function cutBatch(request: BatchRequest): Batch {
  const { program, inputs, items, partItems, firstItem = 0 } = request;
  const taken = program.model.program.inputs;
  requireWhole("items", items, Number.MAX_SAFE_INTEGER);
  requireWhole("items of a part (--part-items)", partItems, MAX_ITEMS);
  if (inputs.length !== taken.length)
    throw new DispatchInputError(`the program takes ${taken.length} inputs, got ${inputs.length}`);
  if (items > 1 && taken.every(({ source: { kind } = { kind: "shared" } }) => kind === "shared"))
    throw new DispatchInputError(
      "all items would compute the same: compile the program with --batch, or with inputs that each item has (--each)",
    );
  const count = Math.ceil(items / partItems);
  if (count > MAX_PARTS)
    throw new DispatchInputError(`${count} parts, at most ${MAX_PARTS}: make them larger (--part-items)`);
  if (firstItem + (count - 1) * partItems > MAX_FIRST_ITEM)
    throw new DispatchInputError(
      `the last part begins with item ${firstItem + (count - 1) * partItems}, at most ${MAX_FIRST_ITEM}: begin lower ` +
        "(--first-item), or with fewer items (--items)",
    );
  const isChained = count > 1 && taken.some((input, k) => isCarried(input) && inputs[k]!.length === bytesOf(input));
  const counts = { each: items, carried: isChained ? 1 : count, shared: 1, index: 0 };
  taken.forEach((input, k) => requireBytes(program, input, k, inputs[k]!, counts));
  const parts = Array.from({ length: count }, (_, number): BatchPart => {
    const first = number * partItems;
    const own = Math.min(partItems, items - first);
    const ofPart = taken.map((input, k) => {
      const state = isChained && number > 0 ? [0, 0] : [number, 1];
      const [from, tensors] = { each: [first, own], carried: state, shared: [0, 1], index: [0, 0] }[
        input.source?.kind ?? "shared"
      ] as [number, number];
      return inputs[k]!.subarray(from * bytesOf(input), (from + tensors) * bytesOf(input));
    });
    return { number, first, items: own, firstItem: firstItem + first, inputs: ofPart };
  });
  const joins = count === 1 ? [] : joinsOf(program);
  return { id: batchId(request), program, description: describeProgram(program), items, parts, joins, isChained };
}

/**
 * Returns the salt of a part's job: the salt stays the same across restarts of a dispatcher, and no part is posted
 * twice.
 */
export const partSalt = (batch: Hex, { first, items }: Pick<BatchPart, "first" | "items">, attempt: number): Hex =>
  keccak256(
    encodeAbiParameters(
      [{ type: "bytes32" }, { type: "uint64" }, { type: "uint32" }, { type: "uint32" }],
      [batch, BigInt(first), items, attempt],
    ),
  );

function batchId({ program, inputs, items, partItems, firstItem = 0, name = "" }: BatchRequest): Hex {
  const hashes = inputs.map((bytes) => toHex(sha256(bytes)));
  const numbers = [items, partItems, firstItem].map((number) => toHex(bytes8(number)));
  return keccak256(concatHex([program.model.programRoot, ...numbers, ...hashes, stringToHex(name)]));
}

function bytes8(number: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number));
  return bytes;
}

function requireWhole(what: string, number: number, max: number): void {
  if (!Number.isSafeInteger(number) || number < 1 || number > max)
    throw new DispatchInputError(`${what}: ${number}, expected a whole number from 1 to ${max}`);
}

function requireBytes(
  { model }: KnownProgram,
  input: ProgramInput,
  k: number,
  { length }: Uint8Array,
  counts: Readonly<Record<InputSource["kind"] | "shared", number>>,
): void {
  const kind = input.source?.kind ?? "shared";
  const tensors = counts[kind];
  if (length === tensors * bytesOf(input)) return;
  const has = `input "${model.inputs[k]!.name}" has ${length} bytes, expected ${tensors * bytesOf(input)}`;
  const why = {
    each: `: one tensor for each of ${counts.each} items`,
    carried:
      counts.carried === 1
        ? ": the state that the first part begins with; all states are given so, or all for each part"
        : `: the state that each of ${counts.carried} parts begins with, or the first part's alone`,
    shared: "",
    index: ": it is the number of the item",
  }[kind];
  throw new DispatchInputError(has + why);
}

const isCarried = ({ source }: ProgramInput): boolean => source?.kind === "carried";

/**
 * Finds the carried inputs that join the parts.
 * @throws DispatchInputError if parts cannot be joined, because no output holds the carried state
 */
function joinsOf({ model }: KnownProgram): Join[] {
  const { inputs, outputs } = model.program;
  return inputs.flatMap(({ source }, input) => {
    if (source?.kind !== "carried") return [];
    const output = outputs.indexOf(source.checkpoint);
    if (output === -1)
      throw new DispatchInputError(
        `input "${model.inputs[input]!.name}" is carried, and what it is carried from is no output: compile it as an ` +
          "output too (--last-output), so that the parts of the run can be joined on it",
      );
    return [{ input, output }];
  });
}
