import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { ValueInfoProto } from "onnx-buf";
import { readProto } from "../../model/onnx/inputs/readInputFile.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import { unpacked } from "../../model/onnx/narrow.ts";

/** A value of a case: a tensor, the tensors of a sequence, or undefined for an optional without an element. */
export type CaseValue = TensorData | readonly TensorData[] | undefined;

export const isList = (value: CaseValue): value is readonly TensorData[] => Array.isArray(value);

/** Fields of SequenceProto and OptionalProto that hold tensors. */
const TENSOR = 3;
/** The field of OptionalProto that holds a sequence. */
const SEQUENCE = 5;

/** The messages in a field of a message. */
function fieldsOf(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, field);
  }
  return found;
}

const text = new TextDecoder();

/** The fields of the name: of TensorProto, and of SequenceProto and OptionalProto. */
const NAMES = { tensor: 8, other: 1 } as const;

/** Returns the name given by a file's value, if the value's kind has this name. */
export function nameOf(bytes: Uint8Array, known: readonly ValueInfoProto[]): string | undefined {
  const [tensor, other] = [NAMES.tensor, NAMES.other].map((field) =>
    fieldsOf(bytes, field).map((name) => text.decode(name)),
  );
  return known.find(({ name, type }) => (isTensor(type) ? tensor : other)!.includes(name))?.name;
}

const isTensor = (type: Type | undefined): boolean =>
  type?.value.case !== "sequenceType" && type?.value.case !== "optionalType";

type Type = NonNullable<ValueInfoProto["type"]>;

/** Reads a value of the given type. @param path For messages. @throws InputFileError, and the errors of `readTensor` */
export function readValue(bytes: Uint8Array, type: Type | undefined, path: string): CaseValue {
  const tensors = (list: readonly Uint8Array[]): TensorData[] =>
    list.map((each) => readValue(each, undefined, path) as TensorData);
  if (type?.value.case === "sequenceType") return tensors(fieldsOf(bytes, TENSOR));
  if (type?.value.case === "optionalType") {
    const [sequence] = fieldsOf(bytes, SEQUENCE);
    if (sequence !== undefined) return tensors(fieldsOf(sequence, TENSOR));
    return tensors(fieldsOf(bytes, TENSOR))[0];
  }
  const tensor = readProto(bytes, path);
  return tensor.fourBits ? unpacked({ ...tensor, narrow: tensor.narrow! }) : tensor;
}
