import { z } from "zod/v4";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { numberTensor } from "../../model/onnx/tensorData.ts";
import { readTokenizer } from "../../model/tokenizer/readTokenizer.ts";
import { DType } from "../../numerics/dtype.ts";
import { ONE_ITEM } from "../../program/run.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { FindSigner } from "../tickets/signatures.ts";
import { ApiError, GatewayFileError, ReceiptError, unfitRequest } from "./errors.ts";
import { count, hash, parseReceipt, receiptBlock, receiptHead } from "./receiptForm.ts";
import {
  headOf,
  openBlock,
  requireFiles,
  requireSameRest,
  type OpenedReceipt,
  type ReceiptPlace,
} from "./receiptParts.ts";
import { hashesOf } from "./textFiles.ts";
import { requireBytes, sha256, type TextModel } from "./textModel.ts";

/** An encoder, which turns the tokens of a text into a vector of float32. */
export type EmbeddingModel = Pick<TextModel, "name" | "program" | "tokenizer" | "hashes"> & {
  /** The most tokens of a text. */
  slots: number;
  /** Elements of a vector. */
  dimensions: number;
};

/** The values of an encoder's inputs at a place of the text, and behind the text. */
const INPUTS: Readonly<Record<string, (token: number | undefined) => number>> = {
  input_ids: (token) => token ?? 0,
  attention_mask: (token) => (token === undefined ? 0 : 1),
  token_type_ids: () => 0,
};
const isInteger = (dtype: DType): boolean => dtype === DType.int64 || dtype === DType.int32;

/**
 * Reads the files around a compiled encoder.
 * @param spec From which the program was compiled.
 * @throws GatewayFileError for a program that is no encoder, TokenizerError
 */
export async function openEmbeddingModel(
  name: string,
  program: KnownProgram,
  spec: Pick<ModelSpec, "path">,
  files: { tokenizer: string },
): Promise<EmbeddingModel> {
  const { inputs, outputs } = program.model;
  const refuse = (what: string): never => {
    throw new GatewayFileError(`${name} gives no embeddings: ${what}`);
  };
  const slots = elementCount(inputs.find((input) => input.name === "input_ids")?.shape ?? []);
  for (const input of inputs)
    if (!Object.hasOwn(INPUTS, input.name) || !isInteger(input.dtype) || elementCount(input.shape) !== slots)
      refuse(`its input ${input.name} is none of ${Object.keys(INPUTS).join(", ")}, integers of one length`);
  if (inputs.length < 2) refuse("it needs input_ids and attention_mask");
  const [output] = outputs;
  const dimensions = output?.shape.at(-1);
  if (outputs.length !== 1 || output!.dtype !== DType.float32 || elementCount(output!.shape) !== dimensions)
    refuse("it must have one output, float32 of the shape [1, size]");
  const tokenizer = readTokenizer(files.tokenizer);
  return { name, program, tokenizer, hashes: await hashesOf(spec.path, files), slots, dimensions: dimensions! };
}

/** What vectors are made from. */
export type EmbeddingRequest = {
  model: string;
  /** Texts, or the tokens of texts. */
  inputs: readonly (string | readonly number[])[];
  encoding: "float" | "base64";
  dimensions: number | undefined;
};

/** Each text is a claim of its own. */
const MOST_TEXTS = 256;
const tokens = z.array(count).min(1);
const text = z.string().min(1);
const requestSchema = z
  .object({
    model: z.string().min(1),
    input: z.union([text, tokens, z.array(text).min(1).max(MOST_TEXTS), z.array(tokens).min(1).max(MOST_TEXTS)]),
    encoding_format: z.enum(["float", "base64"]).nullish(),
    dimensions: z.int().min(1).nullish(),
    user: z.unknown(),
  })
  .strict();
const FORMS = `one text, the tokens of one, or a list of up to ${MOST_TEXTS} of them, none empty`;

/** Reads the body of a request for embeddings. @throws ApiError that names the field */
export function readEmbeddingRequest(body: unknown): EmbeddingRequest {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue!.code === "unrecognized_keys")
      throw unfitRequest(issue.keys[0]!, `${issue.keys[0]} is not taken: leave it out`, "unknown_parameter");
    const [param] = issue!.path.map(String);
    if (param === undefined) throw unfitRequest("", "the body must be a JSON object");
    throw unfitRequest(param, `${param}: ${param === "input" ? `expected ${FORMS}` : issue!.message}`);
  }
  const { model, input, encoding_format: encoding, dimensions } = parsed.data;
  const isOne = typeof input === "string" || typeof input[0] === "number";
  const inputs = (isOne ? [input] : input) as EmbeddingRequest["inputs"];
  return { model, inputs, encoding: encoding ?? "float", dimensions: dimensions ?? undefined };
}

