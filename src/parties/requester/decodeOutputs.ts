import { cutAlong } from "../../program/cutAlong.ts";
import { elementsOf, type OutputDescription, type ProgramDescription } from "./description.ts";
import { OutputError } from "./errors.ts";
import { bytesPerElement, elementsIn, type TensorData } from "./typedArrays.ts";

/** An output that was delivered. */
export type DecodedOutput = OutputDescription & {
  /**
   * The output's elements, row-major. 16-bit floats become float32, 64-bit types become bigints, and booleans become 0
   * and 1.
   */
  data: TensorData;
  /**
   * The output's bytes, little-endian. For a bounded output, `bytes`, `data` and `shape` hold only the counted part.
   */
  bytes: Uint8Array;
};

/**
 * Decodes a job's outputs into typed arrays, by output name. Outputs without a delivery on chain are omitted.
 * @param outputs The bytes by the outputs' numbers, in the format of `waitForResult`.
 * @throws OutputError if the outputs belong to another program
 */
export function decodeOutputs(
  program: ProgramDescription,
  outputs: ReadonlyMap<number, Uint8Array>,
): Map<string, DecodedOutput> {
  const whole = new Map(
    [...outputs].map(([number, bytes]) => {
      const output = program.outputs[number];
      if (output === undefined)
        throw new OutputError(`output ${number}: the program has ${program.outputs.length}; is it the job's program?`);
      const size = elementsOf(output) * bytesPerElement(output.dtype);
      if (bytes.length !== size)
        throw new OutputError(
          `output "${output.name}" has ${bytes.length} bytes, expected ${size} (${elementsOf(output)} x ` +
            `${output.dtype}); is it the job's program?`,
        );
      return [output.name, { ...output, data: elementsIn(bytes, output.dtype), bytes }] as const;
    }),
  );
  return new Map([...whole].map(([name, output]) => [name, withinCount(output, whole)] as const));
}

/** Returns a bounded output's counted part, if the count is known. */
function withinCount(output: DecodedOutput, all: ReadonlyMap<string, DecodedOutput>): DecodedOutput {
  const { bounded, shape, dtype } = output;
  const count = bounded && all.get(bounded.count)?.data[0];
  if (bounded === undefined || count === undefined) return output;
  const max = Math.min(Number(count), shape[bounded.axis]!);
  const cut = cutAlong(output.bytes, shape, bounded.axis, max, bytesPerElement(dtype));
  return { ...output, ...cut, data: elementsIn(cut.bytes, dtype) };
}

/** A position in an output's last dimension, with the position's score. */
export type Score = {
  index: number;
  score: number;
  /** If the program's description has labels. */
  label?: string;
};

/**
 * Returns the highest scores along the last dimension: for each row the `count` highest scores, in descending order.
 * Among equal scores the lower index comes first; NaN comes last.
 */
export function topScores({ data, shape, labels }: DecodedOutput, count = 5): Score[][] {
  const width = shape.at(-1) ?? 1;
  return Array.from({ length: data.length / width }, (_, row) => {
    const values = data.subarray(row * width, (row + 1) * width) as ArrayLike<number | bigint>;
    const scores = Array.from(values, (value, index): Score => {
      const label = labels?.[index];
      return { index, score: Number(value), ...(label !== undefined && { label }) };
    });
    return scores.sort((a, b) => highestFirst(a.score, b.score) || a.index - b.index).slice(0, count);
  });
}

function highestFirst(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a > b ? -1 : a < b ? 1 : 0;
}
