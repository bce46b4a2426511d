import { RefuteError } from "../../base/errors.ts";
import type { Session } from "../../chain/market/session.ts";
import { problemOf, type Problem } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import type { Role } from "../role/role.ts";
import { attest, isEndorsed } from "../../attestation/attest.ts";
import type { Device, DeviceIdentity } from "../../attestation/device.ts";
import { ineligibility } from "../../attestation/eligibility.ts";
import { ReportTooSoonError } from "../../attestation/errors.ts";
import { deviceId } from "../../attestation/keys.ts";
import { identify } from "../../attestation/machine/identification.ts";
import { domainOf } from "../../attestation/report.ts";
import type { WorkerEvent } from "./events.ts";
import type { WorkerOptions } from "./options.ts";

/** Interval between checks for a due report, seconds of the chain's time. */
const LOOK_SECONDS = 60n;

/**
 * The pause after a failure, seconds of the chain's time; each further failure doubles the pause, up to the maximum.
 */
const MIN_PAUSE = 15n;
const LONGEST_PAUSE = 600n;

/** Time before an attestation's end to renew by hand. */
const DAY_SECONDS = 86_400;

/** A worker's attestation: reports the remaining validity, and has a dongle report after half of the validity. */
export class Attestation {
  readonly #session: Session;
  readonly #device: Device | undefined;
  readonly #exams: WorkerOptions["exams"];
  readonly #log: Logger;
  readonly #role: Role<WorkerEvent>;
  /** The deployment's `reportLifetime`, once somebody asked for it. */
  #lifetime: Promise<number> | undefined;
  #lookAt = 0n;
  #failures = 0;

  constructor(
    { session, device, exams, log }: Pick<WorkerOptions, "session" | "device" | "exams" | "log">,
    role: Role<WorkerEvent>,
  ) {
    this.#session = session;
    this.#device = device;
    this.#exams = exams;
    this.#log = log;
    this.#role = role;
  }

  /** Reports how long the attestation stays valid, and whether the time is too short. @param now The chain's time. */
  async measure(now: bigint): Promise<void> {
    const { provisioning, sender } = this.#session;
    const { reason, time } = await provisioning.eligibilityOf(sender.address);
    const attestation = reason === "eligible" ? Math.max(0, Number(time - now)) : 0;
    this.#role.meter.figures({ attestation });
    const min = this.#device === undefined ? DAY_SECONDS : Math.min(DAY_SECONDS, (await this.#reportLifetime()) / 4);
    const remedy = this.#device === undefined ? "run refute device attest, or give the worker --dongle" : "see renewal";
    const why =
      reason === "eligible" ? `the attestation ends in ${Math.ceil(attestation / 3_600)} hours` : "there is none now";
    this.#role.health.set("attestation", attestation < min ? { reason: `${why}: ${remedy}` } : undefined);
  }

  /**
   * Makes the dongle report if a report is due. The condition `renewal` reports any obstacle, and the method tries
   * again.
   * @param now The chain's time.
   */
  async tend(now: bigint): Promise<void> {
    const device = this.#device;
    if (device === undefined || now < this.#lookAt) return;
    this.#lookAt = now + LOOK_SECONDS;
    try {
      const { problem, isDue } = await this.#state(await device.identity(), now);
      if (isDue) await this.#report(device);
      this.#failures = 0;
      this.#role.health.set("renewal", problem);
    } catch (error) {
      const pause = MIN_PAUSE << BigInt(Math.min(this.#failures, 8));
      this.#lookAt = now + (pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE);
      // The chain goes on; nothing is wrong.
      if (error instanceof ReportTooSoonError) return;
      this.#failures++;
      this.#role.health.set("renewal", problemOf(error, "the attestation is not renewed, and tried again"));
      if (!(error instanceof RefuteError)) throw error;
    }
  }

  /** Whether a report is due, and why none would help. */
  async #state({ key, endorsement }: DeviceIdentity, now: bigint): Promise<{ isDue: boolean; problem?: Problem }> {
    const { provisioning, sender } = this.#session;
    const id = deviceId(key);
    const [known, own] = await Promise.all([provisioning.deviceInfo(id), provisioning.deviceOf(sender.address)]);
    const half = BigInt(Math.floor((await this.#reportLifetime()) / 2));
    if (known.retiredAt !== 0n) return hopeless({ reason: "keyRetired", time: known.retiredAt });
    if (endorsement.notAfter < now) return hopeless({ reason: "endorsementExpired", time: endorsement.notAfter });
    return { isDue: own !== id || !isEndorsed(known, endorsement) || known.reportUntil <= now + half };
  }

  async #report(device: Device): Promise<void> {
    const { root, warnings } = await identify(domainOf(this.#session.deployment));
    if (warnings.length > 0 && this.#role.isNew("machine", "", warnings.join()))
      this.#log.warn({ warnings }, "sources disagree about this machine");
    const { key } = await device.identity();
    const sat = (await this.#exams?.exams.seqOf(deviceId(key))) ?? 0n;
    const { device: id, seq, receipt } = await attest(this.#session, device, root, sat);
    this.#role.report({ kind: "attested", device: id, seq: String(seq), receipt });
  }

  /** Two callers at once share one request, and one line of the log. */
  #reportLifetime(): Promise<number> {
    return (this.#lifetime ??= this.#readLifetime().catch((error: unknown) => {
      this.#lifetime = undefined;
      throw error;
    }));
  }

  async #readLifetime(): Promise<number> {
    const holdsSeconds = await this.#session.provisioning.reportLifetime();
    this.#log.info({ holdsSeconds, renewedAfterSeconds: holdsSeconds / 2 }, "the dongle renews the attestation");
    return holdsSeconds;
  }
}

const hopeless = (eligibility: Parameters<typeof ineligibility>[0]) => ({
  isDue: false,
  problem: { reason: ineligibility(eligibility)! },
});
