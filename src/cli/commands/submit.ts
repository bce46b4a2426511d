import { Command } from "commander";
import { formatGwei } from "viem";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { Session } from "../../market/session.ts";
import { readRegularFile } from "../../regularFile.ts";
import type { KnownProgram } from "../../player/execution.ts";
import { programWork } from "../../program/types.ts";
import { checkJob, DEFAULT_TERMS, minWindow, postJob } from "../../sdk/postJob.ts";
import { coveringFee, jobGas, jobShape } from "../../worker/jobCost.ts";
import { amountAboveZero, amountText } from "../amount.ts";
import { accountSettings, sessionFrom } from "../chainSettings.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { depositChecked } from "../ledger.ts";
import { loadProgram } from "../models.ts";
import type { Output } from "../output.ts";
import { seconds } from "../parse.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../settings.ts";
import { outputsJson, resultLines, waitOnTerminal } from "../waiting.ts";
import { programShape } from "../../player/execution.ts";

const DAY_SECONDS = 86_400;

const settings = {
  ...accountSettings,
  fee: required("amount", "fee, in whole units of the stake asset, or with a unit such as 50gwei", amountAboveZero),
  window: optional<number>("seconds", "in which watchers may dispute", seconds(1), "the shortest allowed"),
  claimSeconds: defaulted("seconds", "that a worker has to compute", seconds(1), 1_800),
  deadlineSeconds: defaulted("seconds", "from now, by which a submission must be due", seconds(1), DAY_SECONDS),
  wait: toggle("wait until the result is final, and print the outputs; refute result JOB --wait resumes"),
};

/** `refute submit`: post a job, and if asked wait for its result. */
export function submitCommand(output: Output): Command {
  const command = new Command("submit")
    .description("post a job: run this model on these inputs")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "bytes of an input, little-endian; repeat for more", appendOption)
    .action(async (path: string, options: ModelOptions & { input?: string[] }, command: Command) => {
      const values = readSettings(command, settings);
      const { fee, claimSeconds, deadlineSeconds } = values;
      if (deadlineSeconds < claimSeconds)
        throw new UsageError(
          `--deadline-seconds ${deadlineSeconds}: expected at least the ${claimSeconds} of --claim-seconds`,
        );
      const program = loadProgram(modelSpec(path, options), output);
      const inputs = readInputs(
        program.model.inputs.map(({ name }) => name),
        options.input ?? [],
      );
      const session = await sessionFrom(values);
      const { timestamp } = await session.publicClient.getBlock();
      const terms = {
        fee,
        window: values.window ?? minWindow(session, programWork(program.model.program.steps)),
        claimSeconds,
        deadline: timestamp + BigInt(deadlineSeconds),
      };
      await checkJob(session, program, inputs, terms);
      await warnOfLowFee(output, session, program, fee);
      const { credit } = await session.vault.accountOf(session.sender.address);
      if (credit < fee) await depositChecked(session, fee - credit);
      const { jobId } = await postJob(session, program, inputs, terms, output.progress("posting part"));
      if (!values.wait) return output.answer({ job: jobId }, `job ${jobId}`);
      output.note(`job ${jobId}`);
      const result = await waitOnTerminal(output, jobId, true, () => Promise.resolve(session));
      const nameOf = (k: number): string => program.model.outputs[k]!.name;
      const value = { job: jobId, ...result, outputs: outputsJson(result.outputs, nameOf) };
      output.answer(value, [`job ${jobId}`, ...resultLines(result, nameOf)]);
    });
  return addExamples(
    addSettings(seedOption(modelOptions(command)), settings),
    "submit model.onnx --input x=x.bin --fee 0.05 --wait",
  );
}

/** Says so if a worker with the usual policy would not take the job at the gas price of now. */
async function warnOfLowFee(output: Output, session: Session, program: KnownProgram, fee: bigint): Promise<void> {
  const { publicClient, deployment } = session;
  const gas = jobGas(jobShape(programShape(program), DEFAULT_TERMS, deployment.parameters.arityBits));
  const gasPrice = await gasPriceNow(publicClient);
  const needed = coveringFee(gas, gasPrice);
  if (fee >= needed) return;
  const cost = `${gas.total} gas at ${formatGwei(gasPrice)} gwei and half as much again`;
  output.warn(
    `--fee ${amountText(fee)} is below ${amountText(needed)}, what a worker needs now (${cost}): ` +
      `no worker may take the job; refute status shows whether one did`,
  );
}

/** The maximum bytes of an input: those of a tensor. */
const MAX_INPUT_BYTES = 2 ** 29;

function readInputs(names: readonly string[], given: readonly string[]): Uint8Array[] {
  const files = new Map(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new UsageError(`--input ${text}: expected NAME=FILE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
  const unknown = [...files.keys()].filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`the model has no input ${unknown.join(", ")}; its inputs are ${names.join(", ")}`);
  }
  return names.map((name) => {
    const file = files.get(name);
    if (file === undefined) throw new UsageError(`input ${name} is missing: give --input ${name}=FILE`);
    try {
      return readRegularFile(file, MAX_INPUT_BYTES);
    } catch (cause) {
      throw new UsageError(`cannot read ${file}: it ${(cause as Error).message}`, { cause });
    }
  });
}
