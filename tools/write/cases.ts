/**
 * Writes test/golden/onnxCases.br: the ONNX backend cases that the tests run everywhere. FOLDER is
 * onnx/backend/test/data/node from ONNX 1.22 (Apache-2.0), NAMES a file with case names, one a line.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packCases } from "../../testkit/onnx/packedCases.ts";
import { readOptions, UsageError } from "../options.ts";

const [folder, list] = readOptions({}, "FOLDER NAMES").words;
if (folder === undefined || list === undefined) throw new UsageError("give FOLDER and NAMES");
const names = readFileSync(list, "utf8").split("\n").filter(Boolean).sort();
const cases = Object.fromEntries(
  names.map((name) => {
    const files = readdirSync(join(folder, name), { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.(onnx|pb)$/.test(file),
    );
    return [name, Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, name, file))]))];
  }),
);
writeFileSync("test/golden/onnxCases.br", packCases(cases));
console.log(`${names.length} cases`);
