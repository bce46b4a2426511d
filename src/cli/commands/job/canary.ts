import { Command } from "commander";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deposit } from "../../../chain/market/deposit.ts";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { freshSeed, Prng } from "../../../base/prng.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { checkJob, minWindow, postJob, usualClaimSeconds } from "../../../parties/requester/postJob.ts";
import { amountAboveZero, amountText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { modelOptions, modelSpec, type ModelOptions } from "../../modelOptions.ts";
import { loadModel } from "../../../compiler/wraps/modelSpec.ts";
import type { Model } from "../../../model/onnx/model.ts";
import { nameAndRest } from "../../inputs.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { positive, text } from "../../parse.ts";
import { prepareJob } from "../../prepareJob.ts";
import { addSettings, defaulted, readSettings, required } from "../../settings.ts";

const DAY_SECONDS = 86_400;

const settings = {
  ...accountSettings,
  fee: required("amount", "fee of a job, in whole units of the stake asset, or with a unit", amountAboveZero),
  purse: required("amount", "fees of all jobs together, at most", amountAboveZero),
  inputs: required("input=folder", "an input, and the folder of real data that it is drawn from", text),
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
      const session = await sessionFrom(values);
      const random = new Prng(freshSeed());
      const jobs: string[] = [];
      let left = purse;
      // Each file once: everybody sees roots that come again, and knows the job for a canary then.
      const unused = [...files];
      for (; left >= fee && unused.length > 0; left -= fee) {
        const [file] = unused.splice(random.below(unused.length), 1);
        // Times between jobs of many people are exponential.
        if (jobs.length > 0) await sleep(((-Math.log(1 - unit(random)) * DAY_SECONDS) / perDay) * 1_000);
        const { compiled, inputs } = await prepareJob(spec, { input: [`${input}=${file}`] }, output);
        const program = describeProgram(knownProgram(compiled));
        const { timestamp } = await session.publicClient.getBlock();
        const claimSeconds = usualClaimSeconds(session, program);
        const deadline = timestamp + BigInt(DAY_SECONDS);
        const terms = { fee, window: minWindow(session, program), claimSeconds, deadline };
        await checkJob(session, program, inputs, terms);
        const { credit } = await session.vault.accountOf(session.sender.address);
        if (credit < fee) await deposit(session, fee - credit);
        const { jobId } = await postJob(session, program, inputs, terms);
        jobs.push(jobId);
        output.note(`job ${jobId}`);
      }
      const ending = unused.length === 0 ? "; the folder is used up" : "";
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

const unit = (random: Prng): number => random.uint32() / 2 ** 32;
