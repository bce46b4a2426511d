import { Command } from "commander";
import { listGpus } from "../../../executor/gpu/device.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { table } from "../../../base/text.ts";

/** `refute device gpus`: the GPUs that `--device` can name. */
export function gpusCommand(output: Output): Command {
  const command = new Command("gpus")
    .description("list the GPUs of this machine that --device can name")
    .action(async () => {
      const gpus = await listGpus();
      const rows = gpus.map(({ name, vendor, maxBytes }) => [name, vendor, `${(maxBytes / 2 ** 30).toFixed(1)} GiB`]);
      output.answer(
        { gpus },
        gpus.length === 0 ? "no GPU is found here" : table([["name", "vendor", "a program takes at most"], ...rows]),
      );
    });
  return addExamples(command, "device gpus");
}
