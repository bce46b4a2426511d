import { encodeAbiParameters, hexToBytes, type Hex } from "viem";
import { generateKey, keyId, signMessage, type P256Key, type P256Signature } from "./keys.ts";

/** A manufacturer's signature that a device key is one of its own. */
export type Endorsement = { manufacturer: Pick<P256Key, "x" | "y">; signature: P256Signature };

/** Stands in for a maker of dongles: holds the key that endorses device keys. */
export class SoftwareManufacturer {
  readonly #key: P256Key;

  constructor(key: P256Key = generateKey()) {
    this.#key = key;
  }

  /** The id to be trusted on chain. */
  get id(): Hex {
    return keyId(this.#key);
  }

  /** Endorses a device key: a signature over `abi.encode("refute device 1", x, y)`. */
  endorse({ x, y }: Pick<P256Key, "x" | "y">): Endorsement {
    const types = [{ type: "string" }, { type: "bytes32" }, { type: "bytes32" }] as const;
    const message = hexToBytes(encodeAbiParameters(types, ["refute device 1", x, y]));
    return { manufacturer: { x: this.#key.x, y: this.#key.y }, signature: signMessage(this.#key, message) };
  }
}
