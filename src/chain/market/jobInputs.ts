import { hexToBytes, type Hex } from "viem";
import { ZERO_HASH } from "../structs.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { zeroRoot } from "../../program/merkle/tensor.ts";
import { readHeader } from "../../program/header.ts";
import { bytesOf, RunInputError, RunInputs } from "../../program/trace/runInputs.ts";
import type { InputParts, JobRecord } from "./history.ts";

type PublishedJob = Pick<JobRecord, "job" | "program" | "parts" | "inputRoots">;
type AskedJob = PublishedJob & Pick<JobRecord, "alike">;

/** The result of a check, with the checked parts. The strings are the history's own, not copies. */
type Checked = { names: readonly unknown[]; data: readonly Hex[]; isWhole: boolean };

/** The latest check result of each job: each input is hashed only once. */
const checked = new WeakMap<InputParts, Checked>();

/**
 * Returns the source jobs for a job that publishes no inputs (`rootOnly`). A source has the same program, items and
 * inputs, and publishes the inputs. The first seat of the job's panel may be a source.
 */
export const sourcesOf = ({ job, alike }: Pick<JobRecord, "job" | "alike">): readonly JobRecord[] =>
  job.rootOnly ? alike.filter((other) => !other.job.rootOnly) : [];

/** Whether the inputs of a job are all published: see {@link inputsOf}. */
export const hasInputs = (record: AskedJob): boolean => publications(record).some(isWhole);

/**
 * Reads the published inputs of a job, from the job itself or from another job with the same question.
 * @returns undefined while parts are missing, for a job whose inputs nobody posts, or if the bytes do not match the
 *   inputs that the job's content, and thus its id, names.
 */
export function inputsOf(record: AskedJob): RunInputs | undefined {
  const whole = publications(record).find(isWhole);
  return whole && published(whole);
}

/** Lists the job with each set of published parts, including the parts that other jobs published. */
const publications = (record: AskedJob): PublishedJob[] => {
  const { job, program, inputRoots } = record;
  return [record, ...sourcesOf(record).map(({ parts }) => ({ job, program, inputRoots, parts }))];
};

const isWhole = (record: PublishedJob): boolean => known(record)?.isWhole ?? published(record) !== undefined;

function published(record: PublishedJob): RunInputs | undefined {
  const before = known(record);
  if (before?.isWhole === false) return undefined;
  const inputs = read(record, before?.isWhole === true);
  checked.set(record.parts, { names: namesOf(record), data: dataOf(record.parts), isWhole: inputs !== undefined });
  return inputs;
}

/** Returns an earlier check result for the same parts of the same job. */
function known(record: PublishedJob): Checked | undefined {
  const found = checked.get(record.parts);
  // Equal strings are mostly identical objects, and comparing these takes no time.
  const areSame = found && isSame(found.names, namesOf(record)) && isSame(found.data, dataOf(record.parts));
  return areSame ? found : undefined;
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((one, k) => one === b[k]);

/** The values that identify the inputs, besides the input bytes. */
const namesOf = ({ job, program, inputRoots }: PublishedJob): unknown[] => [
  job.inputsRoot,
  job.items,
  program.header,
  ...inputRoots,
];

const dataOf = (parts: InputParts): Hex[] => [...parts.values()].flatMap((ofInput) => [...ofInput.values()]);

function read({ job, program, parts, inputRoots }: PublishedJob, isChecked: boolean): RunInputs | undefined {
  // The contract gives the job's own roots. A node that gave others would have a worker execute another input, and lose
  // its collateral.
  const list = inputRoots.length === 0 ? ZERO_HASH : MerkleList.fromHashes(inputRoots).root;
  if (list !== job.inputsRoot) return undefined;
  const sources = readHeader(hexToBytes(program.header)).inputs;
  const bytes: Uint8Array[] = [];
  for (const [input, root] of inputRoots.entries()) {
    const published = parts.get(input) ?? new Map<number, Hex>();
    const ordered = [...published].sort(([a], [b]) => a - b).map(([, data]) => hexToBytes(data));
    const source = sources[input];
    if (ordered.length > 0 || source?.source.kind === "index") bytes.push(concatenated(ordered));
    // State that begins with zeros is not published. For other missing state, nothing is allocated.
    else if (source?.source.kind === "carried" && root === zeroRoot(bytesOf(source)))
      bytes.push(new Uint8Array(bytesOf(source)));
    else return undefined;
  }
  try {
    const inputs = new RunInputs(sources, job, bytes, isChecked ? inputRoots : undefined);
    // The chain checked each part against the root; only a missing part can make the whole differ.
    return inputs.roots.every((root, k) => root === inputRoots[k]) ? inputs : undefined;
  } catch (error) {
    if (error instanceof RunInputError) return undefined;
    throw error;
  }
}
