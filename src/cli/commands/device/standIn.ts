import { Command } from "commander";
import { NOT_AFTER } from "../../../attestation/device.ts";
import { endorseAgain, makeDevice } from "../../../attestation/standInDevice.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as, whole } from "../../parse.ts";

type Options = { manufacturer: string; again?: true; notAfter?: number };

/** `refute device stand-in`: help for development networks. */
export function standInCommand(output: Output): Command {
  const command = new Command("stand-in")
    .description("development networks only: make a folder that stands in for a worker's device, and print its id")
    .argument("<folder>", "to be made; it holds a secret key")
    .requiredOption("--manufacturer <file>", "of refute device stand-in-manufacturer, which endorses the device")
    .option("--not-after <seconds>", "unix time up to which it is endorsed; default: 2100", as(whole(0), "--not-after"))
    .option("--again", "endorse the device of a folder that is there again")
    .action((folder: string, { manufacturer, again, notAfter }: Options) => {
      const make = again === undefined ? makeDevice : endorseAgain;
      const id = make(folder, manufacturer, notAfter === undefined ? NOT_AFTER : BigInt(notAfter));
      output.answer({ device: id, folder }, id);
    });
  return addExamples(command, "device stand-in dongle --manufacturer manufacturer.json");
}
