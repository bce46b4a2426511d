import { Command, Option } from "commander";
import type { Address } from "viem";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { readExams } from "../../../attestation/exams/openExams.ts";
import { solver } from "../../../attestation/exams/solve.ts";
import { chainSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadProgram, readModels } from "../../models.ts";
import type { Output } from "../../output.ts";
import { address, filePath } from "../../parse.ts";
import { addSettings, readSettings, required } from "../../settings.ts";
import { table } from "../../../base/text.ts";

/** The number of blocks for measuring the time per block. */
const BLOCKS = 256n;
/** The maximum share of a class's time for the execution: the rest remains for reports that come late into a block. */
const MAX_SHARE = 0.75;

const settings = {
  ...chainSettings,
  exams: required<Address>("address", "the deployment's exams", address),
  models: required("file", "models file", filePath),
};

/** `refute exam rehearse`: what this machine would pass. */
export function rehearseCommand(output: Output): Command {
  const command = new Command("rehearse")
    .description(
      "execute the program of each class once, and say whether this machine would pass; exams come by themselves, " +
        "and a worker with --exams sits them",
    )
    // The flag of the old word `exam`, also in config files.
    .addOption(new Option("--rehearse").hideHelp())
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const reader = await readerFrom(values);
      const { classes } = await readExams(reader, values.exams);
      const seconds = await secondsOfBlock(reader);
      const executors = new FastExecutors();
      const programs = new Map(
        readModels(values.models)
          .map((spec) => loadProgram(spec, output))
          .map((program) => [program.model.programRoot as string, program]),
      );
      const rows = [];
      try {
        for (const [k, { programRoot, blocks }] of classes.entries()) {
          const program = programs.get(programRoot);
          if (program === undefined) {
            rows.push({ class: k, programRoot, allowedSeconds: blocks * seconds, passes: false });
            continue;
          }
          const solve = solver(program, executors.execute);
          // The first execution prepares the program; a worker likewise has the program prepared by the second exam.
          await solve(crypto.getRandomValues(new Uint8Array(32)));
          const start = performance.now();
          await solve(crypto.getRandomValues(new Uint8Array(32)));
          const taken = (performance.now() - start) / 1_000;
          const passes = taken <= MAX_SHARE * blocks * seconds;
          rows.push({ class: k, programRoot, allowedSeconds: blocks * seconds, seconds: taken, passes });
        }
      } finally {
        await executors.close();
      }
      const lines = rows.map(({ class: k, allowedSeconds, seconds: taken, passes }) => [
        `class ${k}`,
        passes ? "would pass" : taken === undefined ? "no model here" : "too slow",
        taken === undefined ? "" : `${taken.toFixed(2)} s`,
        `of ${allowedSeconds.toFixed(0)} s`,
      ]);
      output.answer({ secondsOfBlock: seconds, classes: rows }, table(lines));
    });
  return addExamples(addSettings(command, settings), "exam rehearse --exams 0x... --models models.json");
}

/** How long a block of the chain takes, seconds, over the last ones. */
async function secondsOfBlock({ publicClient }: Awaited<ReturnType<typeof readerFrom>>): Promise<number> {
  const head = await publicClient.getBlock();
  const blocks = head.number < BLOCKS ? head.number : BLOCKS;
  if (blocks === 0n) return 0;
  const old = await publicClient.getBlock({ blockNumber: head.number - blocks });
  return Number(head.timestamp - old.timestamp) / Number(blocks);
}
