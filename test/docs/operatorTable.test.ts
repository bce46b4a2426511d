import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { decodeModel } from "../../src/model/onnx/decodeModel.ts";
import { unpackCases } from "../../testkit/onnx/packedCases.ts";
import { REFUSED } from "../../src/compiler/table/refused.ts";
import { OPERATORS_PAGE, operatorsPage } from "../../tools/write/operatorsPage.ts";
import { OPERATOR_TABLE, operatorTable, TAKEN } from "../../testkit/operators/operatorTable.ts";

describe("table of operators", () => {
  it("isWhatTheCodeSays", async () => {
    expect(readFileSync(OPERATOR_TABLE, "utf8"), "npm run write -- operators").to.equal(await operatorTable());
  });

  it("listsOfThePage_areWhatTheCodeSays", async () => {
    expect(readFileSync(OPERATORS_PAGE, "utf8"), "npm run write -- operators").to.equal(await operatorsPage());
  });

  it("hasEachOperatorOnce", () => {
    const names = [...TAKEN, ...REFUSED].map(({ domain, operator }) => `${domain}.${operator}`);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("hasTheOperatorsOfTheCasesOfOnnx", () => {
    const known = new Set([...TAKEN, ...REFUSED].map(({ domain, operator }) => `${domain}.${operator}`));
    const folder = mkdtempSync(join(tmpdir(), "operator-table-"));
    try {
      for (const name of unpackCases(readFileSync("test/golden/onnxCases.br"), folder)) {
        const { graph } = decodeModel(readFileSync(join(folder, name, "model.onnx")), name);
        for (const { domain, opType } of graph!.node)
          expect(known, name).to.include(`${domain === "ai.onnx" ? "" : domain}.${opType}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
