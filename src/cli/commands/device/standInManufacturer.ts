import { Command } from "commander";
import { makeManufacturer } from "../../../attestation/standInFile.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";

/** `refute device stand-in-manufacturer`: help for development networks. */
export function standInManufacturerCommand(output: Output): Command {
  const command = new Command("stand-in-manufacturer")
    .description("development networks only: make a file that stands in for a maker of devices, and print its id")
    .argument("<file>", "to be made; it holds a secret key")
    .action((path: string) => {
      const id = makeManufacturer(path);
      output.answer({ manufacturer: id, file: path }, id);
    });
  return addExamples(command, "device stand-in-manufacturer manufacturer.json");
}
