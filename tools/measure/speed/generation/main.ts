/** Measures the time per token: plain onnxruntime, exact execution, with commitments. */
import { chosen, file, list, readOptions } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import { DECODERS, generationRow, type GenerationRow } from "./generationRow.ts";

/** Slots of the decoders' caches, and how many tokens are generated: the exact time of each is the same. */
const TEXTS = [
  { slots: 64, tokens: 40 },
  { slots: 1_024, tokens: 16 },
];

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));

const values = readOptions({
  models: list("decoders to measure", Object.keys(DECODERS)),
  json: file("a file for the figures"),
});
const decoders = chosen(values.models, DECODERS, "decoder");
const rows: GenerationRow[] = [];
for (const [name] of decoders)
  for (const { slots, tokens } of TEXTS) rows.push(await generationRow(name, slots, tokens));
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
keepFigures(values.json, { generation: rows });
