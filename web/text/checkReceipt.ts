import type { Address } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { RefuteError } from "../../src/base/errors.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { tokenizerOf } from "../../src/model/tokenizer/readTokenizer.ts";
import { openReceipt } from "../../src/parties/gateway/receipt.ts";
import type { Receipt } from "../../src/parties/gateway/receiptForm.ts";
import { firstLie } from "../../src/parties/gateway/receiptParts.ts";
import { readTextRequest } from "../../src/parties/gateway/requests.ts";
import { sha256, textModelOf } from "../../src/parties/gateway/textModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Progress } from "../playground/engine.ts";
import type { CheckedReceipt, InputFile, ReceiptCheck } from "../playground/messages.ts";
import { runsExactly } from "./runsExactly.ts";

/** The files that are given do not check this receipt. */
class ReceiptFilesError extends RefuteError {
  readonly code = "RECEIPT_FILES";
}

const NAMES = {
  model: "the model (ONNX)",
  tokenizer: "its tokenizer.json",
  config: "its tokenizer_config.json",
  template: "the file of its chat template",
} as const;

/**
 * Compares a receipt with its request and with the files of its model, and executes each block again.
 * @throws ReceiptError with the first wrong field's name, ReceiptFilesError
 */
export async function checkReceipt(
  { receipt, body, files, slots, signers }: ReceiptCheck,
  progress: Progress,
): Promise<CheckedReceipt> {
  progress("hashing files", 0, 1);
  const found = filesOf(receipt, files);
  progress("compiling the model", 0, 1);
  const program = knownProgram(programOf(receipt, found.model, slots));
  const text = (file: InputFile | undefined) =>
    file && { name: file.name, text: new TextDecoder("utf-8", { fatal: true }).decode(file.bytes) };
  const model = await textModelOf(receipt.model, program, {
    tokenizer: tokenizerOf(found.tokenizer.name, found.tokenizer.bytes),
    config: text(found.config),
    template: text(found.template)?.text,
    hashes: receipt.files,
    endTokens: receipt.text.endTokens,
  });
  const signerOf = new Map(receipt.blocks.map(({ signature }, k) => [signature, signers[k]]));
  const issued = receipt.blocks.map(({ claim }) => Number(claim.issued));
  const place = {
    ...{ chainId: receipt.chainId, tickets: receipt.tickets as Address },
    // Only a node could tell the contract's: the page shows the time that the receipt names.
    claimLifetime: receipt.refutableUntil - Math.min(...issued),
  };
  const { request } = readTextRequest(receipt.text.kind, body);
  const findSigner = (_digest: string, signature: string) => signerOf.get(signature);
  const opened = openReceipt(receipt, { model, request, place, findSigner });
  const ends = opened.runs.map(({ inputs }) => inputs.length.items);
  const all = ends.reduce((sum, items) => sum + items, 0);
  const executed = await runsExactly(program.model);
  try {
    const start = performance.now();
    const lie = await firstLie(opened, executed.execute, (block, item) => {
      const before = ends.slice(0, block).reduce((sum, items) => sum + items, 0);
      progress("executing again", before + item + 1, all);
    });
    return { by: executed.by(), lie, milliseconds: performance.now() - start };
  } finally {
    await executed.close();
  }
}

/** Finds the files that a receipt names by their hashes. @throws ReceiptFilesError */
function filesOf({ files: wanted }: Receipt, given: readonly InputFile[]) {
  const byHash = new Map(given.map((file) => [sha256(file.bytes), file]));
  const find = (name: keyof typeof NAMES): InputFile | undefined => {
    const hash = wanted[name];
    const file = hash === null ? undefined : byHash.get(hash);
    if (hash === null || file !== undefined) return file;
    throw new ReceiptFilesError(
      `none of these files is ${NAMES[name]} of this receipt: give the one with the SHA-256 ${hash}`,
    );
  };
  return { model: find("model")!, tokenizer: find("tokenizer")!, config: find("config"), template: find("template") };
}

/** Compiles the decoder of a receipt: a receipt does not say whether the program draws. @throws ReceiptFilesError */
function programOf(receipt: Receipt, { bytes }: InputFile, slots: number): CompiledModel {
  const { endTokens } = receipt.text;
  for (const greedy of [undefined, true] as const) {
    const { model, run } = wrapDecoder(readModel(bytes), { slots, endTokens, greedy });
    const compiled = compile(model, { shapes: {}, run });
    if (compiled.programRoot === receipt.programRoot) return compiled;
  }
  throw new ReceiptFilesError(
    `with ${slots} slots the model gives another program than the receipt's: give the slots that it was compiled with`,
  );
}
