import { expect } from "chai";
import { UsageError } from "../../src/cli/errors.ts";
import { outputFiles } from "../../src/cli/decoded.ts";
import { inputFiles } from "../../src/cli/inputs.ts";
import { address } from "../../src/cli/parse.ts";
import { boundTensors } from "../../src/model/onnx/inputs/boundTensors.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";

const MARKET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

describe("values that users give", () => {
  it("anAddress_hasOneForm_howeverItsCapitalsAreWritten", () => {
    for (const text of [MARKET, MARKET.toLowerCase()]) expect(address(text, "--market")).to.equal(MARKET);
    expect(() => address(MARKET.replace("aA", "Aa"), "--market")).to.throw(UsageError, /a digit is wrong/);
  });

  it("nameWithAnEqualsSign_isTheLongestThatFits", () => {
    const inputs = ["a", "a=b"].map((name) => ({ name, dtype: DType.float32, shape: [1] }));
    const node = { op: "Sum", inputs: ["a", "a=b"], outputs: ["y"] };
    const model = readModel(buildModel({ inputs, outputs: [{ name: "y", dtype: DType.float32 }], nodes: [node] }));
    const files = inputFiles(model, ["a=b=r.json", "a=s=t.npy"]);
    expect([...files]).to.deep.equal([
      ["a=b", "r.json"],
      ["a", "s=t.npy"],
    ]);
    expect(() => inputFiles(model, ["c=b=r.json"])).to.throw(UsageError, "no input c");
    const alone = { ...model, graph: { ...model.graph, inputs: model.graph.inputs.slice(1) } };
    expect(() => boundTensors(alone, { a: "b=r.json" })).to.throw(/^r\.json: cannot be read/);
    expect([...boundTensors(model, { "a=b": [1] }).keys()]).to.deep.equal(["a=b"]);
  });

  it("twoOutputs_doNotGoToOneFile", () => {
    const names = describeProgram(runProgram()).outputs.map(({ name }) => name);
    const [first, second] = names;
    expect([...outputFiles(names, [`${first}=a.npy`, `${second}=b.npy`]).values()]).to.deep.equal(["a.npy", "b.npy"]);
    expect(() => outputFiles(names, [`${first}=a.npy`, `${second}=./x/../a.npy`])).to.throw(
      UsageError,
      /another output goes to this file/,
    );
  });
});
