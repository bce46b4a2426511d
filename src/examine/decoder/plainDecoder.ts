import type { Cache, DecoderInterface } from "../../compiler/decoder/decoderInterface.ts";
import { DType, dtypeBytes, readWord, writeWord } from "../../numerics/dtype.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";
import { elementCount, type TensorData, type ValueInfo } from "../../onnx/model.ts";
import { openPlain } from "../compare/plainRun.ts";

/** A decoder in plain onnxruntime, token by token, with caches that grow as the model has them. */
export type PlainDecoder = {
  /** @returns the logits after one more token */
  next: (token: number) => Promise<number[]>;
  close: () => Promise<void>;
};

/**
 * Opens a decoder in plain onnxruntime.
 * @param from Path of the model's own file, or its bytes.
 * @param bound Inputs of the file that were bound at compile time.
 */
export async function openPlainDecoder(
  from: string | Uint8Array,
  { ids, mask, positions, caches, logits }: DecoderInterface,
  bound: ReadonlyMap<string, TensorData> = new Map(),
): Promise<PlainDecoder> {
  const session = await openPlain(from);
  let past = new Map(caches.map((cache) => [cache.past, emptyCache(cache)] as const));
  let place = 0;
  return {
    close: session.close,
    async next(token) {
      const inputs = new Map([
        ...bound,
        ...past,
        [ids.name, tensorOf(ids, [token])],
        [mask.name, tensorOf(mask, new Array<number>(place + 1).fill(1))],
        ...(positions === undefined ? [] : [[positions.name, tensorOf(positions, [place])] as const]),
      ]);
      const outputs = await session.run(inputs);
      past = new Map(caches.map((cache) => [cache.past, outputs.get(cache.present)!] as const));
      place++;
      return numbersOf(outputs.get(logits)!);
    },
  };
}

const emptyCache = ({ dtype, heads, size }: Cache): TensorData => ({
  dtype,
  shape: [1, heads, 0, size],
  bytes: new Uint8Array(),
});

/** One row of numbers in the type of an input: [1, n]. */
function tensorOf({ dtype }: ValueInfo, values: readonly number[]): TensorData {
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  values.forEach((value, k) => writeWord(bytes, k, dtype, wordOf(value, dtype)));
  return { dtype, shape: [1, values.length], bytes };
}

const INTEGERS: readonly DType[] = [DType.int64, DType.int32, DType.bool];

const wordOf = (value: number, dtype: DType): bigint =>
  INTEGERS.includes(dtype) ? BigInt(value) : numberWord(value, dtype);

/** The elements of a tensor as numbers. */
const numbersOf = ({ dtype, shape, bytes }: TensorData): number[] =>
  Array.from({ length: elementCount(shape) }, (_, k) => wordNumber(readWord(bytes, k, dtype), dtype));
