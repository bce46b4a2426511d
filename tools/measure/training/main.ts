/**
 * Models trained exactly, as runs: a classifier of handwritten digits.
 * `npm run training [-- --write]`; `--write` writes the pictures of docs/training.md.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { svgOf, type Chart } from "../chart.ts";
import { trainDigits } from "./digitsExample.ts";
import { lossChart } from "./lossChart.ts";

const { values, positionals } = parseArgs({
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
});

const DIGITS_ITEMS = 300;
const note = (text: string): void => console.log(`  ${text}`);
const write = (name: string, chart: Chart): void => {
  if (values.write) writeFileSync(`docs/${name}.svg`, svgOf(chart));
};

async function digits(): Promise<void> {
  console.log("A classifier of handwritten digits");
  const { losses, milliseconds, held, right } = await trainDigits(DIGITS_ITEMS, note);
  note(`${DIGITS_ITEMS} items as one run, ${(milliseconds / DIGITS_ITEMS).toFixed(1)} ms an item`);
  note(`right about ${right} of ${held} digits that it never saw: ${((100 * right) / held).toFixed(1)} %`);
  write("trainingDigits", lossChart("A classifier of digits, trained as one run", losses, [0, 0.5, 1, 1.5, 2, 2.5]));
}

const EXAMPLES: Readonly<Record<string, () => Promise<void>>> = { digits };
const chosen = positionals.length === 0 ? Object.keys(EXAMPLES) : positionals;
const unknown = chosen.find((name) => !(name in EXAMPLES));
if (unknown !== undefined) {
  console.error(`no example ${unknown}; there are ${Object.keys(EXAMPLES).join(", ")}`);
  process.exit(2);
}
for (const name of chosen) await EXAMPLES[name]!();
