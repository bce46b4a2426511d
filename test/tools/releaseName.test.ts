import { expect } from "chai";
import { judgeName } from "../../tools/release/name.ts";

describe("the name of the package in the registry", () => {
  const judged = (status: number | null, stdout: string) => judgeName("refute-ml", "refute", { status, stdout });
  const error = (code: string): string => JSON.stringify({ error: { code, summary: "words" } });

  it("freeName_andOurOwn_mayBePublished", () => {
    expect(judged(1, error("E404")).kind).to.equal("free");
    expect(judged(0, '{"refute": "dist/src/cli/main.js"}').kind).to.equal("ours");
  });

  it("anothersName_isRefused_alsoOneWithoutAnyCommand", () => {
    for (const stdout of ["", '{"tape": "bin.js"}', '"bin.js"', "null"]) {
      const { kind, what } = judged(0, stdout);
      expect([kind, what]).to.deep.equal([
        "anothers",
        "the registry's package refute-ml is somebody else's: it has no command refute; " +
          'choose another "name" in package.json',
      ]);
    }
  });

  it("registryThatCannotBeAsked_isSaid", () => {
    expect(judged(1, error("ENOTFOUND")).what).to.match(/cannot be asked \(ENOTFOUND\)/);
    expect(judged(null, "").what).to.match(/cannot be asked \(no answer\)/);
  });
});
