import { Command } from "commander";
import { formatEther } from "viem";
import { addKey } from "../../../parties/gateway/apiKeys.ts";
import { amountAboveZero } from "../../amount.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { filePath, whole } from "../../parse.ts";
import { addSettings, optional, readSettings, required } from "../../settings.ts";
import { requirePlace } from "../../folders.ts";

const settings = {
  keys: required<string>("file", "where its hash goes; it is made if it is missing", filePath),
  budget: optional<bigint>("amount", "what it may spend in all, in whole units of the stake asset", amountAboveZero),
  perMinute: optional<number>("n", "requests a minute", whole(1), "no limit"),
};

/** `refute text key`: make an API key of a gateway. */
export function keyCommand(output: Output): Command {
  const command = new Command("key")
    .description("make an API key of a gateway; only its hash is kept, and the key is shown once")
    .argument("<name>", "whose it is, for logs")
    .action((name: string, _options: unknown, command: Command) => {
      const { keys, budget, perMinute } = readSettings(command, settings);
      requirePlace("--keys", keys);
      const key = addKey(keys, {
        name,
        ...(budget !== undefined && { budget: formatEther(budget) }),
        ...(perMinute !== undefined && { perMinute }),
      });
      output.answer({ name, key, keys }, [`key ${key}`, `its hash is in ${keys}; the key itself is nowhere else`]);
    });
  return addExamples(addSettings(command, settings), "text key alice --keys keys.json --budget 0.5 --per-minute 60");
}
