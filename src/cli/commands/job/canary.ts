import { Command } from "commander";
import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { setTimeout as sleep } from "node:timers/promises";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { CanaryDraw, postThroughOutages } from "../../../parties/requester/canaries.ts";
import { checkJob, minWindow, usualClaimSeconds } from "../../../parties/requester/postJob.ts";
import { amountAboveZero, amountText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { warnOfNobody } from "../../feeWarning.ts";
import { addExamples } from "../../globalOptions.ts";
import { modelOptions, modelSpec, type ModelOptions } from "../../modelOptions.ts";
import { loadModel, type ModelSpec } from "../../../compiler/wraps/modelSpec.ts";
import type { CompiledModel } from "../../../program/compiled.ts";
import type { Model } from "../../../model/onnx/model.ts";
import { nameAndRest } from "../../inputs.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { namedFolder, positive } from "../../parse.ts";
import { jobBytes, readJobInputs, shapesOfJob } from "../../jobInputs.ts";
import { prepareBatch, prepareJob } from "../../prepareJob.ts";
import { logOutage } from "../../waiting.ts";
import { addSettings, defaulted, readSettings, required } from "../../settings.ts";

const DAY_SECONDS = 86_400;

const settings = {
  ...accountSettings,
  fee: required("amount", "fee of a job, in whole units of the stake asset, or with a unit", amountAboveZero),
  purse: required("amount", "fees of all jobs together, at most", amountAboveZero),
  inputs: required("input=folder", "an input, and the folder of real data that it is drawn from", namedFolder),
  perDay: defaulted("n", "jobs a day, on average", positive, 4),
};

/** `refute job canary`: posts jobs over real data at random times, until a purse is spent. */
export function canaryCommand(output: Output): Command {
  const command = new Command("canary")
    .description(
      "post jobs over real data at random times from a purse: whoever lies in one is refuted as in any other",
    )
    .argument("<model>", "ONNX file")
    .action(async (path: string, options: ModelOptions, command: Command) => {
      const values = readSettings(command, settings);
      const { fee, purse, perDay } = values;
      const spec = modelSpec(path, options);
      const { input, files } = filesOf(loadModel(spec).model, values.inputs);
      // A file that is no input ends the command before anything is paid.
      const programRoots = readAll(spec, input, files, output);
      const session = await sessionFrom(values);
      await warnOfNobody(output, session, programRoots);
      const jobs: string[] = [];
      const draw = new CanaryDraw(files);
      const prepare = (file: string) => prepareJob(spec, { input: [`${input}=${file}`] }, output);
      const outages = { intervalMs: OUTAGE_PAUSE_MS, onOutage: logOutage(output) };
      let left = purse;
      for (; left >= fee; left -= fee) {
        // Times between jobs of many people are exponential.
        if (jobs.length > 0) await sleepLong(((-Math.log(1 - randomInt(LOTS) / LOTS) * DAY_SECONDS) / perDay) * 1_000);
        const next = await draw.next(prepare, ({ inputs }) => inputs);
        if (next === undefined) break;
        const { compiled, inputs } = next;
        const program = describeProgram(knownProgram(compiled));
        const termsNow = async () => {
          const { timestamp } = await session.publicClient.getBlock();
          const deadline = timestamp + BigInt(DAY_SECONDS);
          const claimSeconds = usualClaimSeconds(session, program);
          const terms = { fee, window: minWindow(session, program), claimSeconds, deadline };
          await checkJob(session, program, inputs, terms);
          return terms;
        };
        const jobId = await postThroughOutages(session, program, inputs, termsNow, outages);
        jobs.push(jobId);
        output.note(`job ${jobId}`);
      }
      const ending = draw.isEmpty ? "; the folder is used up" : "";
      output.answer(
        { jobs, left: amountText(left) },
        `${jobs.length} jobs; ${(await moneyOf(session))(left)} is left of the purse${ending}`,
      );
    });
  return addExamples(
    addSettings(modelOptions(command), settings),
    "job canary model.onnx --inputs x=pictures/ --fee 0.05 --purse 2",
  );
}

/** The files of `x=pictures/`. @throws UsageError */
function filesOf(model: Model, given: string): { input: string; files: string[] } {
  const [input, folder] = nameAndRest(model, given, "--inputs", "INPUT=FOLDER, for example x=pictures/");
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (cause) {
    throw new UsageError(`--inputs ${given}: the folder cannot be read`, { cause });
  }
  if (names.length === 0) throw new UsageError(`--inputs ${given}: the folder is empty`);
  return { input, files: names.sort().map((name) => join(folder, name)) };
}

/** Reads each file for its post. @returns the programs for the files' shapes @throws UsageError, InputFileError */
function readAll(spec: ModelSpec, input: string, files: readonly string[], output: Output): Hex[] {
  const { model, run, training } = loadModel(spec);
  const programs = new Map<string, CompiledModel>();
  for (const file of files) {
    const given = readJobInputs(model, run, [`${input}=${file}`]);
    const key = JSON.stringify(shapesOfJob(given));
    const known = programs.get(key);
    if (known !== undefined) jobBytes(given, { run, training }, known.inputs);
    else programs.set(key, prepareBatch(spec, { input: [`${input}=${file}`] }, output).compiled);
  }
  return [...programs.values()].map(({ programRoot }) => programRoot);
}

/** Draws are made of so many. */
const LOTS = 2 ** 32;

/** Pause after the first try without a node, milliseconds. */
const OUTAGE_PAUSE_MS = 4_000;

/** The longest time of a timer, milliseconds: 24.8 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function sleepLong(ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= MAX_TIMER_MS) await sleep(Math.min(rest, MAX_TIMER_MS));
}
