import { Command } from "commander";
import type { Address } from "viem";
import { readExams } from "../../../attestation/exams/openExams.ts";
import { chainSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadProgram, readModels } from "../../models.ts";
import type { Output } from "../../output.ts";
import { address, filePath } from "../../parse.ts";
import { addSettings, optional, readSettings, required } from "../../settings.ts";
import { table } from "../../../base/text.ts";

const settings = {
  ...chainSettings,
  exams: required<Address>("address", "the deployment's exams", address),
  account: optional<Address>("address", "the worker whose classes are shown", address, "none"),
  models: optional<string>("file", "models file: which of the classes this machine can sit", filePath, "none"),
};

/**
 * `refute exam classes`: the classes in a deployment's exams; marks the classes held by a worker, and the classes with
 * a program on this machine.
 */
export function classesCommand(output: Output): Command {
  const command = new Command("classes")
    .description("show the classes of exams: which a worker holds, and of which this machine has the program")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { exams, classes } = await readExams(await readerFrom(values), values.exams);
      const { account, models } = values;
      const specs = models === undefined ? [] : readModels(models);
      const known = new Map(specs.map((spec) => [loadProgram(spec, output).model.programRoot as string, spec.path]));
      const held = account === undefined ? [] : await exams.classesOf(account);
      const passed = await Promise.all(
        classes.map((_, k) => (account === undefined ? Promise.resolve(undefined) : exams.passedOf(account, k))),
      );
      const rows = classes.map(({ programRoot, blocks }, k) => ({
        class: k,
        programRoot,
        blocks,
        ...(models === undefined ? {} : { model: known.get(programRoot) ?? null }),
        ...(account === undefined ? {} : { held: held.includes(k), passed: countOf(passed[k]!) }),
      }));
      const lastExam = await exams.lastExam();
      const lines = rows.map(({ class: k, blocks, programRoot, model, held: isHeld, passed: count }) => [
        `class ${k}`,
        `${blocks} blocks`,
        programRoot,
        ...(model === undefined ? [] : [model ?? "no model here"]),
        ...(isHeld === undefined ? [] : [`${isHeld ? "held" : "not held"}, ${count} of the last 16`]),
      ]);
      output.answer({ lastExam, classes: rows }, [...table(lines), `last exam: number ${lastExam.number}`]);
    });
  return addExamples(
    addSettings(command, settings),
    "exam classes --exams 0x... --account ADDRESS",
    "exam classes --exams 0x... --models models.json",
  );
}

/** How many bits are set. */
const countOf = (bits: number): number => [...bits.toString(2)].filter((bit) => bit === "1").length;