/** The tokens of each text of a request. @throws ApiError for texts that do not fit */
export function embeddedTokens(model: EmbeddingModel, request: EmbeddingRequest): (readonly number[])[] {
  const { tokenizer, slots, dimensions } = model;
  if ((request.dimensions ?? dimensions) !== dimensions)
    throw unfitRequest("dimensions", `dimensions: the model's vectors have ${dimensions}`, "unsupported_value");
  return request.inputs.map((input, k) => {
    const where = `input[${k}]`;
    let ids = input;
    if (typeof ids === "string") {
      // SAFETY: tokenising blocks the process: texts beyond the bound are refused before.
      requireBytes({ tokenizer, limits: { slots } }, "input", [ids]);
      try {
        ids = tokenizer.encode(ids);
      } catch (cause) {
        throw unfitRequest("input", `${where} cannot be turned into tokens of this model`, null, cause);
      }
    }
    if (ids.length === 0) throw unfitRequest("input", `${where} gives no token`);
    if (ids.length > slots)
      throw unfitRequest(
        "input",
        `${where}: ${ids.length} tokens, the model takes ${slots}`,
        "context_length_exceeded",
      );
    if (!ids.every(tokenizer.isKnown)) throw unfitRequest("input", `${where} has a token that the model does not know`);
    return ids;
  });
}

/** The inputs of a run that makes the vector of a text: its tokens, then places that the mask leaves out. */
export function embeddingInputs({ program: { model }, slots }: EmbeddingModel, ids: readonly number[]): RunInputs {
  const values = (name: string): number[] => Array.from({ length: slots }, (_, place) => INPUTS[name]!(ids[place]));
  const bytes = model.inputs.map(({ name, dtype }) => numberTensor(dtype, values(name)).bytes);
  return new RunInputs(model.program.inputs, ONE_ITEM, bytes);
}

const blockSchema = z.object({ ...receiptBlock, vector: z.base64() }).strict();
/** The form of a receipt of embeddings: one block for each text. */
const receiptSchema = z
  .object({
    ...receiptHead,
    embedding: z
      .object({
        /** SHA-256 of each text (of no text for tokens), and of its tokens as decimal numbers with commas. */
        texts: z.array(hash),
        tokens: z.array(hash),
        dimensions: z.int().min(1),
      })
      .strict(),
    usage: z.object({ prompt: count }).strict(),
    blocks: z.array(blockSchema).min(1),
  })
  .strict();
export type EmbeddingReceipt = z.infer<typeof receiptSchema>;
/** A vector that was bought: float32, little-endian, as base64. */
export type EmbeddingBlock = z.infer<typeof blockSchema>;

/** Writes the receipt of the vectors for a request. */
export function embeddingReceipt(
  model: EmbeddingModel,
  { inputs }: Pick<EmbeddingRequest, "inputs">,
  place: ReceiptPlace,
  blocks: readonly EmbeddingBlock[],
  ids: readonly (readonly number[])[],
): EmbeddingReceipt {
  return {
    ...headOf("emb", model, place, blocks),
    embedding: {
      texts: inputs.map((input) => sha256(typeof input === "string" ? input : "")),
      tokens: ids.map((each) => sha256(each.join())),
      dimensions: model.dimensions,
    },
    usage: { prompt: ids.reduce((sum, { length }) => sum + length, 0) },
    blocks: blocks.map((block) => ({ ...block, claim: { ...block.claim } })),
  };
}

/** Whether a file is a receipt of embeddings. */
export const isEmbedding = (json: unknown): boolean =>
  typeof json === "object" && json !== null && Object.hasOwn(json, "embedding");

/** Reads the form of a receipt of embeddings. @throws ReceiptError */
export const readEmbeddingReceipt = (json: unknown): EmbeddingReceipt => parseReceipt(receiptSchema, json);

/**
 * Compares a receipt of embeddings with its request and with the files of the model: tokenises and checks signatures.
 * @throws ReceiptError with the first wrong field's name
 */
export function openEmbeddingReceipt(
  json: unknown,
  about: { model: EmbeddingModel; request: EmbeddingRequest; place: ReceiptPlace; findSigner: FindSigner },
): OpenedReceipt<EmbeddingReceipt> {
  const { model, request, place, findSigner } = about;
  const receipt = readEmbeddingReceipt(json);
  const { blocks } = receipt;
  requireFiles(receipt, model);
  let ids: (readonly number[])[];
  try {
    ids = embeddedTokens(model, request);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ReceiptError("embedding.texts", `cannot be those of this request: ${error.message}`, { cause: error });
  }
  if (blocks.length !== ids.length) throw new ReceiptError("blocks", `are not ${ids.length}, one for each text`);
  const { program } = model;
  const runs: OpenedReceipt["runs"][number][] = [];
  for (const [k, block] of blocks.entries()) {
    const vector = Buffer.from(block.vector, "base64");
    const run = { inputs: embeddingInputs(model, ids[k]!), outputs: [vector] };
    const own = { program, place, findSigner, payer: runs[0]?.claim.payer };
    const where = `blocks[${k}]`;
    // A vector has one form only: another spelling of the base64 is refused.
    if (vector.toString("base64") !== block.vector) throw new ReceiptError(`${where}.vector`, "is no vector as base64");
    runs.push(openBlock(block, run, own, { where, inputs: `embedding.texts[${k}]`, outputs: `${where}.vector` }));
  }
  requireSameRest(receipt, embeddingReceipt(model, request, place, blocks, ids));
  return { receipt, program, runs };
}
