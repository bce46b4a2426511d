// Every model of the catalogue: compiled, executed, compared with plain onnxruntime, audited on a chain in this
// process.
import { CATALOGUE, LARGE } from "../../../testkit/models/catalogue.ts";
import { chosen, file, flag, list, readOptions, whole } from "../../options.ts";
import { keepFigures } from "../keepFigures.ts";
import { printModels } from "./print.ts";

const everything = [...CATALOGUE, ...LARGE];
const byName = Object.fromEntries(everything.map((model) => [model.name, model]));
const values = readOptions({
  only: list("models by name"),
  all: flag("the large models too"),
  samples: whole("elements of each model that are audited on the chain", 32),
  json: file("a file for the figures"),
});
const usual = values.all ? everything : CATALOGUE;
const models = values.only === undefined ? usual : chosen(values.only, byName, "model").map(([, model]) => model);

const { rows, clean } = await printModels(models, values.samples);
keepFigures(values.json, rows);
if (!clean) process.exitCode = 1;
