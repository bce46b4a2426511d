import { dirname } from "node:path";
import type { ModelProto } from "onnx-buf";
import { FileError, readRegularFile } from "../../base/regularFile.ts";
import { decodeModel } from "./decodeModel.ts";
import { ModelFileError, ModelFormatError, ModelVersionError } from "./errors.ts";
import { domainName, readGraph } from "./graph.ts";
import type { Model } from "./model.ts";
import type { ReadContext } from "./readContext.ts";
import { TensorMemory } from "./tensorMemory.ts";

/** ONNX IR versions whose meaning is known: 3 (ONNX 1.0) to 14 (ONNX 1.22). */
const IR_VERSIONS = [3, 14] as const;
/** The ai.onnx operator set versions with known meaning. */
export const OPSETS = [1, 27] as const;

function checkVersions(proto: ModelProto, opsets: ReadonlyMap<string, number>, source: string): void {
  const ir = Number(proto.irVersion);
  if (ir < IR_VERSIONS[0] || ir > IR_VERSIONS[1])
    throw new ModelVersionError(source, `IR version ${ir}; expected ${IR_VERSIONS[0]} to ${IR_VERSIONS[1]}`);
  const opset = opsets.get("");
  // A graph of another domain's operators only imports no other.
  const isWithout = opset === undefined && proto.graph?.node.every(({ domain }) => domainName(domain) !== "");
  if (isWithout === true && opsets.size > 0) return;
  if (opset === undefined) throw new ModelVersionError(source, "no import of the ai.onnx operator set");
  if (opset < OPSETS[0] || opset > OPSETS[1])
    throw new ModelVersionError(source, `ai.onnx operator set ${opset}; expected ${OPSETS[0]} to ${OPSETS[1]}`);
}

type Options = {
  /** Where tensors stored outside the file lie; by default the file's own folder. */
  externalDataDir?: string;
  /** Receives the path of each external data file, once for each tensor read from the file. */
  externalFile?: (path: string) => void;
  /** The MiB limit for all tensors read; `defaultMib` if absent. */
  mib?: number | undefined;
  /** For sequence inputs, the number of tensors; for optional inputs, 1 if given and 0 if not. */
  lengths?: Readonly<Record<string, number>> | undefined;
};

/**
 * Reads an ONNX model into a plain typed graph.
 * @param from path of a file, or its bytes
 * @throws ModelFileError, ModelFormatError, ModelVersionError, ModelGraphError, ModelSizeError, DTypeError,
 *   ExternalDataError
 */
export const readModel = (from: string | Uint8Array, options: Options = {}): Model => read(from, options, undefined);

/**
 * Reads the readable parts of a model, to report every refused part. The result may hold nodes with missing operands.
 * @param refused called for each omitted part, with the names that the part would have given
 * @throws ModelFileError, ModelFormatError
 */
export const readDraft = (
  from: string | Uint8Array,
  refused: NonNullable<ReadContext["refused"]>,
  options: Options = {},
): Model => read(from, options, refused);

function read(from: string | Uint8Array, options: Options, refused: ReadContext["refused"]): Model {
  const source = typeof from === "string" ? from : "the model";
  let bytes: Uint8Array;
  try {
    bytes = typeof from === "string" ? readRegularFile(from) : from;
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new ModelFileError(source, cause.message, { cause });
  }
  const proto = decodeModel(bytes, source);
  if (proto.graph === undefined) throw new ModelFormatError(source, "it holds no graph");
  const opsets = new Map(proto.opsetImport.map((o) => [domainName(o.domain), Number(o.version)] as const));
  try {
    checkVersions(proto, opsets, source);
  } catch (error) {
    if (refused === undefined) throw error;
    refused(error as ModelVersionError, []);
    // The nearest known operator set reads the rest.
    opsets.set("", Math.min(Math.max(opsets.get("") ?? OPSETS[1], OPSETS[0]), OPSETS[1]));
  }
  const externalDataDir = options.externalDataDir ?? (typeof from === "string" ? dirname(from) : undefined);
  const memory = new TensorMemory(options.mib);
  const { externalFile, lengths } = options;
  const context = {
    source,
    externalDataDir,
    externalFile,
    memory,
    lengths,
    ...(refused === undefined ? {} : { refused }),
  };
  return {
    source,
    irVersion: Number(proto.irVersion),
    opsets,
    graph: readGraph(proto.graph, context, proto.functions),
  };
}
