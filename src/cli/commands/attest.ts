import { Command } from "commander";
import { FastExecutors } from "../../player/fastExecutors.ts";
import { attest, WEEK_SECONDS } from "../../provisioning/attest.ts";
import { openDevice } from "../../provisioning/standInFile.ts";
import { table } from "../../text.ts";
import { accountSettings, sessionFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import { loadProgram, readModels } from "../models.ts";
import type { Output } from "../output.ts";
import { seconds, text } from "../parse.ts";
import { addSettings, defaulted, readSettings, required } from "../settings.ts";

const settings = {
  ...accountSettings,
  device: required("file", "device of refute stand-in-device", text),
  models: required("file", "as for the worker; the first model is the benchmark", text),
  lifetimeSeconds: defaulted("seconds", "how long the reports hold", seconds(1), WEEK_SECONDS),
};

/** `refute attest`: a worker's two reports, from its device. */
export function attestCommand(output: Output): Command {
  const command = new Command("attest")
    .description("register this worker's two reports: what the machine is, and a benchmark on it")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const device = openDevice(values.device);
      const program = loadProgram(readModels(values.models)[0]!, output);
      const session = await sessionFrom(values);
      const executors = new FastExecutors();
      try {
        const reports = await attest(session, device, program, executors.execute, values.lifetimeSeconds);
        const rows = Object.entries(reports).flatMap(([report, fields]) => [
          [report],
          ...Object.entries(fields).map(([name, value]) => [`  ${name}`, String(value)]),
        ]);
        output.answer({ device: device.id, ...reports }, table([["device", device.id], ...rows]));
      } finally {
        await executors.close();
      }
    });
  return addExamples(addSettings(command, settings), "attest --device device.json --models models.json");
}
