/** Gas of every market call, every move of a dispute, and the step proof by kind. `npm run gas [-- --json FILE]` */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { PICTURE, textDirectionProgram } from "../../src/cli/demo/model.ts";
import { Narrator } from "../../src/cli/demo/narrator.ts";
import { drawText } from "../../src/cli/demo/picture.ts";
import { story } from "../../src/cli/demo/story.ts";
import { endingsGas } from "./endings.ts";
import { stepProofGas } from "./stepProofs.ts";

const { values } = parseArgs({ options: { json: { type: "string" } } });

const figures = await story(new Narrator(() => undefined));
console.log("An undisputed job (ask: with 27,648 bytes of input)");
console.table(figures.honest.gas);
console.log(
  `A dispute over one element of ppocr2_cls: ${figures.fraud.transactions} transactions, ${figures.fraud.gas} gas`,
);
console.table(figures.fraud.moves);

const endings = await endingsGas();
console.log("Other endings of a game, and what follows");
console.table(endings);

const { pixels } = drawText("REFUTE", PICTURE.width, PICTURE.height, 4);
const { model } = textDirectionProgram();
const proofs = await stepProofGas(model, [pixels]);
console.log(
  "The verifier's part of a step proof (a transaction of its own), the dearest step of each kind in ppocr2_cls",
);
console.table(proofs);
if (values.json !== undefined) {
  writeFileSync(
    values.json,
    `${JSON.stringify({ honest: figures.honest.gas, fraud: figures.fraud, endings, proofs }, null, 2)}\n`,
  );
}
