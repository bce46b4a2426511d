import { stringToHex, type Hex } from "viem";
import type { Statement } from "../chain/structs.ts";
import { endorsementMessage, type Endorsement, type EndorsementFields } from "./endorsement.ts";
import { generateKey, manufacturerId, signMessage, type P256Key, type P256Signature, type PublicKey } from "./keys.ts";
import { statementMessage } from "./statement.ts";

/** The model that stand-ins are endorsed as: whoever wants hardware refuses it. */
export const SOFTWARE_MODEL: Hex = stringToHex("software", { size: 32 });

/** Stands in for a maker of dongles: holds the key that signs endorsements and statements. */
export class SoftwareManufacturer {
  readonly #key: P256Key;

  constructor(key: P256Key = generateKey()) {
    this.#key = key;
  }

  /** The id to be trusted on chain. */
  get id(): Hex {
    return manufacturerId(this.#key);
  }

  get publicKey(): PublicKey {
    return { x: this.#key.x, y: this.#key.y };
  }

  /** Endorses a device. @param device `deviceId` of its key. */
  endorse(device: Hex, fields: EndorsementFields): Endorsement {
    const signature = signMessage(this.#key, endorsementMessage(device, fields));
    return { ...fields, manufacturer: this.publicKey, signature };
  }

  /** Signs a statement about its own devices. */
  state(statement: Statement): P256Signature {
    return signMessage(this.#key, statementMessage(statement));
  }
}
