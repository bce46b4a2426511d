import { bytesOf, readableArray } from "../executor/arrays.ts";
import { DType, isFloat } from "../numerics/dtype.ts";

/** Returns a tensor's canonical bytes, equal to exact execution's bytes. Copies only if something changes. */
export const canonical = (bytes: Uint8Array, dtype: DType): Uint8Array =>
  isFloat(dtype) || dtype === DType.bool ? bytesOf(readableArray(bytes, dtype)) : bytes;
