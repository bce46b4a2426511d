import { Command } from "commander";
import { makeManufacturer } from "../../provisioning/standInFile.ts";
import { print } from "../output.ts";

/** `refute stand-in-manufacturer`: help for development networks. */
export function standInManufacturerCommand(): Command {
  return new Command("stand-in-manufacturer")
    .description("development networks only: make a file that stands in for a maker of devices, and print its id")
    .argument("<file>", "to be made; it holds a secret key")
    .action((path: string) => print(makeManufacturer(path)));
}
