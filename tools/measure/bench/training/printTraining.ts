import { denoiserTraining } from "../../training/diffusionExample.ts";
import { digitsTraining } from "../../training/digitsExample.ts";
import { readText } from "../../training/text.ts";
import { textTraining } from "../../training/textExample.ts";
import { trainingRow, type TrainingRow } from "./trainingRow.ts";

/** Steps of each training, the first few not measured. */
const ITEMS = 44;

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** Prints what steps of the trainings of docs/training.md take. */
export async function printTraining(): Promise<TrainingRow[]> {
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
  return rows;
}
