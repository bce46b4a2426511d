import type * as ort from "onnxruntime-node";
import type { Cache, DecoderInterface } from "../../../compiler/wraps/decoderInterface.ts";
import { bytesOf, type TensorArray } from "../../../executor/arrays.ts";
import { onnxruntime } from "../../../executor/engine/binding.ts";
import { DType, dtypeBytes, isHalf, readWord, writeWord } from "../../../numerics/dtype.ts";
import { numberWord, wordNumber } from "../../../numerics/numbers.ts";
import { elementCount, type TensorData, type ValueInfo } from "../../../model/onnx/model.ts";
import { fromOrt, toOrt } from "../ortTensor.ts";

/** A text in a decoder, with growing caches as in the model. */
type PlainText = {
  /** @returns the last token's logits after more tokens: [vocabulary], in the model's type */
  next: (tokens: readonly number[]) => Promise<TensorData>;
};

/** A decoder in plain onnxruntime. Texts do not depend on each other. */
export type PlainDecoder = { begin: () => PlainText; close: () => Promise<void> };

/**
 * Opens a decoder in plain onnxruntime with its default optimisations, meaning all optimisations.
 * @param from Path of the model's own file, or the file's bytes.
 * @param bound The file's inputs bound at compile time.
 * @param threads The threads of a node; if absent, onnxruntime chooses the number.
 */
export async function openPlainDecoder(
  from: string | Uint8Array,
  of: DecoderInterface,
  bound: ReadonlyMap<string, TensorData> = new Map(),
  threads?: number,
): Promise<PlainDecoder> {
  const options = { logSeverityLevel: 3, ...(threads !== undefined && { intraOpNumThreads: threads }) } as const;
  const session = await (typeof from === "string"
    ? onnxruntime().InferenceSession.create(from, options)
    : onnxruntime().InferenceSession.create(from, options));
  const fixed = Object.fromEntries([...bound].map(([name, tensor]) => [name, toOrt(tensor)]));
  return { begin: () => beginText(session, of, fixed), close: () => session.release() };
}

function beginText(
  session: ort.InferenceSession,
  { ids, mask, positions, caches, logits }: DecoderInterface,
  fixed: Readonly<Record<string, ort.Tensor>>,
): PlainText {
  const fetches = [logits, ...caches.map(({ present }) => present)];
  // Some are exported for one token a step.
  const atOnce = ids.shape?.[1] === 1 ? 1 : Infinity;
  let past = Object.fromEntries(caches.map((cache) => [cache.past, toOrt(emptyCache(cache))]));
  let place = 0;
  const step = async (tokens: readonly number[]): Promise<ort.Tensor> => {
    const all = place + tokens.length;
    const results = (await session.run(
      {
        ...fixed,
        ...past,
        [ids.name]: rowOf(ids, tokens),
        [mask.name]: rowOf(mask, new Array<number>(all).fill(1)),
        ...(positions !== undefined && {
          [positions.name]: rowOf(
            positions,
            tokens.map((_, k) => place + k),
          ),
        }),
      },
      fetches,
    )) as Record<string, ort.Tensor>;
    past = Object.fromEntries(caches.map((cache) => [cache.past, carried(cache, results[cache.present]!)]));
    place = all;
    return results[logits]!;
  };
  return {
    async next(tokens) {
      let last = await step(tokens.slice(0, atOnce));
      for (let k = atOnce; k < tokens.length; k += atOnce) last = await step(tokens.slice(k, k + atOnce));
      return lastRow(last);
    },
  };
}

/** Passes a step's result on to the next step. Copies only arrays that the engine cannot read. */
const carried = ({ dtype }: Cache, given: ort.Tensor): ort.Tensor => (isHalf(dtype) ? toOrt(fromOrt(given)!) : given);

/** The last of the rows [1, tokens, vocabulary], not copied. */
function lastRow({ type, dims, data }: ort.Tensor): TensorData {
  const bytes = bytesOf(data as TensorArray);
  const dtype = DType[type as keyof typeof DType];
  const vocabulary = dims.at(-1)!;
  return { dtype, shape: [vocabulary], bytes: bytes.subarray(bytes.length - vocabulary * dtypeBytes(dtype)) };
}

const emptyCache = ({ dtype, heads, size }: Cache): TensorData => ({
  dtype,
  shape: [1, heads, 0, size],
  bytes: new Uint8Array(),
});

/** Returns a row of numbers in an input's type: [1, n]. */
function rowOf({ dtype }: ValueInfo, values: readonly number[]): ort.Tensor {
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  values.forEach((value, k) => writeWord(bytes, k, dtype, wordOf(value, dtype)));
  return toOrt({ dtype, shape: [1, values.length], bytes });
}

const INTEGERS: readonly DType[] = [DType.int64, DType.int32, DType.bool];

const wordOf = (value: number, dtype: DType): bigint =>
  INTEGERS.includes(dtype) ? BigInt(value) : numberWord(value, dtype);

/** The elements of a tensor as numbers. */
export const numbersOf = ({ dtype, shape, bytes }: TensorData): number[] =>
  Array.from({ length: elementCount(shape) }, (_, k) => wordNumber(readWord(bytes, k, dtype), dtype));
