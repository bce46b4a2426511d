/**
 * Writes test/golden/onnxCases.br: the ONNX backend cases that the tests run everywhere.
 *
 *   npm run cases -- FOLDER NAMES    cases of FOLDER whose names stand in the file NAMES, one a line
 *
 * FOLDER is onnx/backend/test/data/node of ONNX 1.22 (Apache-2.0).
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packCases } from "../../testkit/onnx/packedCases.ts";

const [folder, list] = process.argv.slice(2);
if (folder === undefined || list === undefined) throw new Error("usage: npm run cases -- FOLDER NAMES");
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
