import { encodeAbiParameters, hexToBytes, type Address, type Hex } from "viem";
import { REPORT_PARAMETER, type Report } from "../chain/structs.ts";
import { generateKey, keyId, signMessage, type P256Key } from "./keys.ts";
import type { Endorsement, SoftwareManufacturer } from "./manufacturer.ts";

/** Where a report counts: one chain, one provisioning contract. */
export type ReportDomain = { chainId: number; provisioning: Address };

/** A report with the quote that vouches for it. */
export type SignedReport = { report: Report; quote: Hex };

/** What a device keeps when it is switched off. */
export type DeviceMemory = {
  key: P256Key;
  /** The counter of its last report. */
  counter: bigint;
  /** Keeps a counter; done before the report is signed, so that none is used twice. */
  saveCounter: (counter: bigint) => void;
};

/** The quote's fields in the order of contracts/provisioning/DongleQuote.sol. */
const QUOTE = [
  { type: "tuple", components: Array.from({ length: 8 }, (_, k) => ({ type: "bytes32", name: `word${k}` })) },
] as const;

/**
 * Stands in for the TEE dongle: a P-256 key that its manufacturer endorses, and a counter that only rises. In hardware
 * the key is derived inside and never leaves; here it lives in memory or in a file, so it attests to nothing but the
 * protocol.
 */
export class SoftwareDevice {
  readonly #key: P256Key;
  readonly #endorsement: Endorsement;
  readonly #saveCounter: DeviceMemory["saveCounter"];
  #counter: bigint;

  /**
   * @param memory Of a device that was made before; without it the device is new, and its memory ends with the process.
   */
  constructor(manufacturer: Pick<SoftwareManufacturer, "endorse">, memory?: DeviceMemory) {
    this.#key = memory?.key ?? generateKey();
    this.#counter = memory?.counter ?? 0n;
    this.#saveCounter = memory?.saveCounter ?? (() => undefined);
    this.#endorsement = manufacturer.endorse(this.#key);
  }

  /** The id by which the chain knows the device. */
  get id(): Hex {
    return keyId(this.#key);
  }

  /** Signs a report with the next counter. @param content Everything but the counter. */
  sign(domain: ReportDomain, content: Omit<Report, "counter">): SignedReport {
    this.#counter++;
    this.#saveCounter(this.#counter);
    const report: Report = { ...content, counter: this.#counter };
    const { r, s } = signMessage(this.#key, reportMessage(domain, report));
    const { manufacturer, signature } = this.#endorsement;
    const words = [manufacturer.x, manufacturer.y, signature.r, signature.s, this.#key.x, this.#key.y, r, s];
    const quote = encodeAbiParameters(QUOTE, [Object.fromEntries(words.map((word, k) => [`word${k}`, word]))]);
    return { report, quote };
  }
}

/** What a device signs: `abi.encode("refute report 1", chain id, contract, report)`; its SHA-256 is `reportDigest`. */
export function reportMessage({ chainId, provisioning }: ReportDomain, report: Report): Uint8Array {
  const types = [{ type: "string" }, { type: "uint256" }, { type: "address" }, REPORT_PARAMETER];
  return hexToBytes(encodeAbiParameters(types, ["refute report 1", BigInt(chainId), provisioning, report]));
}
