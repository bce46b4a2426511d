import { dtypeBytes, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { DType } from "../../../numerics/dtype.ts";
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

/** How such a file begins: the byte 0x93, and "NUMPY". */
const MAGIC = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/**
 * Reads a NumPy file (format versions 1 to 3): little-endian, C order.
 * @param path For messages.
 * @throws InputFileError
 */
export function readNpy(bytes: Uint8Array, path: string): TensorData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 12 || MAGIC.some((byte, k) => byte !== bytes[k]))
    throw new InputFileError(path, "is not a NumPy file");
  const version = bytes[MAGIC.length]!;
  if (version < 1 || version > 3)
    throw new InputFileError(path, `has the NumPy format ${version}, expected 1 to 3: save it with numpy.save`);
  const long = version >= 2;
  const start = long ? 12 : 10;
  const end = start + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, end));
  const descr = /'descr': *'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order': *(True|False)/.exec(header)?.[1];
  const dims = /'shape': *\(([^)]*)\)/.exec(header)?.[1];
  if (descr === undefined || order === undefined || dims === undefined || end > bytes.length)
    throw new InputFileError(path, "has a NumPy header that cannot be read: save it with numpy.save");
  if (order === "True") throw new InputFileError(path, "is in Fortran order: save numpy.ascontiguousarray(x)");
  const dtype = DESCR[descr];
  if (dtype === undefined)
    throw new InputFileError(path, `has elements of type ${descr}, expected one of ${Object.keys(DESCR).join(", ")}`);
  const shape = dims.split(",").flatMap((dim) => (dim.trim() === "" ? [] : [Number(dim)]));
  const expected = elementCount(shape) * dtypeBytes(dtype);
  const data = bytes.subarray(end);
  if (data.length !== expected)
    throw new InputFileError(path, `holds ${data.length} bytes, but [${shape.join(", ")}] of ${descr} are ${expected}`);
  return { dtype, shape, bytes: Uint8Array.from(data) };
}

/** The data alignment in bytes: header and preceding bytes together fill a multiple. */
const ALIGNMENT = 64;
const [PREFIX, BFLOAT16_SHIFT] = [10, 2];

/**
 * Writes a NumPy file (format version 1.0): little-endian, C order. NumPy has no bfloat16: it becomes float32, which
 * has all its values.
 */
export const writeNpy = (tensor: TensorData): Uint8Array => Buffer.concat([npyHeader(tensor), npyData(tensor)]);

/** Returns everything before the elements in a NumPy file. */
export function npyHeader({ dtype, shape }: Pick<TensorData, "dtype" | "shape">): Uint8Array {
  if (dtype === DType.bfloat16) return npyHeader({ dtype: DType.float32, shape });
  const descr = Object.entries(DESCR).find(([, code]) => code === dtype)![0];
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims}), }`;
  const length = Math.ceil((PREFIX + header.length + 1) / ALIGNMENT) * ALIGNMENT - PREFIX;
  const start = Buffer.alloc(PREFIX);
  start.set(MAGIC);
  start.writeUInt8(1, MAGIC.length);
  start.writeUInt16LE(length, PREFIX - 2);
  return Buffer.concat([start, Buffer.from(`${header.padEnd(length - 1)}\n`, "latin1")]);
}

/** Elements as they stand in such a file. */
export const npyData = ({ dtype, bytes }: Pick<TensorData, "dtype" | "bytes">): Uint8Array =>
  dtype === DType.bfloat16 ? widened(bytes) : bytes;

/** Bytes of bfloat16 as those of float32: two zero bytes before each two. */
function widened(bytes: Uint8Array): Uint8Array {
  const wide = new Uint8Array(bytes.length * 2);
  for (let i = 0; i < bytes.length; i += 2) wide.set(bytes.subarray(i, i + 2), 2 * i + BFLOAT16_SHIFT);
  return wide;
}
