import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runFolder } from "../../src/examine/conform/runFolder.ts";
import { unpackCases } from "../../testkit/onnx/packedCases.ts";

/** Cases of ONNX 1.22 (Apache-2.0), chosen by `npm run write -- cases`: what no older set of cases has. */
const PACKED = new URL("../golden/onnxCases.br", import.meta.url);

describe("cases of ONNX 1.22", () => {
  it("allPass", async () => {
    const folder = mkdtempSync(join(tmpdir(), "onnx-cases-"));
    try {
      const names = unpackCases(readFileSync(PACKED), folder);
      const results = await runFolder(folder);
      expect(results.length).to.equal(names.length);
      const others = results.filter(({ kind }) => kind !== "passed");
      expect(others.map(({ name, kind, detail }) => `${name}: ${kind}: ${detail}`)).to.deep.equal([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
