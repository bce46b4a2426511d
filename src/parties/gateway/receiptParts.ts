import { isAddressEqual, type Hex } from "viem";
import type { SignedClaim } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { Execute } from "../../runs/execute.ts";
import { answerOfBytes, answerRun } from "../tickets/answerRun.ts";
import { claimOfBody } from "../tickets/messages.ts";
import { KeptTexts } from "../tickets/keptTexts.ts";
import type { FindSigner } from "../tickets/signatures.ts";
import { digestOf, type TicketsAt } from "../tickets/typedData.ts";
import { ReceiptError } from "./errors.ts";
import { LIBRARIES, type FileHashes } from "./textModel.ts";

/** The parts that receipts of all kinds have. */

/** Where receipts hold: the tickets, and how long their claims can be put on chain, seconds. */
export type ReceiptPlace = TicketsAt & { claimLifetime: number };

/** A block that was bought: a signed claim with the chosen tokens or the vector. */
export type BoughtBlock = { claim: Parameters<typeof claimOfBody>[0]["claim"]; signature: string };

type SoldModel = { name: string; program: KnownProgram; hashes: FileHashes };

/** A receipt's id: of the first claim in it. */
export const receiptId = (prefix: string, at: TicketsAt, { claim }: BoughtBlock): string =>
  `${prefix}-${digestOf(at, "SignedClaim", claimOfBody({ claim })).slice(2, 34)}`;

/** Returns the common fields of a receipt. */
export function headOf(prefix: string, model: SoldModel, place: ReceiptPlace, blocks: readonly BoughtBlock[]) {
  const issued = blocks.map(({ claim }) => Number(claim.issued));
  return {
    version: 1 as const,
    id: receiptId(prefix, place, blocks[0]!),
    created: issued[0]!,
    model: model.name,
    chainId: place.chainId,
    tickets: place.tickets,
    programRoot: model.program.model.programRoot,
    files: { ...model.hashes },
    libraries: { ...LIBRARIES },
    refutableUntil: Math.min(...issued) + place.claimLifetime,
  };
}

/** A bought run, with the worker's claim. */
type ClaimedRun = {
  inputs: RunInputs;
  outputs: readonly Uint8Array[];
  claim: SignedClaim;
  signature: Hex;
};

/** What a receipt says, read and compared with the request: all but the execution. */
export type OpenedReceipt<R = { id: string; refutableUntil: number }> = {
  receipt: R;
  program: KnownProgram;
  runs: readonly ClaimedRun[];
};

/** The names in an error about a block that does not fit: the block, its inputs, its outputs. */
type BlockNames = { where: string; inputs: string; outputs: string };

/**
 * Opens the claim about a run.
 * @param payer The first claim's payer, if the payer of the text is another.
 * @throws ReceiptError if the run is not that of the claim, or the claim not signed by its worker
 */
export function openBlock(
  block: BoughtBlock,
  run: { inputs: RunInputs; outputs: readonly Uint8Array[] },
  about: { program: KnownProgram; place: ReceiptPlace; findSigner: FindSigner; payer: Hex | undefined },
  { where, ...names }: BlockNames,
): ClaimedRun {
  const { program, place, findSigner } = about;
  const claim = claimOfBody(block);
  const { items } = run.inputs.length;
  const answer = answerOfBytes(program.model.program, items, run.outputs);
  if (claim.programRoot.toLowerCase() !== program.model.programRoot)
    throw new ReceiptError(`${where}.claim.programRoot`, "is that of another program");
  if (claim.items !== items || claim.firstItem !== 0)
    throw new ReceiptError(
      `${where}.claim.${claim.firstItem === 0 ? "items" : "firstItem"}`,
      "does not fit what was bought",
    );
  // SAFETY: before what the signature covers is compared with the rest, the signature must hold.
  const signer = findSigner(digestOf(place, "SignedClaim", claim), block.signature as Hex);
  if (signer === undefined || !isAddressEqual(signer, claim.worker))
    throw new ReceiptError(`${where}.signature`, "is not that of the worker over the claim as it stands here");
  if (about.payer !== undefined && !isAddressEqual(claim.payer, about.payer))
    throw new ReceiptError(`${where}.claim.payer`, "is another one than in the first block");
  if (claim.inputsRoot.toLowerCase() !== run.inputs.list.root)
    throw new ReceiptError(names.inputs, `does not give the inputs that ${where} claims`);
  if (claim.root.toLowerCase() !== answer?.root) throw new ReceiptError(names.outputs, "is not what the worker claims");
  return { ...run, claim, signature: block.signature as Hex };
}

/**
 * Executes the blocks of a receipt again.
 * @param onItem Called after each item of a block.
 * @returns the number of the first block whose worker lied; undefined if all are right
 */
export async function firstLie(
  { program, runs }: Pick<OpenedReceipt, "program" | "runs">,
  execute: Execute,
  onItem?: (block: number, item: number) => void,
): Promise<number | undefined> {
  // Each block of a text goes on with the one before; embeddings carry nothing.
  const kept = { texts: new KeptTexts(Infinity), owner: "" };
  for (const [k, { inputs, claim }] of runs.entries()) {
    const { root } = await answerRun(program, inputs, execute, (item) => onItem?.(k, item), kept);
    if (root !== claim.root.toLowerCase()) return k;
  }
  return undefined;
}

/**
 * Compares the files and libraries that make tokens: their differences are named before what follows from them.
 * @throws ReceiptError
 */
export function requireFiles(
  { files, libraries, programRoot }: { files: object; libraries: object; programRoot: string },
  { hashes, program }: SoldModel,
): void {
  requireSame(files, hashes, "files");
  requireSame(libraries, LIBRARIES, "libraries");
  requireSame(programRoot, program.model.programRoot, "programRoot");
}

/** @throws ReceiptError that names the first difference */
export function requireSame(given: unknown, expected: unknown, path: string): void {
  if (typeof given === "object" && given !== null && typeof expected === "object" && expected !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(given)]);
    for (const name of names) {
      const [a, b] = [given, expected].map((one) => (one as Record<string, unknown>)[name]);
      requireSame(a, b, Array.isArray(expected) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`);
    }
    return;
  }
  const isSame = isAddressLike(given) ? given.toLowerCase() === String(expected).toLowerCase() : given === expected;
  if (!isSame) throw new ReceiptError(path, `is ${JSON.stringify(given)}, expected ${JSON.stringify(expected)}`);
}

/** Compares all but the blocks: after them, a difference lies in a field that follows from right blocks. */
export const requireSameRest = (receipt: object, expected: object): void =>
  requireSame({ ...receipt, blocks: undefined }, { ...expected, blocks: undefined }, "");

const isAddressLike = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);
