import { Command } from "commander";
import type { Address } from "viem";
import type { Eligibility } from "../../../chain/clients/provisioning.ts";
import { attest } from "../../../attestation/attest.ts";
import type { Device } from "../../../attestation/device.ts";
import { Dongle } from "../../../attestation/dongleClient.ts";
import { ineligibility } from "../../../attestation/eligibility.ts";
import { holdDevice } from "../../../attestation/heldDevice.ts";
import { identify } from "../../../attestation/machine/identification.ts";
import { domainOf } from "../../../attestation/report.ts";
import { attestPlatform } from "../../../attestation/tdx/attestPlatform.ts";
import { tsmSource, TSM_FOLDER } from "../../../attestation/tdx/quoteSource.ts";
import { timeText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { identificationLines } from "./identificationText.ts";
import type { Output } from "../../output.ts";
import { address, filePath } from "../../parse.ts";
import { addSettings, defaulted, optional, readSettings, type SettingValues } from "../../settings.ts";
import { table } from "../../../base/text.ts";

const settings = {
  ...accountSettings,
  dongle: optional<string>("socket", "of a dongle, which refute device dongle prints", filePath, "none"),
  device: optional<string>("folder", "of refute device stand-in, in place of a dongle", filePath, "none"),
  tdx: optional<Address>(
    "address",
    "of a verifier: this machine, a trust domain of Intel TDX, attests itself",
    address,
  ),
  tsm: defaulted("folder", "where the kernel gives a trust domain its quotes", filePath, TSM_FOLDER),
};

/** `refute device attest`: a report on this machine, signed by the worker's device. */
export function attestCommand(output: Output): Command {
  const command = new Command("attest")
    .description("have this worker's device report what this machine is, once; a worker with --dongle does it itself")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      if (values.tdx !== undefined) return attestDomain(output, values, values.tdx);
      const { device, release } = await openDevice(values);
      try {
        const session = await sessionFrom(values);
        const identification = await identify(domainOf(session.deployment));
        for (const warning of identification.warnings) output.warn(warning);
        const { device: id, seq, gridBlock } = await attest(session, device, identification.root);
        const attestation = await session.provisioning.eligibilityOf(session.sender.address);
        const rows = [
          ["device", id],
          ["report", `number ${seq} of this device`],
          ["attested", attestedText(attestation)],
        ];
        const lines = [...table(rows), ...identificationLines(identification)];
        output.answer({ device: id, seq, gridBlock, attestation, ...identification }, lines);
      } finally {
        await release();
      }
    });
  return addExamples(
    addSettings(command, settings),
    "device attest --dongle dongle/dongle.sock",
    "device attest --device stand-in-folder",
    "device attest --tdx VERIFIER",
  );
}

/** Has this machine attest itself by a quote. */
async function attestDomain(output: Output, values: SettingValues<typeof settings>, verifier: Address): Promise<void> {
  if (values.dongle !== undefined || values.device !== undefined)
    throw new UsageError("--tdx needs no device: leave --dongle and --device out");
  const session = await sessionFrom(values);
  const identification = await identify(domainOf(session.deployment));
  for (const warning of identification.warnings) output.warn(warning);
  const { device, gridBlock } = await attestPlatform(session, verifier, tsmSource(values.tsm), identification.root);
  const attestation = await session.provisioning.eligibilityOf(session.sender.address);
  const rows = [
    ["device", device],
    ["attested", attestedText(attestation)],
  ];
  output.answer({ device, gridBlock, attestation, ...identification }, [
    ...table(rows),
    ...identificationLines(identification),
  ]);
}

/** Returns the end of an account's attestation, or the reason for none. */
function attestedText(attestation: Eligibility): string {
  const why = ineligibility(attestation);
  return why === undefined ? `until ${timeText(attestation.time)}` : `no: ${why}`;
}

/** @throws UsageError unless one device is named; DeviceInUseError, StandInFileError */
async function openDevice({ dongle, device }: SettingValues<typeof settings>): Promise<{
  device: Device;
  release: () => Promise<void>;
}> {
  if ((dongle === undefined) === (device === undefined))
    throw new UsageError(
      "name one device: --dongle (the socket of a dongle), --device (the folder of a stand-in) or --tdx",
    );
  return dongle === undefined ? holdDevice(device!) : { device: new Dongle(dongle), release: () => Promise.resolve() };
}
