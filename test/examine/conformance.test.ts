import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { countKinds, runFolder } from "../../src/examine/conform/runFolder.ts";
import { AT_LENGTH } from "../../testkit/atLength.ts";

/** The ONNX backend tests, as Debian packages them. */
const ROOT = "/usr/share/libonnx-testdata/data";

/**
 * Cases that are wrong themselves. This one's model leaves out the epsilon of its outputs; that of ONNX 1.22 has it.
 */
const WRONG = new Set(["test_adam_multiple"]);

describe("ONNX backend tests", () => {
  for (const suite of ["node", "simple"]) {
    it(`${suite}_noWrongAnswer`, async function () {
      const folder = join(ROOT, suite);
      if (!existsSync(folder)) {
        console.log("      skipped: the Debian package libonnx-testdata is not installed");
        return this.skip();
      }
      // Every second case; at length the others.
      const results = await runFolder(folder, undefined, (_, k) => (k % 2 === 0) !== AT_LENGTH);
      const failed = results.filter(({ kind, name }) => kind === "failed" && !WRONG.has(name));
      expect(failed.map(({ name, detail }) => `${name}: ${detail}`)).to.deep.equal([]);
      const { passed, refused } = countKinds(results);
      console.log(`      ${suite}: ${passed} passed, ${refused} refused by name, 0 failed`);
      expect(passed).to.be.above(0);
    });
  }
});
