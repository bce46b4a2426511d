import type { Hex } from "viem";
import type { Endorsement, Statement } from "../../src/chain/structs.ts";
import type { EndorsementFields } from "../../src/attestation/endorsement.ts";
import { deviceId, generateKey, signMessage, type P256Signature, type PublicKey } from "../../src/attestation/keys.ts";
import { SOFTWARE_MODEL, type SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import { payloadOf, sigStructure, type ReportFields } from "../../src/attestation/report.ts";

/** Later than any clock of a test. */
const NOT_AFTER = 2n ** 40n;

/** A device that signs everything requested, equivocation too. */
export class TestDevice {
  readonly #key = generateKey();
  readonly id: Hex = deviceId(this.#key);
  readonly firmware: Hex;
  readonly endorsement: Endorsement;
  /** The counter of its last report. */
  seq = 0n;
  /** The block of its last report's nonce. */
  gridBlock = 0n;

  readonly manufacturer: SoftwareManufacturer;

  /** @param fields Other than those of most devices. */
  constructor(manufacturer: SoftwareManufacturer, fields: Partial<EndorsementFields> = {}) {
    this.manufacturer = manufacturer;
    this.firmware = fields.firmware ?? `0x${"f1".repeat(32)}`;
    this.endorsement = this.endorsedBy(manufacturer, fields);
  }

  get key(): PublicKey {
    const { x, y } = this.#key;
    return { x, y };
  }

  /** An endorsement by any manufacturer. */
  endorsedBy(manufacturer: SoftwareManufacturer, fields: Partial<EndorsementFields> = {}): Endorsement {
    const { firmware } = this;
    return manufacturer.endorse(this.id, { model: SOFTWARE_MODEL, firmware, notAfter: NOT_AFTER, ...fields });
  }

  /** Signs a report. @param domain `domainOf` the deployment. */
  sign(domain: Hex, fields: ReportFields): P256Signature {
    return signMessage(this.#key, sigStructure(domain, payloadOf(this.id, fields)));
  }

  /** Signs any bytes. */
  signBytes(bytes: Uint8Array): P256Signature {
    return signMessage(this.#key, bytes);
  }
}

/** Returns a statement with the manufacturer's key and signature, like the arguments from `makeStatement`. */
export const signedStatement = (maker: SoftwareManufacturer, statement: Statement) =>
  [statement, maker.publicKey, maker.state(statement)] as const;
