import { Command } from "commander";
import { makeDevice } from "../../provisioning/standInFile.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";

/** `refute stand-in-device`: help for development networks. */
export function standInDeviceCommand(output: Output): Command {
  const command = new Command("stand-in-device")
    .description("development networks only: make a file that stands in for a worker's device, and print its id")
    .argument("<file>", "to be made; it holds a secret key")
    .requiredOption("--manufacturer <file>", "of refute stand-in-manufacturer, which endorses the device")
    .action((path: string, { manufacturer }: { manufacturer: string }) => {
      const id = makeDevice(path, manufacturer);
      output.answer({ device: id, file: path }, id);
    });
  return addExamples(command, "stand-in-device device.json --manufacturer manufacturer.json");
}
