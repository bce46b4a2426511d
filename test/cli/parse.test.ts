import { expect } from "chai";
import { UsageError } from "../../src/cli/errors.ts";
import { outputFiles } from "../../src/cli/decoded.ts";
import { address } from "../../src/cli/parse.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";

const MARKET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

describe("values that users give", () => {
  it("anAddress_hasOneForm_howeverItsCapitalsAreWritten", () => {
    for (const text of [MARKET, MARKET.toLowerCase()]) expect(address(text, "--market")).to.equal(MARKET);
    expect(() => address(MARKET.replace("aA", "Aa"), "--market")).to.throw(UsageError, /a digit is wrong/);
  });

  it("twoOutputs_doNotGoToOneFile", () => {
    const program = describeProgram(runProgram());
    const [first, second] = program.outputs.map(({ name }) => name);
    expect([...outputFiles(program, [`${first}=a.npy`, `${second}=b.npy`]).values()]).to.deep.equal(["a.npy", "b.npy"]);
    expect(() => outputFiles(program, [`${first}=a.npy`, `${second}=./x/../a.npy`])).to.throw(
      UsageError,
      /another output goes to this file/,
    );
  });
});
