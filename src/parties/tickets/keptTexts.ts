import { chosenToken } from "../../compiler/wraps/decoderInputs.ts";
import { DECODER } from "../../compiler/wraps/wrapDecoder.ts";
import { DType, dtypeBytes } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { isZeros } from "../../program/merkle/tensor.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import type { Carried } from "../../program/trace/runItems.ts";

/** What an item takes from the item before. */
type Start = { item: number; carried: Carried };

type KeptText = Start & { owner: string; root: string; device: string | undefined; tokens: Uint8Array; bytes: number };

/** Whose run of a wrapped decoder it is. */
type TextRun = { model: CompiledModel; inputs: RunInputs; owner: string; device: string | undefined };

const TOKEN_BYTES = dtypeBytes(DType.int64);
const MOST_BYTES = 2 ** 29;

/**
 * What wrapped decoders carry after texts. A run whose prompt begins with a whole kept text begins behind it: carried
 * tensors depend on the earlier tokens alone, and no bit changes. Of other programs nothing may be kept.
 */
export class KeptTexts {
  readonly #most: number;
  /** The last one used comes last. */
  #texts: readonly KeptText[] = [];

  /** @param most Bytes that are kept. */
  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** Takes out the longest text with which a run begins. @returns undefined if none is kept */
  take({ model, inputs, owner, device }: TextRun): Start | undefined {
    const prompt = promptOf(model, inputs);
    if (prompt === undefined) return undefined;
    const fits = (text: KeptText): boolean =>
      text.owner === owner &&
      text.root === model.programRoot &&
      // SAFETY: a device that was found wrong has another name afterwards: nothing of it is used.
      text.device === device &&
      text.item < inputs.length.items &&
      text.tokens.length <= prompt.length &&
      Buffer.compare(text.tokens, prompt.subarray(0, text.tokens.length)) === 0;
    const [longest] = this.#texts.filter(fits).sort((a, b) => b.item - a.item);
    this.#texts = this.#texts.filter((text) => text !== longest);
    return longest;
  }

  /** Keeps what the item behind a whole run would take. The tensors are copied. */
  put({ model, inputs, owner, device }: TextRun, carried: Carried): void {
    const { items } = inputs.length;
    const before = indexOf(model, DECODER.before);
    const chosen = carried.get(before);
    const prompt = promptOf(model, inputs);
    if (prompt === undefined || chosen === undefined || chosen.length < items * TOKEN_BYTES) return;
    const bytes = [...carried.values()].reduce((sum, { length }) => sum + length, 0);
    if (bytes > this.#most) return;
    // The token at place 0, then those that the items chose or took from the prompt.
    const tokens = new Uint8Array((items + 1) * TOKEN_BYTES);
    tokens.set(prompt.subarray(0, TOKEN_BYTES));
    tokens.set(chosen.subarray(0, items * TOKEN_BYTES), TOKEN_BYTES);
    const copies = new Map([...carried].map(([input, tensor]) => [input, tensor.slice()]));
    const text = { owner, root: model.programRoot, device, tokens, item: items, carried: copies, bytes };
    const all = [...this.#texts, text];
    while (all.reduce((sum, each) => sum + each.bytes, 0) > this.#most) all.shift();
    this.#texts = all;
  }
}

const indexOf = ({ inputs }: Pick<CompiledModel, "inputs">, name: string): number =>
  inputs.findIndex((input) => input.name === name);

/** The prompt's tokens of a run that begins a text, int64; undefined for other runs. */
function promptOf(model: CompiledModel, { bytes, length }: RunInputs): Uint8Array | undefined {
  const { inputs, each = [] } = model.program;
  const [prompt, count] = [DECODER.prompt, DECODER.promptLength].map((name) => bytes[indexOf(model, name)]);
  const source = inputs[indexOf(model, DECODER.before)]?.source;
  if (prompt === undefined || count?.length !== TOKEN_BYTES || source?.kind !== "carried") return undefined;
  const isBegun = inputs.every((input, k) => input.source?.kind !== "carried" || isZeros(bytes[k]!));
  if (!isBegun || length.firstItem !== 0 || each.length > 0) return undefined;
  const known = Math.max(1, Math.min(chosenToken(count, 0), prompt.length / TOKEN_BYTES));
  return prompt.subarray(0, known * TOKEN_BYTES);
}
