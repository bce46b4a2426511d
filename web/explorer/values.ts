import { hexToBytes, type Hex } from "viem";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { inputsOf } from "../../src/chain/market/jobInputs.ts";
import { dtypeBytes, dtypeName, readWord } from "../../src/numerics/dtype.ts";
import { readHeader, type HeaderFacts, type HeaderTensor } from "../../src/program/header.ts";
import { parseDescription, type ProgramDescription } from "../../src/parties/requester/description.ts";
import { numberOf, valueText } from "../value.ts";

/** A tensor of a job, as far as it is on chain. */
export type TensorView = {
  name: string;
  type: string;
  /** The first numbers, all of them if `count` is no more; undefined if they are not on chain. */
  numbers: readonly string[] | undefined;
  count: number;
  /** The largest numbers with their labels, if a description has labels. */
  top: readonly { label: string; value: string }[];
};

/** Numbers of a tensor that are shown. */
const SHOWN = 24;
/** Labels that are shown. */
const TOP = 3;

/** Descriptions that somebody gave in this page, by their program's root. */
const described = new Map<Hex, { name: string; description: ProgramDescription }>();

/**
 * Takes a program's description: it names what a root only counts.
 * @param file Its name becomes the program's.
 * @returns The program's root
 * @throws DescriptionError
 */
export function describe(file: string, text: string): Hex {
  const description = parseDescription(text, file);
  const root = description.programRoot.toLowerCase() as Hex;
  described.set(root, { name: file.replace(/(\.program)?\.json$/i, ""), description });
  return root;
}

/** What a program is called, by a description that was given. */
export const programName = (root: Hex): string | undefined => described.get(root.toLowerCase() as Hex)?.name;

/** What a program's header says; undefined if it is none of this version. */
export function factsIn({ program }: Pick<JobRecord, "program">): HeaderFacts | undefined {
  try {
    return readHeader(hexToBytes(program.header));
  } catch {
    // Whoever posts a job chooses its bytes.
    return undefined;
  }
}

/** A job's inputs, and its outputs of the last item, with the numbers that are on chain. */
export function tensorsOf(record: JobRecord): { inputs: TensorView[]; outputs: TensorView[] } {
  const facts = factsIn(record);
  if (facts === undefined) return { inputs: [], outputs: [] };
  const known = described.get(record.job.programRoot.toLowerCase() as Hex)?.description;
  const isWhole = inputsOf(record) !== undefined;
  const delivered = record.claims.findLast(({ refuted, delivered: all }) => !refuted && all.size > 0)?.delivered;
  return {
    inputs: facts.inputs.map((tensor, k) => {
      const parts = isWhole ? [...(record.parts.get(k) ?? [])].sort(([a], [b]) => a - b) : [];
      const bytes = parts.length === 0 ? undefined : `0x${parts.map(([, data]) => data.slice(2)).join("")}`;
      return viewOf(tensor, known?.inputs[k]?.name ?? `input ${k}`, known?.inputs[k]?.shape, bytes as Hex | undefined);
    }),
    outputs: facts.outputs.map((tensor, k) => {
      const own = known?.outputs[k];
      return viewOf(tensor, own?.name ?? `output ${k}`, own?.shape, delivered?.get(k), own?.labels);
    }),
  };
}

function viewOf(
  { dtype, count }: HeaderTensor,
  name: string,
  shape: readonly number[] | undefined,
  data: Hex | undefined,
  labels: readonly string[] = [],
): TensorView {
  const bytes = data === undefined ? undefined : hexToBytes(data);
  const held = bytes === undefined ? 0 : Math.floor(bytes.length / dtypeBytes(dtype));
  const wordAt = (k: number): bigint => readWord(bytes!, k, dtype);
  const last = labels.length > 0 && held >= labels.length ? held - labels.length : undefined;
  const scores = last === undefined ? [] : labels.map((label, k) => ({ label, word: wordAt(last + k) }));
  const top = scores
    .sort((a, b) => numberOf(b.word, dtype) - numberOf(a.word, dtype))
    .slice(0, TOP)
    .map(({ label, word }) => ({ label, value: valueText(word, dtype) }));
  return {
    name,
    type: `${dtypeName(dtype)}[${(shape ?? [count]).join(", ")}]`,
    numbers:
      bytes && Array.from({ length: Math.min(held, SHOWN) }, (_, k) => valueText(readWord(bytes, k, dtype), dtype)),
    count: held,
    top,
  };
}
