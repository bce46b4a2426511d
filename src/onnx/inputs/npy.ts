import { dtypeBytes, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { DType } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../model.ts";
import { InputFileError } from "./errors.ts";

/** The element types of NumPy's `descr`; byte order "|" where there is but one byte. */
const DESCR: Record<string, DTypeCode> = {
  "<f2": DType.float16,
  "<f4": DType.float32,
  "<f8": DType.float64,
  "|u1": DType.uint8,
  "|i1": DType.int8,
  "<u2": DType.uint16,
  "<i2": DType.int16,
  "<u4": DType.uint32,
  "<i4": DType.int32,
  "<u8": DType.uint64,
  "<i8": DType.int64,
  "|b1": DType.bool,
};

const MAGIC = Buffer.from("\x93NUMPY", "latin1");

/**
 * Reads a NumPy file (format versions 1 to 3): little-endian, C order.
 * @param path For messages.
 * @throws InputFileError
 */
export function readNpy(bytes: Uint8Array, path: string): TensorData {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < 12 || !file.subarray(0, 6).equals(MAGIC)) throw new InputFileError(path, "is not a NumPy file");
  const long = file[6]! >= 2;
  const start = long ? 12 : 10;
  const end = start + (long ? file.readUInt32LE(8) : file.readUInt16LE(8));
  const header = file.toString("latin1", start, end);
  const descr = /'descr': *'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order': *(True|False)/.exec(header)?.[1];
  const dims = /'shape': *\(([^)]*)\)/.exec(header)?.[1];
  if (descr === undefined || order === undefined || dims === undefined || end > file.length)
    throw new InputFileError(path, "has a NumPy header that cannot be read: save it with numpy.save");
  if (order === "True") throw new InputFileError(path, "is in Fortran order: save numpy.ascontiguousarray(x)");
  const dtype = DESCR[descr];
  if (dtype === undefined)
    throw new InputFileError(path, `has elements of type ${descr}, expected one of ${Object.keys(DESCR).join(", ")}`);
  const shape = dims.split(",").flatMap((dim) => (dim.trim() === "" ? [] : [Number(dim)]));
  const expected = elementCount(shape) * dtypeBytes(dtype);
  const data = file.subarray(end);
  if (data.length !== expected)
    throw new InputFileError(path, `holds ${data.length} bytes, but [${shape.join(", ")}] of ${descr} are ${expected}`);
  return { dtype, shape, bytes: Uint8Array.from(data) };
}
