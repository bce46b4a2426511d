import { Command } from "commander";
import type { Address } from "viem";
import { identify } from "../../../attestation/machine/identification.ts";
import { domainOf } from "../../../attestation/report.ts";
import { ZERO_HASH } from "../../../chain/structs.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { identificationLines } from "./identificationText.ts";
import type { Output } from "../../output.ts";
import { address, whole } from "../../parse.ts";
import { addSettings, optional, readSettings } from "../../settings.ts";

const settings = {
  chainId: optional<number>("id", "chain of the deployment that UUIDs are hashed with", whole(1), "none"),
  registry: optional<Address>("address", "its Provisioning contract, which refute status prints", address, "none"),
};

/** `refute device identify`: what would be reported of this machine. */
export function identifyCommand(output: Output): Command {
  const command = new Command("identify")
    .description("show what an attestation would report of this machine, and where sources disagree")
    .action(async (_options: unknown, command: Command) => {
      const { chainId, registry } = readSettings(command, settings);
      // A chain id may come from the environment that all commands share.
      if (registry !== undefined && chainId === undefined)
        throw new UsageError("--registry also needs --chain-id: UUIDs are hashed with both");
      const domain = registry === undefined ? ZERO_HASH : domainOf({ chainId: chainId!, provisioning: registry });
      const identification = await identify(domain);
      for (const warning of identification.warnings) output.warn(warning);
      if (registry === undefined) output.note("the root is that of no deployment: name one by --registry");
      output.answer(identification, identificationLines(identification));
    });
  return addExamples(
    addSettings(command, settings),
    "device identify",
    "device identify --chain-id 1 --registry ADDRESS",
  );
}
