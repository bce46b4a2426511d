import { Command } from "commander";
import { z } from "zod";
import { FastExecutors } from "../../player/fastExecutors.ts";
import { attest, WEEK_SECONDS } from "../../provisioning/attest.ts";
import { openDevice } from "../../provisioning/standInFile.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { loadProgram, readModels } from "../models.ts";
import { printJson } from "../output.ts";
import { readSettings } from "../settings.ts";

const shape = {
  ...chainShape,
  device: z.string(),
  models: z.string(),
  lifetimeSeconds: z.coerce.number().int().positive().default(WEEK_SECONDS),
};

/** `refute attest`: a worker's two reports, from its device. */
export function attestCommand(): Command {
  return addChainOptions(new Command("attest"))
    .description("register this worker's two reports: what the machine is, and a benchmark on it")
    .option("--device <file>", "device of refute stand-in-device (or REFUTE_DEVICE)")
    .option("--models <file>", "as for the worker; the first model is the benchmark (or REFUTE_MODELS)")
    .option("--lifetime-seconds <n>", "how long the reports hold (or REFUTE_LIFETIME_SECONDS)")
    .action(async (_options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const device = openDevice(settings.device);
      const program = loadProgram(readModels(settings.models)[0]!);
      const session = await sessionFrom(settings);
      const executors = new FastExecutors();
      try {
        const reports = await attest(session, device, program, executors.execute, settings.lifetimeSeconds);
        printJson({ device: device.id, ...reports });
      } finally {
        await executors.close();
      }
    });
}
