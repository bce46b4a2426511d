import type { Hex } from "viem";
import { ReportKind } from "../chain/structs.ts";
import { sha256, toHex } from "../program/merkle/bytes.ts";
import type { Endorsement } from "./endorsement.ts";
import { DeviceRefusalError } from "./errors.ts";
import { deviceId, generateKey, signMessage, type P256Key, type P256Signature, type PublicKey } from "./keys.ts";
import { SOFTWARE_MODEL, type SoftwareManufacturer } from "./manufacturer.ts";
import { payloadOf, sigStructure, type ReportFields } from "./report.ts";

/** A device's statement about itself. */
export type DeviceIdentity = { key: PublicKey; endorsement: Endorsement };

/** A request to sign: all report fields except the fields that only the device knows. */
export type SignRequest = Omit<ReportFields, keyof Omit<DeviceSignature, "signature"> | "firmware"> & {
  /** `domainOf` the deployment. */
  domain: Hex;
  /** The counter that the chain knows: the device takes a higher one. */
  after: bigint;
};

/** The fields that a device adds to a report. */
export type DeviceSignature = { seq: bigint; debugStatus: number; signature: P256Signature };

/** A device, wherever it is. */
export type Device = {
  identity(): Promise<DeviceIdentity>;
  /** Signs a report under a fresh counter, never used for another report. @throws DeviceRefusalError */
  sign(request: SignRequest): Promise<DeviceSignature>;
};

/** The data that a stand-in keeps while switched off. */
type DeviceMemory = {
  key: P256Key;
  endorsement: Endorsement;
  /** The counter of its last report. */
  counter: bigint;
  /** Stores a counter permanently. This happens before the device signs the report: no counter is used twice. */
  saveCounter: (counter: bigint) => void;
};

/** The firmware of stand-ins: there is none that could be measured. */
export const SOFTWARE_FIRMWARE: Hex = toHex(sha256(Buffer.from("refute software device 1")));

/** How long stand-ins are endorsed if nothing else is said: to the year 2100. */
export const NOT_AFTER = 4_102_444_800n;

/** EAT's "disabled": the least that the contract takes. Anybody on the machine can debug a process. */
const DEBUG_STATUS = 1;

/**
 * How far a request may push the counter. The chain learned its counter from the device. A restored old copy of the
 * device's memory therefore lags only by the reports made since. A host that pushes further could exhaust the counter.
 */
const MAX_JUMP = 2n ** 32n;
const COUNTERS = 2n ** 64n;

/**
 * Stands in for the TEE dongle: a P-256 key, endorsed by its manufacturer, and an ever-rising counter. Real hardware
 * derives the key inside and never reveals it. The stand-in keeps the key in memory or in a file. It therefore attests
 * only to the protocol, and the device's model says so.
 */
export class SoftwareDevice implements Device {
  readonly #memory: DeviceMemory;
  #counter: bigint;

  /** @param memory An existing device's memory, or the manufacturer of a new device that ends with the process. */
  constructor(memory: DeviceMemory | Pick<SoftwareManufacturer, "endorse">) {
    this.#memory = "key" in memory ? memory : newDevice(memory);
    this.#counter = this.#memory.counter;
  }

  /** The id by which the chain knows the device. */
  get id(): Hex {
    return deviceId(this.#memory.key);
  }

  identity(): Promise<DeviceIdentity> {
    const { key, endorsement } = this.#memory;
    return Promise.resolve({ key: { x: key.x, y: key.y }, endorsement });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws shall reject
  async sign({ domain, after, ...fields }: SignRequest): Promise<DeviceSignature> {
    const { key, endorsement, saveCounter } = this.#memory;
    if (fields.kind !== ReportKind.identification && fields.kind !== ReportKind.exam)
      throw new DeviceRefusalError(`kind ${fields.kind}: the device signs identifications, kind 1, and exams, kind 2`);
    if (after > this.#counter + MAX_JUMP)
      throw new DeviceRefusalError(`after ${after}: more than 2^32 above the device's counter, ${this.#counter}`);
    const seq = (after > this.#counter ? after : this.#counter) + 1n;
    if (seq >= COUNTERS) throw new DeviceRefusalError("the device's counter is used up: use another device");
    const { firmware } = endorsement;
    const payload = payloadOf(this.id, { ...fields, debugStatus: DEBUG_STATUS, seq, firmware });
    const message = sigStructure(domain, payload);
    // SAFETY: the device stores a counter before it signs. A process that ends in between leaves a gap, and the chain
    // accepts gaps. Two reports signed under one counter would retire the key.
    saveCounter(seq);
    this.#counter = seq;
    return { seq, debugStatus: DEBUG_STATUS, signature: signMessage(key, message) };
  }
}

/** @param manufacturer Endorses it. */
function newDevice(manufacturer: Pick<SoftwareManufacturer, "endorse">): DeviceMemory {
  const key = generateKey();
  return { key, endorsement: endorseStandIn(manufacturer, key), counter: 0n, saveCounter: () => undefined };
}

/** Has a manufacturer endorse a stand-in under the stand-in model. @param notAfter Unix time. */
export const endorseStandIn = (
  manufacturer: Pick<SoftwareManufacturer, "endorse">,
  key: PublicKey,
  notAfter = NOT_AFTER,
): Endorsement => manufacturer.endorse(deviceId(key), { model: SOFTWARE_MODEL, firmware: SOFTWARE_FIRMWARE, notAfter });
