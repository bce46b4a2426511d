import { batchRow, type BatchRow } from "./batch.ts";
import { DECODERS, generationRow, type GenerationRow } from "./generation.ts";

/** Slots of the decoders' caches, and how many tokens are generated: the exact time of each is the same. */
const TEXTS = [
  { slots: 64, tokens: 40 },
  { slots: 1_024, tokens: 16 },
];
const BATCHES: readonly (readonly [model: string, items: number])[] = [
  ["ppocr2_cls", 100],
  ["ppocr4_rec", 20],
];

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** Prints what tokens of a generation take. @param models Names of decoders, separated by commas; by default all. */
export async function printGeneration(models = Object.keys(DECODERS).join(",")): Promise<GenerationRow[]> {
  const names = models.split(",");
  const unknown = names.filter((name) => !(name in DECODERS));
  if (unknown.length > 0)
    throw new Error(`no decoder ${unknown.join(", ")}; there are ${Object.keys(DECODERS).join(", ")}`);
  const rows: GenerationRow[] = [];
  for (const name of names) for (const { slots, tokens } of TEXTS) rows.push(await generationRow(name, slots, tokens));
  console.table(
    rows.map((row) => {
      // Over a text that fills all slots, plain onnxruntime's time grows from the first token's to the last one's.
      const plain = (row.plain + row.plainLast) / 2;
      const { processor } = row;
      const plainProcessor = (processor.plain + processor.plainLast) / 2;
      return {
        ...{ model: row.model, slots: row.slots },
        "plain, first ms": cell(row.plain),
        "last ms": cell(row.plainLast),
        "exact ms": cell(row.exact),
        "committed ms": cell(row.committed),
        "in full ms": cell(row.hashedInFull),
        exact: cell(row.exact / plain),
        committed: cell(row.committed / plain),
        "exact, cpu": cell(processor.exact / plainProcessor),
        "committed, cpu": cell(processor.committed / plainProcessor),
        agreeing: `${row.agreeing} of ${row.tokens - 2}`,
      };
    }),
  );
  console.table(
    rows.flatMap((row) =>
      (["changed", "full"] as const).map((kind) => ({
        ...{ model: row.model, slots: row.slots, hashed: kind, MB: cell(row.hashedBytes / 1e6) },
        ...Object.fromEntries(Object.entries(row[kind]).map(([stage, value]) => [`${stage} ms`, cell(value)])),
      })),
    ),
  );
  return rows;
}

/** Prints what an item of a batch takes. */
export async function printBatch(): Promise<BatchRow[]> {
  const rows: BatchRow[] = [];
  for (const [name, items] of BATCHES) rows.push(await batchRow(name, items));
  console.table(
    rows.map(({ model, items, plain, committed, processorRatio }) => ({
      ...{ model, items },
      "plain ms": cell(plain),
      "committed ms": cell(committed),
      committed: cell(committed / plain),
      "committed, cpu": cell(processorRatio),
    })),
  );
  return rows;
}
