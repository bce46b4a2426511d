// Every model of the catalogue: compiled, executed, compared with plain onnxruntime, audited on a chain in this process.
//   npm run models [-- --only NAME,NAME] [--all] [--samples N] [--json FILE]
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startChainVerifier } from "../../src/cli/audit/chainVerifier.ts";
import { table } from "../../src/cli/text.ts";
import { CATALOGUE, LARGE } from "../../test-support/models/catalogue.ts";
import { examine, type Examination } from "../../test-support/models/examine.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    all: { type: "boolean", default: false },
    samples: { type: "string", default: "32" },
    json: { type: "string" },
  },
});
const only = values.only?.split(",");
const everything = [...CATALOGUE, ...LARGE];
const models =
  only !== undefined ? everything.filter(({ name }) => only.includes(name)) : values.all ? everything : CATALOGUE;

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

const row = ({ name, operators, model, comparison, audit, dispute, seconds }: Examination): string[] => {
  const { program } = model;
  const worst = comparison.outputs.map((output) => ("shape" in output ? Infinity : output.absolute));
  return [
    name,
    String(operators),
    String(program.steps.length),
    String(program.checkpoints.length),
    String([...model.constants.values()].reduce((sum, { length }) => sum + length, 0)),
    `${comparison.firstDifferent === undefined ? "agrees" : "DIFFERS"}, ${Math.max(...worst).toExponential(1)}`,
    `${audit.agreements}/${audit.samples}${audit.clean ? "" : " NOT CLEAN"}`,
    String(program.maxStepGas),
    `${dispute.transactions} tx, ${dispute.gas}`,
    `${seconds.compile.toFixed(1)}, ${seconds.execute.toFixed(1)}`,
  ];
};

const verifier = await startChainVerifier();
const found: Examination[] = [];
for (const one of models) {
  const result = await examine(one, verifier, Number(values.samples));
  found.push(result);
  console.error(row(result).join("  "));
}
await verifier.close();
const rows = found.map(row);
console.log(table([HEAD, ...rows]).join("\n"));
if (values.json !== undefined)
  writeFileSync(
    values.json,
    JSON.stringify(
      rows.map((cells) => Object.fromEntries(cells.map((cell, k) => [HEAD[k]!, cell])) as Record<string, string>),
      null,
      2,
    ),
  );
if (found.some(({ audit, comparison }) => !audit.clean || comparison.firstDifferent !== undefined))
  process.exitCode = 1;
