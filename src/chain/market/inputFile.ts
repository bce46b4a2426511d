import { hexToBytes, type Hex } from "viem";
import { ZERO_HASH } from "../structs.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { zeroRoot } from "../../program/merkle/tensor.ts";
import { readHeader } from "../../program/header.ts";
import type { ProgramInput } from "../../program/types.ts";
import { bytesOf, RunInputs, tensorsOf } from "../../program/trace/runInputs.ts";
import type { JobRecord } from "./history.ts";

/** The fields that identify a job's input bytes. */
type NamedInputs = Pick<JobRecord, "job" | "program" | "inputRoots">;

/**
 * Returns a job's inputs as one file, for requesters who keep the inputs off the chain. The file contains the bytes
 * that posting would publish for each input, in the program's order. The file contains no index and no carried state
 * that begins with zeros.
 */
export const inputFile = (inputs: RunInputs): Uint8Array =>
  concatenated(inputs.roots.flatMap((_, input) => inputs.posted(input)));

/**
 * How many bytes the file of a job's inputs has.
 * @returns undefined if the job does not name the roots that it was posted with: a node may have made them up.
 */
export function inputFileSize(record: NamedInputs): number | undefined {
  return partsOf(record)?.reduce((sum, { posted }) => sum + posted, 0);
}

/** Reads the file of a job's inputs. @returns undefined if the job names another file */
export function readInputFile(record: NamedInputs, file: Uint8Array): RunInputs | undefined {
  const parts = partsOf(record);
  if (parts === undefined || parts.reduce((sum, { posted }) => sum + posted, 0) !== file.length) return undefined;
  let at = 0;
  const bytes = parts.map(({ size, posted }) => {
    const begin = at;
    at += posted;
    return posted === size ? file.subarray(begin, at) : new Uint8Array(size);
  });
  const inputs = new RunInputs(
    parts.map(({ input }) => input),
    record.job,
    bytes,
  );
  return inputs.roots.every((root, k) => root === record.inputRoots[k]) ? inputs : undefined;
}

type InputPart = {
  input: ProgramInput;
  /** Total bytes of the input, and bytes posted in the file. */ size: number;
  posted: number;
};

function partsOf({ job, program, inputRoots }: NamedInputs): InputPart[] | undefined {
  const inputs = readHeader(hexToBytes(program.header)).inputs;
  const list: Hex = inputRoots.length === 0 ? ZERO_HASH : MerkleList.fromHashes(inputRoots).root;
  if (list !== job.inputsRoot || inputs.length !== inputRoots.length) return undefined;
  return inputs.map((input, k) => {
    const size = tensorsOf(input, job.items) * bytesOf(input);
    const isZeros = input.source.kind === "carried" && inputRoots[k] === zeroRoot(size);
    return { input, size, posted: isZeros ? 0 : size };
  });
}
