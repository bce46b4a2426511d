import { bytesOf, readableArray } from "../executor/arrays.ts";
import { DType, isFloat } from "../numerics/dtype.ts";

/** Canonical bytes of a tensor, as exact execution gives them: copied only where something changes. */
export const canonical = (bytes: Uint8Array, dtype: DType): Uint8Array =>
  isFloat(dtype) || dtype === DType.bool ? bytesOf(readableArray(bytes, dtype)) : bytes;
