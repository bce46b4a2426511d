import { Command } from "commander";
import type { Hex } from "viem";
import { z } from "zod";
import { connect } from "../../chain/connect.ts";
import { readDeployment } from "../../market/deployment.ts";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import { jobProgress } from "../../sdk/result.ts";
import { amountText, timeText } from "../amount.ts";
import { addChainOptions, chainShape } from "../chainSettings.ts";
import { parseJobId } from "../jobId.ts";
import { printJson } from "../output.ts";
import { readSettings } from "../settings.ts";

const shape = { ...chainShape, account: z.string().optional() };

/** `refute status`: the deployment, a job or an account. Reads only: no key is needed. */
export function statusCommand(): Command {
  return addChainOptions(new Command("status"))
    .description("show the deployment, how far a job is, or an account's ledger")
    .argument("[job]", "id of a job")
    .option("--account <address>", "an account's credit, stake and attestation")
    .action(async (job: string | undefined, _options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const publicClient = await connect({ rpcUrls: settings.rpcUrl }, settings.chainId);
      const deployment = await readDeployment(publicClient, settings.market);
      const reader = { publicClient, deployment, fromBlock: settings.fromBlock };
      if (job !== undefined) {
        return printJson(await jobProgress(reader, parseJobId(job)));
      }
      if (settings.account !== undefined) {
        const owner = settings.account as Hex;
        const { credit, staked, locked, withdrawing, readyAt } = await new StakeVaultReader(
          deployment.vault,
          reader,
        ).accountOf(owner);
        return printJson({
          credit: amountText(credit),
          staked: amountText(staked),
          locked: amountText(locked),
          ...(withdrawing > 0n && { askedBack: amountText(withdrawing), readyAt: timeText(readyAt) }),
          attestationLive: await new ProvisioningReader(deployment.provisioning, reader).isLive(owner),
        });
      }
      printJson(deployment);
    });
}
