/**
 * Trains models exactly, in runs: a handwritten-digit classifier, a character model that then writes text, a denoiser
 * that then makes digits from noise. Measures a step over shares of a batch.
 */
import { writeFileSync } from "node:fs";
import { trainDigits } from "../../../../testkit/training/digitsExample.ts";
import { SIDE } from "../../../../testkit/training/diffusion.ts";
import { makeDigits, denoiserTraining, STEPS } from "../../../../testkit/training/diffusionExample.ts";
import { readText } from "../../../../testkit/training/text.ts";
import { heldOutLoss, textTraining, writeText } from "../../../../testkit/training/textExample.ts";
import { train } from "../../../../testkit/training/trainer.ts";
import { trigramLoss } from "../../../../testkit/training/trigram.ts";
import { chosen, flag, readOptions } from "../../../options.ts";
import { svgOf, type Chart } from "../../chart.ts";
import { lossChart } from "./lossChart.ts";
import { picturesSvg } from "./pictures.ts";
import { measureLosses } from "./losses.ts";
import { measurePlayed, measureShares } from "./shares.ts";

const { write: isWriting, words } = readOptions(
  { write: flag("write the pictures of docs/training.md") },
  "[digits] [text] [diffusion] [shares] [losses] [played]",
);

const [DIGITS_ITEMS, TEXT_ITEMS, DIFFUSION_ITEMS] = [300, 3_000, 6_000];
/** The first held-out character for judging character models. */
const JUDGED_FROM = 32;
const BEGINNING = "The old captain said";
const note = (text: string): void => console.log(`  ${text}`);
const write = (name: string, chart: Chart): void => {
  if (isWriting) writeFileSync(`docs/${name}.svg`, svgOf(chart));
};

async function digits(): Promise<void> {
  console.log("A classifier of handwritten digits");
  const { losses, milliseconds, held, right } = await trainDigits(DIGITS_ITEMS, note);
  note(`${DIGITS_ITEMS} items as one run, ${(milliseconds / DIGITS_ITEMS).toFixed(1)} ms an item`);
  note(`right about ${right} of ${held} digits that it never saw: ${((100 * right) / held).toFixed(1)} %`);
  write("trainingDigits", lossChart("A classifier of digits, trained as one run", losses, [0, 0.5, 1, 1.5, 2, 2.5]));
}

async function text(): Promise<void> {
  console.log("A model of characters: Moby-Dick");
  const given = readText();
  const trigram = trigramLoss(given.training, given.heldOut, given.alphabet.length, JUDGED_FROM);
  note(`a trigram model, discount ${trigram.discount}: ${trigram.loss.toFixed(3)} nats a held-out character`);
  const { model, losses, milliseconds } = await train(textTraining(given, TEXT_ITEMS), note);
  note(`${TEXT_ITEMS} items as one run, ${(milliseconds / TEXT_ITEMS).toFixed(1)} ms an item`);
  const { loss, places } = await heldOutLoss(model, given, JUDGED_FROM);
  note(`${loss.toFixed(3)} nats a held-out character, of ${places}`);
  for (const seed of [1, 2]) {
    const written = await writeText(model, given, BEGINNING, { items: 240, seed });
    note(`it writes, seed ${seed}: ${written.replaceAll("\n", " ")}`);
  }
  const lines = { "held out, in the end": loss, "trigram, held out": trigram.loss };
  const title = "A model of characters, trained as one run";
  write("trainingText", lossChart(title, losses, [0, 1, 2, 3, 4], lines));
}

async function diffusion(): Promise<void> {
  console.log("A denoiser of digits, and a diffusion with it");
  const { model, losses, milliseconds } = await train(denoiserTraining(DIFFUSION_ITEMS), note);
  note(`${DIFFUSION_ITEMS} items as one run, ${(milliseconds / DIFFUSION_ITEMS).toFixed(1)} ms an item`);
  const title = "A denoiser of digits, trained as one run";
  write("trainingDenoiser", lossChart(title, losses, [0, 0.1, 0.2, 0.3, 0.4]));
  const rows: Float32Array[][] = [];
  for (const seed of [1, 2]) {
    const start = performance.now();
    const made = await makeDigits(model, 20, seed);
    note(`seed ${seed}: 20 digits in ${STEPS + 1} items as one run, ${Math.round(performance.now() - start)} ms`);
    rows.push(made.slice(0, 10), made.slice(10));
  }
  if (isWriting)
    writeFileSync(
      "docs/diffusion.svg",
      picturesSvg("Digits made of noise: two rows of seed 1, two of seed 2", SIDE, rows),
    );
}

const EXAMPLES: Readonly<Record<string, () => Promise<void>>> = {
  ...{ digits, text, diffusion, shares: measureShares, losses: measureLosses, played: measurePlayed },
};
const drawn = ["digits", "text", "diffusion"];
const names = words.length > 0 ? words : isWriting ? drawn : Object.keys(EXAMPLES);
for (const [, example] of chosen(names, EXAMPLES, "example")) await example();
