/**
 * Measures a step's time in the trainings from docs/training.md: plain onnxruntime, exact execution, with commitments.
 */
import { denoiserTraining } from "../../../../testkit/training/diffusionExample.ts";
import { digitsTraining } from "../../../../testkit/training/digitsExample.ts";
import { readText } from "../../../../testkit/training/text.ts";
import { textTraining } from "../../../../testkit/training/textExample.ts";
import { file, readOptions } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import { trainingRow } from "./trainingRow.ts";

/** Steps of each training, the first few not measured. */
const ITEMS = 44;

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));

const values = readOptions({ json: file("a file for the figures") });
const rows = [
  await trainingRow("digits", digitsTraining(ITEMS)),
  await trainingRow("characters", textTraining(readText(), ITEMS)),
  await trainingRow("denoiser", denoiserTraining(ITEMS)),
];
console.table(
  rows.map(({ model, weights, plain, exact, committed, exactProcessor, committedProcessor, losses }) => ({
    ...{ model, weights, "plain ms": cell(plain), "exact ms": cell(exact), "committed ms": cell(committed) },
    ...{ exact: cell(exact / plain), committed: cell(committed / plain) },
    ...{ "exact, cpu": cell(exactProcessor), "committed, cpu": cell(committedProcessor) },
    ...{ "plain loss": cell(losses[0], 5), "exact loss": cell(losses[1], 5) },
  })),
);
keepFigures(values.json, { training: rows });
