import { convert } from "../../src/numerics/arithmetic.ts";
import { DType, dtypeBytes, isFloat, isInteger, writeWord } from "../../src/numerics/dtype.ts";
import { fromNumber } from "../../src/numerics/float32.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { Prng } from "../random/prng.ts";
import { floatWord } from "../numerics/floatWords.ts";
import { integerWord } from "../numerics/integerWords.ts";

/**
 * Plain numbers; numbers of all sizes; every edge: NaN payloads, -0, subnormals, infinities, the ends of the integers,
 * bools above 1.
 */
export const STYLES = ["plain", "ordinary", "edges"] as const;
/** Small numbers are multiples of 1/64 in -2 .. 2, and as indices always in range. */
export type Style = (typeof STYLES)[number] | "small";

/** The content of an input. */
export type Content = {
  style: Style;
  seed: number;
  /** The size of a dimension. The values are indices into the dimension, some out of range. */
  indexOf?: number;
};

function word(prng: Prng, dtype: DType, { style, indexOf }: Content, k: number): bigint {
  if (indexOf !== undefined) {
    if (style === "plain") return BigInt(k % indexOf);
    if (style === "small") return BigInt(prng.below(2 * indexOf) - indexOf);
    const far = style === "edges" && prng.below(8) === 0;
    return far ? integerWord(prng, dtype) : BigInt(prng.below(2 * indexOf + 2) - indexOf - 1);
  }
  if (dtype === DType.bool) return BigInt(style === "edges" ? prng.pick([0, 1, 2, 255]) : prng.below(2));
  if (isInteger(dtype)) return style === "edges" ? integerWord(prng, dtype) : BigInt(prng.below(9));
  const float = (value: number): bigint => convert(fromNumber(Math.fround(value)), DType.float32, dtype);
  if (style === "plain") return float((k % 7) - 3);
  if (style === "small") return float((prng.below(257) - 128) / 64);
  if (style === "ordinary") return float((prng.uint32() / 2 ** 31 - 1) * 2 ** (prng.below(8) - 4));
  // Most words are ordinary even so: where every sum is NaN, no other difference shows.
  return prng.below(3) === 0 ? floatWord(prng, dtype) : float(prng.below(17) / 4 - 2);
}

/** The bytes of a tensor: not canonical. */
export function fill(dtype: DType, shape: readonly number[], content: Content): TensorData {
  const count = elementCount(shape);
  const prng = new Prng(content.seed);
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  for (let k = 0; k < count; k++) writeWord(bytes, k, dtype, word(prng, dtype, content, k));
  return { dtype, shape, bytes };
}

/** Overwrites some words of a tensor with edges. */
export function disturb(tensor: TensorData, seed: number): TensorData {
  const { dtype, shape } = tensor;
  const prng = new Prng(seed);
  const bytes = tensor.bytes.slice();
  for (let k = 0; k < elementCount(shape); k++) {
    if (prng.below(4) !== 0) continue;
    const edge = isFloat(dtype) ? floatWord(prng, dtype) : word(prng, dtype, { style: "edges", seed }, k);
    writeWord(bytes, k, dtype, edge);
  }
  return { ...tensor, bytes };
}
