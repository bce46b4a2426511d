import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** Files of ONNX backend cases: by case, by path in its folder. */
type Cases = Readonly<Record<string, Readonly<Record<string, Uint8Array>>>>;

/** Cases in one compressed file. */
export function packCases(cases: Cases): Uint8Array {
  const text = JSON.stringify(cases, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
  const size = Buffer.byteLength(text);
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  });
}

/** Writes packed cases as folders. @returns their names */
export function unpackCases(packed: Uint8Array, folder: string): string[] {
  const cases = JSON.parse(brotliDecompressSync(packed).toString("utf8")) as Record<string, Record<string, string>>;
  for (const [name, files] of Object.entries(cases))
    for (const [path, text] of Object.entries(files)) {
      const target = join(folder, name, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, Buffer.from(text, "base64"));
    }
  return Object.keys(cases);
}
