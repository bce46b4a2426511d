import { z } from "zod/v4";
import { DType, dtypeBytes, dtypeName, type DTypeName } from "../numerics/dtype.ts";
import { elementCount } from "../model/onnx/model.ts";
import type { TensorInfo } from "../program/compiled.ts";
import { NativeRuntimeError } from "./errors.ts";

/*
 * Tensors on the way to a native runtime and back:
 *
 *     length   4 bytes, little-endian: of the head
 *     head     JSON: {"tensors": [{"name", "dtype", "shape"}], ...}
 *     tensors  the bytes of each, in the head's order, one after the other: little-endian, row-major
 */

/** The most bytes of a head. */
export const MAX_HEAD_BYTES = 2 ** 20;
const LENGTH_BYTES = 4;

/** A tensor with its bytes. */
export type FramedTensor = TensorInfo & { bytes: Uint8Array };

const tensorSchema = z.object({
  name: z.string(),
  dtype: z.enum(Object.keys(DType) as [DTypeName, ...DTypeName[]]),
  shape: z.array(z.number().int().nonnegative()).max(64),
});
const headSchema = z.object({ tensors: z.array(tensorSchema).max(10_000) }).passthrough();

/** Puts tensors into one message. @param more What else the head says. */
export function encodeFrame(tensors: readonly FramedTensor[], more: object = {}): Uint8Array {
  const listed = tensors.map(({ name, dtype, shape }) => ({ name, dtype: dtypeName(dtype), shape }));
  const head = Buffer.from(JSON.stringify({ ...more, tensors: listed }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, ...tensors.map(({ bytes }) => bytes)]);
}

/** Takes a message apart. The tensors' bytes are not copied. @throws NativeRuntimeError */
export function decodeFrame(message: Uint8Array): { tensors: FramedTensor[]; head: Readonly<Record<string, unknown>> } {
  const buffer = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const headLength = buffer.length < LENGTH_BYTES ? Infinity : buffer.readUInt32LE();
  if (headLength > Math.min(MAX_HEAD_BYTES, buffer.length - LENGTH_BYTES))
    throw new NativeRuntimeError("the message ends before its head, or has one that is too long");
  const { tensors: listed, ...head } = headOf(buffer.subarray(LENGTH_BYTES, LENGTH_BYTES + headLength));
  let position = LENGTH_BYTES + headLength;
  const tensors = listed.map(({ name, dtype: typeName, shape }): FramedTensor => {
    const dtype = DType[typeName];
    const end = position + elementCount(shape) * dtypeBytes(dtype);
    // SAFETY: the shape may have any product.
    if (!(end <= message.length)) throw new NativeRuntimeError(`the message ends within the tensor ${name}`);
    const bytes = message.subarray(position, end);
    position = end;
    return { name, dtype, shape, bytes };
  });
  if (position !== message.length) throw new NativeRuntimeError("the message has more bytes than its tensors");
  return { tensors, head };
}

function headOf(bytes: Uint8Array): z.output<typeof headSchema> {
  try {
    return headSchema.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (cause) {
    throw new NativeRuntimeError("the message's head does not decode", { cause });
  }
}
