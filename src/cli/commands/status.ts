import { Command } from "commander";
import type { Address, Hex } from "viem";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import type { Deployment } from "../../chain/market/deployment.ts";
import { ineligibility } from "../../attestation/eligibility.ts";
import { jobProgress } from "../../parties/requester/result.ts";
import { timeText } from "../amount.ts";
import { chainSettings, readerFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import { ledgerJson, ledgerText } from "../ledger.ts";
import type { Line, Output } from "../output.ts";
import { address, as, jobId } from "../parse.ts";
import { addSettings, optional, readSettings } from "../settings.ts";
import { table } from "../../base/text.ts";
import type { Reader } from "../../chain/market/reader.ts";

const settings = {
  ...chainSettings,
  account: optional<Address>("address", "show this account's credit, stake and attestation", address),
};

/** `refute status`: the deployment, a job or an account. Reads only: no key is needed. */
export function statusCommand(output: Output): Command {
  const command = new Command("status")
    .description("show the deployment, how far a job is, or an account's ledger")
    .argument("[job]", "id of a job", as(jobId, "JOB"))
    .action(async (job: Hex | undefined, _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const reader = await readerFrom(values);
      const { value, lines } = await (job !== undefined
        ? jobStatus(reader, job)
        : values.account === undefined
          ? deploymentStatus(reader)
          : accountStatus(reader, values.account));
      output.answer(value, lines);
    });
  return addExamples(addSettings(command, settings), "status", "status JOB", "status --account ADDRESS");
}

type Status = { value: unknown; lines: Line[] };

async function jobStatus(reader: Reader, job: Hex): Promise<Status> {
  const progress = await jobProgress(reader, job);
  const { form, status, worker, claim } = progress;
  const rows = [
    ["status", status],
    ["claims", form === "answer" ? "answers" : "traces"],
  ];
  if (worker !== undefined) rows.push(["worker", worker]);
  if (claim !== undefined) {
    rows.push(["claim root", claim.root], ["disputable until", timeText(claim.windowEnd)]);
    rows.push(["games open", String(claim.gamesOpen)], ["refuted", claim.refuted ? "yes" : "no"]);
  }
  return { value: progress, lines: table(rows) };
}

async function accountStatus({ deployment, publicClient }: Reader, owner: Address): Promise<Status> {
  const account = await new StakeVaultReader(deployment.vault, { publicClient }).accountOf(owner);
  const eligibility = await new ProvisioningReader(deployment.provisioning, { publicClient }).eligibilityOf(owner);
  const { reason, time } = eligibility;
  const why = ineligibility(eligibility);
  const attestation = why === undefined ? `live until ${timeText(time)}` : `none that is live: ${why}`;
  return {
    value: {
      account: owner,
      ...ledgerJson(account),
      attestationLive: why === undefined,
      attestation: { reason, time },
    },
    lines: [ledgerText(account), `attestation: ${attestation}`],
  };
}

function deploymentStatus({ deployment }: Reader): Promise<Status> {
  const { parameters, ...rest }: Deployment = deployment;
  const rows = [...Object.entries(rest), ...Object.entries(parameters)];
  return Promise.resolve({ value: deployment, lines: table(rows.map(([name, value]) => [name, String(value)])) });
}
