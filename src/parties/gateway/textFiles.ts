import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { FileError, readRegularFile } from "../../base/regularFile.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { readTokenizer } from "../../model/tokenizer/readTokenizer.ts";
import { GatewayFileError } from "./errors.ts";
import { textModelOf, type FileHashes, type TextModel } from "./textModel.ts";

/** The files around a model that turn requests into tokens. */
type TextFiles = {
  /** A `tokenizer.json`. */
  tokenizer: string;
  /** A `tokenizer_config.json`: special tokens, and the chat template unless it has a file of its own. */
  config?: string | undefined;
  /** The chat template, in Jinja. */
  template?: string | undefined;
};

const MAX_FILE = 2 ** 26;

/**
 * Reads the files around a compiled decoder.
 * @param spec From which the program was compiled.
 * @throws GatewayFileError, TokenizerError, MissingPackageError, DecoderRequestError for a program that is no decoder
 */
export async function openTextModel(
  name: string,
  program: KnownProgram,
  spec: Pick<ModelSpec, "path" | "decoder">,
  files: TextFiles,
): Promise<TextModel> {
  const { config, template } = files;
  return textModelOf(name, program, {
    tokenizer: readTokenizer(files.tokenizer),
    config: config === undefined ? undefined : { name: config, text: readFile(config) },
    template: template === undefined ? undefined : readFile(template),
    hashes: await hashesOf(spec.path, files),
    endTokens: spec.decoder?.endTokens ?? [],
  });
}

/** Hashes the file of a model and the files around it. @throws GatewayFileError */
export async function hashesOf(model: string, { tokenizer, config, template }: TextFiles): Promise<FileHashes> {
  const hash = (path: string | undefined) => (path === undefined ? null : hashOf(path));
  return {
    model: await hashOf(model),
    tokenizer: await hashOf(tokenizer),
    config: await hash(config),
    template: await hash(template),
  };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch (cause) {
    throw new GatewayFileError(`${path} cannot be read (${(cause as Error).message})`, { cause });
  }
  return hash.digest("hex");
}

function readFile(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readRegularFile(path, MAX_FILE));
  } catch (cause) {
    const why = cause instanceof FileError ? cause.message : "is no text";
    throw new GatewayFileError(`${path} ${why}`, { cause });
  }
}
