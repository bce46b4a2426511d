import { ProgramFormatError } from "./errors.ts";

/** Writes big-endian fields one after the other. */
export class ByteWriter {
  #bytes: number[] = [];

  unsigned(value: number | bigint, bytes: number): this {
    const v = BigInt(value);
    if (v < 0n || v >= 1n << BigInt(8 * bytes))
      throw new ProgramFormatError(`${v} does not fit ${bytes} unsigned bytes`);
    for (let k = bytes - 1; k >= 0; k--) this.#bytes.push(Number((v >> BigInt(8 * k)) & 0xffn));
    return this;
  }

  signed(value: number | bigint, bytes: number): this {
    const v = BigInt(value);
    const half = 1n << BigInt(8 * bytes - 1);
    if (v < -half || v >= half) throw new ProgramFormatError(`${v} does not fit ${bytes} signed bytes`);
    return this.unsigned(BigInt.asUintN(8 * bytes, v), bytes);
  }

  raw(bytes: Uint8Array): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Reads big-endian fields one after the other; running past the end is an error. */
export class ByteReader {
  #at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  raw(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) {
      throw new ProgramFormatError(`truncated: needs ${end} bytes, has ${this.#bytes.length}`);
    }
    const out = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return out;
  }

  big(bytes: number): bigint {
    return this.raw(bytes).reduce((v, byte) => (v << 8n) | BigInt(byte), 0n);
  }

  unsigned(bytes: number): number {
    const v = this.big(bytes);
    if (v > BigInt(Number.MAX_SAFE_INTEGER)) throw new ProgramFormatError(`${v} is larger than any count`);
    return Number(v);
  }

  signedBig(bytes: number): bigint {
    return BigInt.asIntN(8 * bytes, this.big(bytes));
  }

  signed(bytes: number): number {
    return Number(this.signedBig(bytes));
  }

  /** Requires that all bytes have been read: an encoding has one form only. */
  finish(): void {
    if (this.#at !== this.#bytes.length) {
      throw new ProgramFormatError(`${this.#bytes.length - this.#at} bytes follow the end`);
    }
  }
}
