/** A small decoder, written here as code. The decoder knows which letter follows which in a short text. */

const TEXT =
  "a worker runs the model and signs what it gives. a watcher runs the model again and shows the chain the one bit " +
  "that is wrong. the chain computes that bit and takes the stake of the liar. so the answer of a stranger is worth " +
  "as much as the answer of a friend, and nobody has to trust the other.\n";
const VOCABULARY = 256;
const SPACE = 32;
/** The line break ends a text. */
export const LETTER_END = 10;

/** Fields of protobuf messages, by the numbers in onnx.proto. */
type Field = readonly [number: number, value: number | string | Uint8Array | readonly Field[]];

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

function message(fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === "number") return Buffer.from([...varint(8 * number), ...varint(value)]);
    const bytes = typeof value === "string" ? Buffer.from(value) : value instanceof Uint8Array ? value : message(value);
    return Buffer.concat([Buffer.from([...varint(8 * number + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

const [FLOAT, INT64] = [1, 7];
const value = (name: string, type: number, shape: readonly (number | string)[]): readonly Field[] => [
  [1, name],
  [
    2,
    [
      [
        1,
        [
          [1, type],
          [2, shape.map((size): Field => [1, [[typeof size === "number" ? 1 : 2, size]]])],
        ],
      ],
    ],
  ],
];
const node = (op: string, inputs: readonly string[], output: string, attribute: readonly Field[] = []): Field => [
  1,
  [
    ...inputs.map((name): Field => [1, name]),
    [2, output],
    [4, op],
    ...(attribute.length > 0 ? [[5, attribute] as Field] : []),
  ],
];
const integer = (name: string, value: number): readonly Field[] => [
  [1, name],
  [3, value],
  [20, 2],
];

/**
 * Returns the model's file. Token t is the byte t. A table of pairs has the logits. The cache has the earlier tokens,
 * because each decoder has a cache.
 */
export function letterModel(): Uint8Array {
  const counts = new Float32Array(VOCABULARY * VOCABULARY);
  const bytes = Buffer.from(TEXT);
  for (const [k, byte] of bytes.entries()) {
    counts[byte * VOCABULARY + bytes[(k + 1) % bytes.length]!]!++;
  }
  // After a byte that the text does not have comes a space.
  for (let byte = 0; byte < VOCABULARY; byte++) if (!bytes.includes(byte)) counts[byte * VOCABULARY + SPACE] = 1;
  // A root is exact: the file has the same bytes on every machine.
  const logits = counts.map((count) => (count === 0 ? -30 : Math.sqrt(count)));
  const shape = new BigInt64Array([1n, 1n, 1n, 1n]);
  const tensor = (name: string, type: number, dims: readonly number[], raw: Uint8Array): Field => [
    5,
    [...dims.map((size): Field => [1, size]), [2, type], [8, name], [9, raw]],
  ];
  const cache = ["key", "value"].flatMap((part): Field[] => [
    node("Cast", ["input_ids"], `${part}.float`, integer("to", FLOAT)),
    node("Reshape", [`${part}.float`, "row"], `${part}.row`),
    node("Concat", [`past_key_values.0.${part}`, `${part}.row`], `present.0.${part}`, integer("axis", 2)),
  ]);
  return message([
    [1, 8],
    [
      8,
      [
        [1, ""],
        [2, 17],
      ],
    ],
    [
      7,
      [
        node("Gather", ["pairs", "input_ids"], "logits", integer("axis", 0)),
        ...cache,
        [2, "letters"],
        tensor("pairs", FLOAT, [VOCABULARY, VOCABULARY], new Uint8Array(logits.buffer)),
        tensor("row", INT64, [4], new Uint8Array(shape.buffer)),
        [11, value("input_ids", INT64, [1, 1])],
        [11, value("attention_mask", INT64, [1, "total"])],
        ...["key", "value"].map((part): Field => [11, value(`past_key_values.0.${part}`, FLOAT, [1, 1, "past", 1])]),
        [12, value("logits", FLOAT, [1, 1, VOCABULARY])],
        ...["key", "value"].map((part): Field => [12, value(`present.0.${part}`, FLOAT, [1, 1, "total", 1])]),
      ],
    ],
  ]);
}

/** Returns the model's `tokenizer.json`: each byte is a token. */
export function letterTokenizer(): object {
  const isShown = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let hidden = 0;
  const vocab = Object.fromEntries(
    Array.from({ length: VOCABULARY }, (_, byte) => [
      String.fromCodePoint(isShown(byte) ? byte : 256 + hidden++),
      byte,
    ]),
  );
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
  return {
    version: "1.0",
    added_tokens: [],
    pre_tokenizer: byteLevel,
    decoder: byteLevel,
    model: { type: "BPE", vocab, merges: [] },
  };
}

/** Returns its `tokenizer_config.json`. */
export const letterConfig = (): object => ({
  chat_template: "{% for message in messages %}{{ message['content'] }} {% endfor %}",
});
