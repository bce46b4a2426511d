import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runCase } from "../../test-support/conformance.ts";

/** The ONNX backend tests, as Debian packages them. */
const ROOT = "/usr/share/libonnx-testdata/data";

describe("ONNX backend tests", () => {
  for (const suite of ["node", "simple"]) {
    it(`${suite}_noWrongAnswer`, function () {
      const folder = join(ROOT, suite);
      if (!existsSync(folder)) {
        console.log("      skipped: the Debian package libonnx-testdata is not installed");
        return this.skip();
      }
      const results = readdirSync(folder).map((name) => ({ name, ...runCase(join(folder, name)) }));
      const wrong = results.filter((result) => result.kind === "wrong");
      expect(wrong.map(({ name, detail }) => `${name}: ${detail}`)).to.deep.equal([]);
      const right = results.filter((result) => result.kind === "right").length;
      console.log(`      ${suite}: ${right} right, ${results.length - right} refused by name, 0 wrong`);
      expect(right).to.be.above(0);
    });
  }
});
