import { closeSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, normalize, relative, sep } from "node:path";
import { TensorProto_DataLocation, TensorProto_DataTypeSchema, type TensorProto } from "onnx-buf";
import { DType, dtypeBytes, isDType, writeWord } from "../numerics/dtype.ts";
import type { RefuteError } from "../errors.ts";
import { DTypeError, ExternalDataError, ModelGraphError } from "./errors.ts";
import { unpackFourBits, widenedType } from "./fourBits.ts";
import { elementCount, type TensorData } from "./model.ts";

/** The context of a reader: the model's name for messages, and the folder of external data. */
export type ReadContext = {
  source: string;
  externalDataDir: string | undefined;
  /** Called with the path of each file of external data that is read, once a tensor. */
  externalFile?: ((path: string) => void) | undefined;
  /**
   * Where given, a part that is refused is left out: it is called with the error and the names that the part would have
   * given.
   */
  refused?: (error: RefuteError, names: readonly string[]) => void;
};

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

function externalBytes(tensor: TensorProto, where: string, context: ReadContext): Uint8Array {
  const { source, externalDataDir, externalFile } = context;
  const entry = (key: string): string | undefined => tensor.externalData.find((e) => e.key === key)?.value;
  const location = entry("location");
  if (location === undefined) throw new ExternalDataError(source, where, "names no location");
  const path = normalize(location);
  // SAFETY: a model names files in its own folder only, so that reading one discloses nothing else.
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`))
    throw new ExternalDataError(source, where, `lies outside the model's folder (${location})`);
  if (externalDataDir === undefined)
    throw new ExternalDataError(source, where, `(${location}) has no folder to look in`);
  const [offset, length] = [entry("offset"), entry("length")].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  externalFile?.(join(externalDataDir, path));
  return readSlice(join(externalDataDir, path), externalDataDir, offset ?? 0, length, (what, cause) => {
    throw new ExternalDataError(source, where, what.replace("{}", location), { cause });
  });
}

/** Part of a file in `folder`. A link that leads out of the folder is refused. The file may be larger than memory. */
function readSlice(
  path: string,
  folder: string,
  offset: number,
  length: number | undefined,
  fail: (what: string, cause?: unknown) => never,
): Uint8Array {
  let file: number;
  try {
    // SAFETY: a link may lead out of the folder, so the path that it leads to is checked and read.
    const target = realpathSync(path);
    if (relative(realpathSync(folder), target).split(sep)[0] === "..")
      return fail("lies outside the model's folder ({})");
    file = openSync(target, "r");
  } catch (cause) {
    if (cause instanceof ExternalDataError) throw cause;
    return fail("is missing ({})", cause);
  }
  try {
    const { size } = fstatSync(file);
    const bytes = length ?? size - offset;
    if (!(
      Number.isSafeInteger(offset) &&
      Number.isSafeInteger(bytes) &&
      offset >= 0 &&
      bytes >= 0 &&
      offset + bytes <= size
    ))
      return fail(`ends at byte ${offset + bytes}, but {} has ${size}`);
    const data = new Uint8Array(bytes);
    // One read gives at most 2 GB.
    for (let done = 0; done < bytes;) {
      const count = readSync(file, data, done, Math.min(bytes - done, 2 ** 30), offset + done);
      if (count === 0) return fail("ends early ({})");
      done += count;
    }
    return data;
  } finally {
    closeSync(file);
  }
}

/**
 * The typed fields hold what raw data does not: float32 in float_data, float64 in double_data, up to 32 bits in
 * int32_data (floats of 16 bits as their bits), the rest in 64-bit fields.
 */
function fieldBytes(tensor: TensorProto, dtype: DType, count: number): Uint8Array | undefined {
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  if (dtype === DType.float32) {
    if (tensor.floatData.length !== count) return undefined;
    const view = new DataView(bytes.buffer);
    tensor.floatData.forEach((value, i) => view.setFloat32(4 * i, value, true));
    return bytes;
  }
  if (dtype === DType.float64) {
    if (tensor.doubleData.length !== count) return undefined;
    const view = new DataView(bytes.buffer);
    tensor.doubleData.forEach((value, i) => view.setFloat64(8 * i, value, true));
    return bytes;
  }
  const values: readonly (number | bigint)[] =
    dtype === DType.int64
      ? tensor.int64Data
      : dtype === DType.uint64 || dtype === DType.uint32
        ? tensor.uint64Data
        : tensor.int32Data;
  if (values.length !== count) return undefined;
  values.forEach((value, i) => writeWord(bytes, i, dtype, BigInt(value)));
  return bytes;
}

/**
 * A tensor of the model as plain bytes.
 * @param where its name in messages, e.g. `initializer "w"`
 * @throws DTypeError, ExternalDataError, ModelGraphError
 */
export function readTensor(tensor: TensorProto, where: string, context: ReadContext): TensorData {
  const narrow = widenedType(tensor.dataType);
  const dtype = narrow ?? checkDType(tensor.dataType, where, context.source);
  const shape = tensor.dims.map(Number);
  if (shape.some((dim) => !Number.isSafeInteger(dim) || dim < 0))
    throw new ModelGraphError(context.source, where, `has the impossible shape [${shape.join(", ")}]`);
  const count = elementCount(shape);
  const external = tensor.dataLocation === TensorProto_DataLocation.EXTERNAL;
  const raw = external ? externalBytes(tensor, where, context) : tensor.rawData;
  if (narrow !== undefined) {
    const read = unpackFourBits(tensor, raw, shape);
    if (read === undefined)
      throw new ModelGraphError(context.source, where, `its data does not fit the shape [${shape.join(", ")}]`);
    return read;
  }
  const bytes = !external && raw.length === 0 && count > 0 ? fieldBytes(tensor, dtype, count) : Uint8Array.from(raw);
  if (bytes?.length !== count * dtypeBytes(dtype))
    throw new ModelGraphError(context.source, where, `its data does not fit the shape [${shape.join(", ")}]`);
  return { dtype, shape, bytes };
}
