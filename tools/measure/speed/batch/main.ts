/** Measures the time per batch item: plain onnxruntime, and exact execution with commitment. */
import { file, readOptions } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import { batchRow, type BatchRow } from "./batchRow.ts";

const BATCHES: readonly (readonly [model: string, items: number])[] = [
  ["ppocr2_cls", 100],
  ["ppocr4_rec", 20],
];

const cell = (value: number, digits = 2): number => Number(value.toFixed(digits));

const values = readOptions({ json: file("a file for the figures") });
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
keepFigures(values.json, { batch: rows });
