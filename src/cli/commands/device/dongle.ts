import { existsSync } from "node:fs";
import { Command } from "commander";
import { createLogger } from "../../../base/log.ts";
import { holdDevice } from "../../../attestation/heldDevice.ts";
import { makeDevice } from "../../../attestation/standInDevice.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { untilStopped } from "../../stop.ts";

/** `refute device dongle`: a stand-in for the device, as a separate process. */
export function dongleCommand(output: Output): Command {
  const command = new Command("dongle")
    .description("development networks only: stand in for a worker's device, at a socket in the device's folder")
    .argument("<folder>", "of refute device stand-in")
    .option("--manufacturer <file>", "of refute device stand-in-manufacturer: make the folder if there is none")
    .action(async (folder: string, { manufacturer }: { manufacturer?: string }) => {
      if (manufacturer !== undefined && !existsSync(folder)) makeDevice(folder, manufacturer);
      const log = createLogger(output.mode.quiet ? "error" : "info");
      const stop = (): void => log.info("stopping");
      await untilStopped(stop, async (signal) => {
        const { device, socket, serve, release } = await holdDevice(folder);
        try {
          serve((seq) => log.info({ seq: String(seq) }, "signed a report"));
          output.ready({ device: device.id, socket }, [`device ${device.id}`, `socket ${socket}`]);
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        } finally {
          await release();
        }
      });
    });
  return addExamples(command, "device dongle dongle", "device dongle dongle --manufacturer manufacturer.json");
}
