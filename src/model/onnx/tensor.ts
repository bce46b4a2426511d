import { isAbsolute, join, normalize, sep } from "node:path";
import { TensorProto_DataLocation, TensorProto_DataTypeSchema, type TensorProto } from "onnx-buf";
import { DType, dtypeBytes, isDType, writeWord } from "../../numerics/dtype.ts";
import { narrowLayout, narrowTypeOf } from "../../numerics/narrow.ts";
import { FileError, withRegularFile, type RegularFile } from "../../base/regularFile.ts";
import { DTypeError, ExternalDataError, ModelGraphError } from "./errors.ts";
import { readNarrow } from "./narrow.ts";
import { elementCount, MAX_RANK, type TensorData } from "./model.ts";
import type { ReadContext } from "./readContext.ts";

/** The name of an ONNX element type code, for messages. */
const dtypeLabel = (code: number): string =>
  TensorProto_DataTypeSchema.values.find((value) => value.number === code)?.name.toLowerCase() ?? `code ${code}`;

/**
 * Checks an ONNX element type code.
 * @throws DTypeError if Refute does not execute the type.
 */
export function checkDType(code: number, where: string, source: string): DType {
  if (!isDType(code)) throw new DTypeError(source, where, dtypeLabel(code));
  return code;
}

/** Reads external data. @param needed The bytes of the tensor: the file's tensor may leave its length out, or 0. */
function externalBytes(tensor: TensorProto, needed: number, where: string, context: ReadContext): Uint8Array {
  const { source, externalDataDir, externalFile } = context;
  const entry = (key: string): string | undefined => tensor.externalData.find((e) => e.key === key)?.value;
  const location = entry("location");
  if (location === undefined) throw new ExternalDataError(source, where, "names no location");
  const path = normalize(location);
  // SAFETY: a model names files in its own folder only. Reading a model therefore discloses nothing else.
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`))
    throw new ExternalDataError(source, where, `(${location}) lies outside the model's folder`);
  if (externalDataDir === undefined)
    throw new ExternalDataError(source, where, `(${location}) has no folder to look in`);
  externalFile?.(join(externalDataDir, path));
  const number = (key: string): number | undefined => {
    const text = entry(key);
    if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
    throw new ExternalDataError(source, where, `(${location}) has the ${key} "${text}", which is no number of bytes`);
  };
  try {
    // A link may lead out of the folder.
    return withRegularFile(
      join(externalDataDir, path),
      (file) =>
        slice(file, number("offset") ?? 0, number("length") || needed, (bytes) =>
          context.memory.take(bytes, source, where),
        ),
      externalDataDir,
    );
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new ExternalDataError(source, where, `(${location}) ${cause.message}`, { cause });
  }
}

/**
 * Reads `bytes` bytes of a file from `offset` on. The file may be larger than memory.
 * @param take Receives the number of bytes before the allocation.
 */
function slice({ size, read }: RegularFile, offset: number, bytes: number, take: (bytes: number) => void): Uint8Array {
  if (!(
    Number.isSafeInteger(offset) &&
    Number.isSafeInteger(bytes) &&
    offset >= 0 &&
    bytes >= 0 &&
    offset + bytes <= size
  ))
    throw new FileError(`has ${size} bytes, and the data ends at byte ${offset + bytes}`);
  take(bytes);
  return read(offset, bytes);
}

/** The field that holds a tensor's elements if they are not raw data. */
function fieldOf(tensor: TensorProto, dtype: DType): readonly (number | bigint)[] {
  if (dtype === DType.float32) return tensor.floatData;
  if (dtype === DType.float64) return tensor.doubleData;
  if (dtype === DType.int64) return tensor.int64Data;
  return dtype === DType.uint64 || dtype === DType.uint32 ? tensor.uint64Data : tensor.int32Data;
}

/**
 * The typed fields hold what raw data does not: float32 in float_data, float64 in double_data, up to 32 bits in
 * int32_data (floats of 16 bits as their bits), the rest in 64-bit fields.
 */
function fieldBytes(tensor: TensorProto, dtype: DType, count: number): Uint8Array | undefined {
  const values = fieldOf(tensor, dtype);
  // The shape may say anything: memory is taken for what is there.
  if (values.length !== count) return undefined;
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  if (dtype === DType.float32) {
    const view = new DataView(bytes.buffer);
    tensor.floatData.forEach((value, i) => view.setFloat32(4 * i, value, true));
    return bytes;
  }
  if (dtype === DType.float64) {
    const view = new DataView(bytes.buffer);
    tensor.doubleData.forEach((value, i) => view.setFloat64(8 * i, value, true));
    return bytes;
  }
  values.forEach((value, i) => writeWord(bytes, i, dtype, BigInt(value)));
  return bytes;
}

/**
 * Reads a model's tensor as plain bytes, using the file's own bytes if possible.
 * @param where its name in messages, e.g. `initializer "w"`
 * @throws DTypeError, ExternalDataError, ModelGraphError
 */
export function readTensor(tensor: TensorProto, where: string, context: ReadContext): TensorData {
  const narrow = narrowTypeOf(tensor.dataType);
  if (tensor.dims.length > MAX_RANK)
    throw new ModelGraphError(context.source, where, `has ${tensor.dims.length} dimensions, at most ${MAX_RANK}`);
  const shape = tensor.dims.map(Number);
  if (shape.some((dim) => !Number.isSafeInteger(dim) || dim < 0))
    throw new ModelGraphError(context.source, where, `has the impossible shape [${shape.join(", ")}]`);
  const count = elementCount(shape);
  if (!Number.isSafeInteger(count))
    throw new ModelGraphError(context.source, where, `has the impossible shape [${shape.join(", ")}]`);
  const external = tensor.dataLocation === TensorProto_DataLocation.EXTERNAL;
  const bits =
    narrow === undefined
      ? 8 * dtypeBytes(checkDType(tensor.dataType, where, context.source))
      : narrowLayout(narrow).bits;
  const raw = external ? externalBytes(tensor, Math.ceil((count * bits) / 8), where, context) : tensor.rawData;
  if (!external) context.memory.take(raw.length, context.source, where);
  if (narrow !== undefined) {
    const read = readNarrow(tensor, narrow, raw, shape);
    if (read === undefined)
      throw new ModelGraphError(context.source, where, `its data does not fit the shape [${shape.join(", ")}]`);
    return read;
  }
  const dtype = checkDType(tensor.dataType, where, context.source);
  // Raw data stays where it is: whoever keeps a tensor copies it.
  const bytes = !external && raw.length === 0 && count > 0 ? fieldBytes(tensor, dtype, count) : raw;
  if (bytes?.length !== count * dtypeBytes(dtype))
    throw new ModelGraphError(context.source, where, `its data does not fit the shape [${shape.join(", ")}]`);
  return { dtype, shape, bytes };
}
