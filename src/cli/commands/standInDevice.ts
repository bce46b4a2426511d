import { Command } from "commander";
import { makeDevice } from "../../provisioning/standInFile.ts";
import { print } from "../output.ts";

/** `refute stand-in-device`: help for development networks. */
export function standInDeviceCommand(): Command {
  return new Command("stand-in-device")
    .description("development networks only: make a file that stands in for a worker's device, and print its id")
    .argument("<file>", "to be made; it holds a secret key")
    .requiredOption("--manufacturer <file>", "of refute stand-in-manufacturer, which endorses the device")
    .action((path: string, { manufacturer }: { manufacturer: string }) => print(makeDevice(path, manufacturer)));
}
