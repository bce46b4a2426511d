import { Command } from "commander";
import { formatGwei } from "viem";
import { z } from "zod";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import { deposit } from "../../market/ledger.ts";
import type { Session } from "../../market/session.ts";
import { readRegularFile } from "../../regularFile.ts";
import type { KnownProgram } from "../../player/execution.ts";
import type { ImagePreprocessing } from "../../onnx/preprocess.ts";
import { describeProgram } from "../../sdk/describeProgram.ts";
import { DEFAULT_TERMS, minWindow, postJob } from "../../sdk/postJob.ts";
import { coveringFee, jobGas, jobShape } from "../../worker/jobCost.ts";
import { amountText, parseAmount } from "../amount.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { UsageError } from "../errors.ts";
import { modelOptions, modelSpec, seedOption } from "../modelOptions.ts";
import { loadProgram } from "../models.ts";
import { print, printError } from "../output.ts";
import { readSettings } from "../settings.ts";
import { printResult, waitOnTerminal } from "../waiting.ts";
import { programShape } from "../../player/execution.ts";

const limit = z.coerce.number().int().positive().optional();

const settingsShape = {
  ...chainShape,
  fee: z.coerce.string(),
  window: z.coerce.number().int().positive().optional(),
  claimSeconds: z.coerce.number().int().positive().default(1_800),
  deadlineSeconds: z.coerce.number().int().positive().default(86_400),
  input: z.array(z.string()).default([]),
  shape: z.record(z.array(z.number())).default({}),
  bind: z.record(z.unknown()).default({}),
  uint8: z.array(z.custom<ImagePreprocessing>()).default([]),
  seed: z.custom<bigint>().optional(),
  stepBytes: limit,
  compileSeconds: limit,
  compileMib: limit,
  compileNodes: limit,
  foldElements: limit,
  wait: z.boolean().default(false),
};

/** `refute submit`: post a job, and if asked wait for its result. */
export function submitCommand(): Command {
  return seedOption(modelOptions(addChainOptions(new Command("submit"))))
    .description("post a job: run this model on these inputs")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "bytes of an input, little-endian; repeat for more", append, [])
    .option("--fee <amount>", "fee, in whole units of the stake asset (or REFUTE_FEE)")
    .option("--window <seconds>", "in which watchers may dispute; default: the shortest allowed")
    .option("--claim-seconds <n>", "that a worker has to compute")
    .option("--deadline-seconds <n>", "from now, by which a submission must be due")
    .option("--wait", "wait until the result is final, and print the outputs; refute result JOB --wait resumes")
    .action(async (path: string, _options: unknown, command: Command) => {
      const settings = readSettings(command, settingsShape);
      const fee = parseAmount(settings.fee, "--fee");
      const program = loadProgram(modelSpec(path, settings));
      const inputs = readInputs(
        program.model.inputs.map(({ name }) => name),
        settings.input,
      );
      const described = describeProgram(program);
      const session = await sessionFrom(settings);
      await warnOfLowFee(session, program, fee);
      const { credit } = await session.vault.accountOf(session.sender.address);
      if (credit < fee) await deposit(session, fee - credit);
      const { timestamp } = await session.publicClient.getBlock();
      const { jobId } = await postJob(session, described, inputs, {
        fee,
        window: settings.window ?? minWindow(session, described),
        claimSeconds: settings.claimSeconds,
        deadline: timestamp + BigInt(settings.deadlineSeconds),
      });
      print(`job ${jobId}`);
      if (!settings.wait) return;
      printResult(
        await waitOnTerminal(jobId, true, () => Promise.resolve(session)),
        (k) => program.model.outputs[k]!.name,
      );
    });
}

/** Says so if a worker with the usual policy would not take the job at the gas price of now. */
async function warnOfLowFee(session: Session, program: KnownProgram, fee: bigint): Promise<void> {
  const { publicClient, deployment } = session;
  const gas = jobGas(jobShape(programShape(program), DEFAULT_TERMS, deployment.parameters.arityBits));
  const gasPrice = await gasPriceNow(publicClient);
  const needed = coveringFee(gas, gasPrice);
  if (fee >= needed) return;
  const cost = `${gas.total} gas at ${formatGwei(gasPrice)} gwei and half as much again`;
  printError(
    `warning: --fee ${amountText(fee)} is below ${amountText(needed)}, what a worker needs now (${cost}): ` +
      `no worker may take the job; refute status shows whether one did`,
  );
}

const append = (text: string, all: readonly string[]): string[] => [...all, text];

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
