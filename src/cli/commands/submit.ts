import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { formatGwei } from "viem";
import { z } from "zod";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import { deposit } from "../../market/ledger.ts";
import type { Session } from "../../market/session.ts";
import { toHex } from "../../merkle/hash.ts";
import type { KnownProgram } from "../../player/execution.ts";
import { programWork } from "../../program/types.ts";
import type { ImagePreprocessing } from "../../onnx/preprocess.ts";
import { DEFAULT_TERMS, minWindow, postJob } from "../../sdk/postJob.ts";
import { waitForResult } from "../../sdk/result.ts";
import { coveringFee, jobGas, jobShape } from "../../worker/jobCost.ts";
import { amountText, parseAmount } from "../amount.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { UsageError } from "../errors.ts";
import { modelOptions, seedOption } from "../modelOptions.ts";
import { loadProgram } from "../models.ts";
import { readSettings } from "../settings.ts";
import { stopSignal } from "../stop.ts";
import { programShape } from "../../player/execution.ts";

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
    .option("--wait", "wait until the result is final, and print the outputs")
    .action(async (path: string, _options: unknown, command: Command) => {
      const settings = readSettings(command, settingsShape);
      const fee = parseAmount(settings.fee, "--fee");
      const program = loadProgram({ ...settings, path, shapes: settings.shape });
      const inputs = await readInputs(
        program.model.inputs.map(({ name }) => name),
        settings.input,
      );
      const session = await sessionFrom(settings);
      await warnOfLowFee(session, program, fee);
      const { credit } = await session.vault.accountOf(session.sender.address);
      if (credit < fee) await deposit(session, fee - credit);
      const { timestamp } = await session.publicClient.getBlock();
      const { jobId } = await postJob(session, program, inputs, {
        fee,
        window: settings.window ?? minWindow(session, programWork(program.model.program.steps)),
        claimSeconds: settings.claimSeconds,
        deadline: timestamp + BigInt(settings.deadlineSeconds),
      });
      console.log(`job ${jobId}`);
      if (!settings.wait) return;
      const signal = stopSignal(() => console.error("stopped waiting; the job goes on"));
      const { worker, outputs } = await waitForResult(session, jobId, { signal });
      console.log(`finalised, by ${worker}`);
      for (const [output, bytes] of outputs) {
        console.log(`${program.model.outputs[output]!.name} ${toHex(bytes)}`);
      }
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
  console.error(
    `warning: --fee ${amountText(fee)} is below ${amountText(needed)}, what a worker needs now (${cost}): ` +
      `no worker may take the job; refute status shows whether one did`,
  );
}

const append = (text: string, all: readonly string[]): string[] => [...all, text];

async function readInputs(names: readonly string[], given: readonly string[]): Promise<Uint8Array[]> {
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
  return Promise.all(
    names.map(async (name) => {
      const file = files.get(name);
      if (file === undefined) throw new UsageError(`input ${name} is missing: give --input ${name}=FILE`);
      return new Uint8Array(
        await readFile(file).catch((cause: unknown) => {
          throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
        }),
      );
    }),
  );
}
