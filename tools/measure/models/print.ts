import { startChainVerifier } from "../../../src/examine/audit/chainVerifier.ts";
import type { Comparison } from "../../../src/examine/compare/compare.ts";
import { table } from "../../../src/base/text.ts";
import type { CatalogueModel } from "../../../testkit/models/catalogue.ts";
import { examine, type Examination } from "../../../testkit/models/examine.ts";

const HEAD = [
  "model",
  "operators",
  "steps",
  "checkpoints",
  "parameters",
  "onnxruntime",
  "audit",
  "step proof",
  "dispute",
  "compile, run s",
];

/**
 * Returns true if plain onnxruntime differs because the first differing value is quantised and fell to the neighbouring
 * step: float32 sums are rounded, and a value near the middle between two steps falls otherwise. Everything before
 * agrees.
 */
const quantisedOtherwise = ({ firstDifferent }: Comparison): boolean =>
  firstDifferent !== undefined &&
  firstDifferent.operator.endsWith("QuantizeLinear") &&
  firstDifferent.difference.ulps === undefined &&
  firstDifferent.difference.absolute <= 1;

function agreement(comparison: Comparison): string {
  const { firstDifferent } = comparison;
  if (firstDifferent === undefined) return "agrees";
  return quantisedOtherwise(comparison) ? `one step of ${firstDifferent.name}` : "DIFFERS";
}

const row = ({ name, operators, model, comparison, audit, dispute, seconds }: Examination): string[] => {
  const { program } = model;
  const worst = comparison.outputs.map((output) => ("shape" in output ? Infinity : output.absolute));
  return [
    name,
    String(operators),
    String(program.steps.length),
    String(program.checkpoints.length),
    String([...model.constants.values()].reduce((sum, { length }) => sum + length, 0)),
    `${agreement(comparison)}, ${Math.max(...worst).toExponential(1)}`,
    `${audit.agreements}/${audit.samples}${audit.clean ? "" : " NOT CLEAN"}`,
    String(program.maxStepGas),
    `${dispute.transactions} tx, ${dispute.gas}`,
    `${seconds.compile.toFixed(1)}, ${seconds.execute.toFixed(1)}`,
  ];
};

/**
 * Examines models and prints a table; each row as it is found, on stderr.
 * @returns the rows by column, and whether nothing stands against any
 */
export async function printModels(models: readonly CatalogueModel[], samples: number) {
  const verifier = await startChainVerifier();
  const rows: string[][] = [];
  let clean = true;
  for (const one of models) {
    const result = await examine(one, verifier, samples);
    const { audit, comparison } = result;
    clean &&= audit.clean && (comparison.firstDifferent === undefined || quantisedOtherwise(comparison));
    rows.push(row(result));
    console.error(rows.at(-1)!.join("  "));
  }
  await verifier.close();
  console.log(table([HEAD, ...rows]).join("\n"));
  const byColumn = rows.map(
    (cells) => Object.fromEntries(cells.map((cell, k) => [HEAD[k]!, cell])) as Record<string, string>,
  );
  return { rows: byColumn, clean };
}
