// Every model of the catalogue: compiled, executed, compared with plain onnxruntime, audited on a chain in this
// process.
//   npm run models [-- --only NAME,NAME] [--all] [--samples N] [--json FILE]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CATALOGUE, LARGE } from "../../../testkit/models/catalogue.ts";
import { printModels } from "./print.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    all: { type: "boolean", default: false },
    samples: { type: "string", default: "32" },
    json: { type: "string" },
  },
});
const only = values.only?.split(",");
const everything = [...CATALOGUE, ...LARGE];
const models =
  only !== undefined ? everything.filter(({ name }) => only.includes(name)) : values.all ? everything : CATALOGUE;

const { rows, clean } = await printModels(models, Number(values.samples));
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, null, 2));
if (!clean) process.exitCode = 1;
