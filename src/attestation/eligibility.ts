import type { Eligibility } from "../chain/clients/provisioning.ts";
import type { Reason } from "../chain/structs.ts";

/** The meaning of each reason, and the remedy that the worker's operator has. */
const WORDS: Record<Exclude<Reason, "eligible">, { says: string; remedy: string }> = {
  noDevice: {
    says: "no device backs the account",
    remedy: "run refute device attest, or give the worker --dongle",
  },
  keyRetired: {
    says: "the device's key is retired: it signed two reports under one number",
    remedy: "use another device",
  },
  deviceFrozen: {
    says: "the manufacturer has frozen the device",
    remedy: "ask the manufacturer, or use another device",
  },
  firmwareFrozen: {
    says: "the manufacturer has frozen the device's firmware",
    remedy: "update the device, and have it endorsed again",
  },
  manufacturerFrozen: {
    says: "the manufacturer has frozen all its devices",
    remedy: "use a device of another manufacturer",
  },
  platformRevoked: {
    says: "the machine's certificate is revoked",
    remedy: "ask its maker, or use another machine",
  },
  endorsementExpired: {
    says: "the device's endorsement has ended",
    remedy: "have the manufacturer endorse it again, then run refute device attest",
  },
  collateralExpired: {
    says: "what the maker of the machine said of it has ended",
    remedy: "run refute tdx bring, then refute device attest --tdx",
  },
  reportExpired: {
    says: "the device's last report has ended",
    remedy: "run refute device attest, or give the worker --dongle",
  },
};

/** Why an account may not stake and claim, and what to do about it; undefined if it may. */
export function ineligibility({ reason, time }: Eligibility): string | undefined {
  if (reason === "eligible") return undefined;
  const { says, remedy } = WORDS[reason];
  return `${says}${time === 0n ? "" : `, since ${utc(time)}`}: ${remedy}`;
}

/** A unix time for people. */
const utc = (time: bigint): string => new Date(Number(time) * 1_000).toISOString().replace(".000Z", "Z");
