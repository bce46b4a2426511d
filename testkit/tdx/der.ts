/** Writes DER, for certificates and lists of the tests' own. */

/** A value with a tag. */
export function tlv(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const digits = [length >> 16, (length >> 8) & 0xff, length & 0xff].filter((_, k) => length >> (16 - 8 * k) > 0);
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 | digits.length, ...digits];
  return Buffer.concat([Buffer.from(head), body]);
}

export const sequence = (...content: Uint8Array[]): Buffer => tlv(0x30, ...content);

/** An INTEGER that is not negative. */
export function integer(value: bigint | number): Buffer {
  const digits = BigInt(value).toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return tlv(0x02, bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}

/** An OBJECT IDENTIFIER, such as "2.5.4.3". */
export function oid(text: string): Buffer {
  const [a, b, ...rest] = text.split(".").map(Number) as [number, number, ...number[]];
  const base128 = (n: number): number[] => {
    const digits = [n & 0x7f];
    for (let high = Math.floor(n / 128); high > 0; high = Math.floor(high / 128)) digits.unshift(0x80 | (high & 0x7f));
    return digits;
  };
  return tlv(0x06, Buffer.from([40 * a + b, ...rest.flatMap(base128)]));
}

export const octets = (content: Uint8Array): Buffer => tlv(0x04, content);
export const bits = (content: Uint8Array): Buffer => tlv(0x03, Buffer.of(0), content);
export const flag = (): Buffer => tlv(0x01, Buffer.of(0xff));

/** A time, unix seconds: UTCTime up to 2049, GeneralizedTime from then on. */
export function time(seconds: number): Buffer {
  const text = new Date(seconds * 1_000).toISOString().replace(/[-:T]|\.\d{3}/g, "");
  return text < "2050" ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

/** A name with a common name, as Intel's are. */
export const intelName = (commonName: string): Buffer =>
  sequence(
    namePart("2.5.4.3", commonName),
    namePart("2.5.4.10", "Intel Corporation"),
    namePart("2.5.4.7", "Santa Clara"),
    namePart("2.5.4.8", "CA"),
    namePart("2.5.4.6", "US", 0x13),
  );

/** A part of a name. @param type Its identifier. */
export const namePart = (type: string, value: string, tag = 0x0c): Buffer =>
  tlv(0x31, sequence(oid(type), tlv(tag, Buffer.from(value))));
