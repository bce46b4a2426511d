import { Command } from "commander";
import { formatGwei, type Address, type Hex } from "viem";
import { ProvisioningReader } from "../../chain/clients/provisioning.ts";
import { StakeVaultReader } from "../../chain/clients/stakeVault.ts";
import type { Deployment } from "../../chain/market/deployment.ts";
import { ineligibility } from "../../attestation/eligibility.ts";
import { jobWithEvents } from "../../parties/requester/jobRecords.ts";
import { amountText, timeText } from "../amount.ts";
import { chainSettings, readerFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import { ledgerJson, ledgerText } from "../ledger.ts";
import { moneyOf } from "../money.ts";
import type { Line, Output } from "../output.ts";
import { address, as, jobId } from "../parse.ts";
import { duration } from "../progress.ts";
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

/** Events of the market that say how a job went, in words. Other events only bring bytes. */
const HAPPENED: Readonly<Record<string, string>> = {
  JobPosted: "posted",
  JobClaimed: "claimed",
  JobExpired: "the worker was late",
  JobClosed: "closed: the fee is the requester's",
  ClaimSubmitted: "submitted",
  ClaimSealed: "sealed",
  SealBroken: "the seal was not opened in time",
  ClaimAccepted: "accepted by the requester",
  ClaimProven: "proven under the key of its terms",
  ClaimFinalised: "final",
  ClaimRefuted: "refuted",
  OutputDelivered: "output delivered",
  CallbackMade: "callback made",
  CallbackFailed: "callback failed (refute job redeliver JOB)",
  FeeReleased: "fee paid to the worker",
  FeeReturned: "fee returned",
};

async function jobStatus(reader: Reader, jobId: Hex): Promise<Status> {
  const { progress, record, events } = await jobWithEvents(reader, jobId, Object.keys(HAPPENED));
  const { form, status, worker, claim } = progress;
  const { requester, programRoot, fee, window, deadline } = record.job;
  const money = await moneyOf(reader);
  const rows = [
    ["status", status],
    ["requester", requester],
    ["program", programRoot],
    ["fee", money(fee)],
    ["window", duration(window * 1_000)],
    ["deadline", timeText(deadline)],
    ["claims", form === "answer" ? "answers" : "traces"],
  ];
  if (worker !== undefined) rows.push(["worker", worker]);
  if (claim !== undefined) {
    rows.push(["claim root", claim.root], ["disputable until", timeText(claim.windowEnd)]);
    rows.push(["games open", String(claim.gamesOpen)], ["refuted", claim.refuted ? "yes" : "no"]);
  }
  const about = { requester, programRoot, fee: amountText(fee), windowSeconds: window, deadline: timeText(deadline) };
  const told = events.map(({ time, ...event }) => ({ time: timeText(time), ...event }));
  const happened = told.map(({ time, event, worker: by, transaction }) => [
    time,
    `${HAPPENED[event]!}${by === undefined ? "" : `, ${by}`}`,
    transaction,
  ]);
  return { value: { ...progress, ...about, events: told }, lines: [...table(rows), "", ...table(happened)] };
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
    lines: [ledgerText(account, await moneyOf({ deployment, publicClient })), `attestation: ${attestation}`],
  };
}

async function deploymentStatus(reader: Reader): Promise<Status> {
  const { parameters, bond, ...rest }: Deployment = reader.deployment;
  const money = await moneyOf(reader);
  const time = (seconds: number): string => duration(seconds * 1_000);
  const shown = {
    ...rest,
    bond: money(bond),
    ...parameters,
    baseWindow: time(parameters.baseWindow),
    maxWindow: time(parameters.maxWindow),
    baseClock: time(parameters.baseClock),
    withdrawalDelay: time(parameters.withdrawalDelay),
    rate: `${parameters.rate} units of work a second`,
    maxWork: `${parameters.maxWork} units, ${time(Number(parameters.maxWork / parameters.rate))}`,
    priceCap: `${formatGwei(parameters.priceCap)} gwei a gas`,
    bounty: money(parameters.bounty),
    collateral: money(parameters.collateral),
    penaltyBps: `${parameters.penaltyBps} (${parameters.penaltyBps / 100} % of the collateral)`,
  };
  const lines = table(Object.entries(shown).map(([name, value]) => [name, String(value)]));
  return { value: reader.deployment, lines };
}
