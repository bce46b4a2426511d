/**
 * Measures gas: an undisputed job, every move, whole disputes, the step proof by kind, over arity and chunk size, and
 * by program size.
 */
import { file, flag, readOptions, whole } from "../../options.ts";
import { keepFigures } from "../keepFigures.ts";
import { answerDisputes } from "./answerDisputes.ts";
import { attestationGas } from "./attestations.ts";
import { endingsGas } from "./endings.ts";
import { examClaimsGas } from "./examClaims.ts";
import { panelsGas } from "./panels.ts";
import { provenGas } from "./proven.ts";
import { growth } from "./growth.ts";
import { jobGas } from "./job.ts";
import { partsOfAll } from "./parts/partsOfAll.ts";
import { stepProofGas } from "./stepProofs.ts";
import { runGas } from "./runs.ts";
import { sweep } from "./sweep.ts";
import { validationsGas } from "./validations.ts";
import { subjectOf, wholeDisputes, type PlayedDispute } from "./wholeDisputes.ts";

const {
  json,
  samples,
  parts: onlyParts,
} = readOptions({
  parts: flag("only where the gas of disputes, jobs and renewals goes, by operations"),
  samples: whole("steps of each model on which games are played", 12),
  json: file("a file for the figures"),
});

const summary = (played: readonly PlayedDispute[]) =>
  [...new Set(played.map(({ published }) => published))].map((published) => {
    const games = played.filter((game) => game.published === published);
    const gas = games.map((game) => game.gas).sort((a, b) => a - b);
    return {
      "published trace": published,
      games: games.length,
      "most transactions": Math.max(...games.map(({ transactions }) => transactions)),
      "least gas": gas[0]!,
      "median gas": gas[Math.floor(gas.length / 2)]!,
      "most gas": gas.at(-1)!,
      "median without the proof": games.map((game) => game.gas - game.proof).sort((a, b) => a - b)[
        Math.floor(games.length / 2)
      ]!,
      "dearest move": Math.max(...games.map(({ dearestMove }) => dearestMove)),
    };
  });

const cls = await subjectOf("ppocr2_cls");
const rec = await subjectOf("ppocr4_rec");

const parts = await partsOfAll(cls, rec);
console.log("Where the gas goes, by operations: medians of ppocr4_rec, jobs without input bytes, renewals");
console.table(parts);
if (onlyParts) {
  keepFigures(json, { parts });
  process.exit();
}

const jobs = await jobGas(cls);
console.log("An undisputed job without its input bytes");
console.table(jobs);

const runs = await runGas();
console.log("Undisputed runs of ppocr2_cls");
console.table(runs);

const attestations = await attestationGas();
console.log("Attestations");
console.table(attestations);

const exams = await examClaimsGas();
console.log("Exams as claims");
console.table(exams);

const validations = await validationsGas();
console.log("Answers to agents");
console.table(validations);

const panels = await panelsGas();
console.log("A panel");
console.table(panels);

const proven = await provenGas();
console.log("Claims that a proof ends");
console.table(proven);

const disputes: Record<string, PlayedDispute[]> = {};
for (const [name, subject] of Object.entries({ ppocr2_cls: cls, ppocr4_rec: rec })) {
  disputes[name] = await wholeDisputes(subject, samples);
  console.log(`Whole disputes on ${name}, every transaction of both sides: lies in ${samples} steps, evenly chosen`);
  console.table(disputes[name]);
  console.table(summary(disputes[name]));
}

const answered = "ppocr2_cls, an answer";
disputes[answered] = await answerDisputes(cls, samples);
console.log(`Whole disputes on ${answered}: lies in the same steps, from which all later ones follow`);
console.table(disputes[answered]);
console.table(summary(disputes[answered]));

const endings = await endingsGas();
console.log("Other endings of a game, and what follows");
console.table(endings);

const swept = await sweep(rec);
console.log("The longest game on ppocr4_rec over arity (played) and chunk size (model)");
console.table(swept);

const grown = growth();
console.log("How a game grows: ranges of 16 steps, arity 16, float32, a step proof of 300,000 gas (model)");
console.table(grown);

const proofs = await stepProofGas(cls.model, [cls.input]);
console.log(
  "The verifier's part of a step proof (a transaction of its own), the dearest step of each kind in ppocr2_cls",
);
console.table(proofs);
keepFigures(json, {
  ...{ parts, jobs, runs, attestations, exams, validations, panels, proven, disputes, endings },
  ...{ sweep: swept, growth: grown, proofs },
});
