/** The pictures and figures of relays in docs/provisioning.md. */
import { writeFileSync } from "node:fs";
import { flag, readOptions } from "../../../options.ts";
import { svgOf } from "../../chart.ts";
import { charts } from "./curves.ts";
import { chosenShare } from "./simulate.ts";

/** Exams for each point: more exams change the shares by less than 0.01. */
const ROUNDS = 4_000;

const { write } = readOptions({ write: flag("write the pictures of docs/provisioning.md") });
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

for (const [name, chart] of Object.entries(charts(ROUNDS))) {
  if (write) writeFileSync(`docs/${name}.svg`, svgOf(chart));
  console.log(chart.title);
  for (const { name: line, points } of chart.lines)
    console.log(`  ${line}: ${points.map(([x, y]) => `${x}: ${percent(y)}`).join(", ")}`);
}
console.log("Share of the exams that a builder chooses, by its share of the blocks and the odds of exams");
for (const share of [0.01, 0.05, 0.1, 0.3])
  console.log(
    `  ${percent(share)}: ${[2, 8, 32].map((odds) => `${odds}: ${percent(chosenShare(share, odds))}`).join(", ")}`,
  );
