import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect } from "chai";
import { parseBinding, parseCarry, parseDrawn, parseShape, readModels } from "../../src/cli/models.ts";
import { carriedByName } from "../../src/compiler/runWiring.ts";
import { UsageError } from "../../src/cli/errors.ts";
import { outputFiles } from "../../src/cli/decoded.ts";
import { inputFiles } from "../../src/cli/inputs.ts";
import { address } from "../../src/cli/parse.ts";
import { bindingsByName, boundTensors } from "../../src/model/onnx/inputs/boundTensors.ts";
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

  it("namesOfCarriedInputsAndOutputs_mayHaveEqualsSigns", () => {
    const value = (name: string) => ({ name, dtype: DType.float32, shape: [1] });
    const { graph } = readModel(
      buildModel({
        inputs: ["a", "a=b", "s"].map(value),
        outputs: ["y", "b=y", "t=u"].map(value),
        nodes: ["y", "b=y", "t=u"].map((name) => ({ op: "Sum", inputs: ["a", "a=b", "s"], outputs: [name] })),
      }),
    );
    const carried = (...flags: string[]) =>
      carriedByName(graph, { carried: Object.fromEntries(flags.map(parseCarry)) }).carried;
    expect(carried("a=b=y", "s=t=u")).to.deep.equal({ "a=b": "y", s: "t=u" });
    expect(carried("a=y")).to.deep.equal({ a: "y" });
    expect(carried("a=b=b=y")).to.deep.equal({ "a=b": "b=y" });
    expect(carried("a=none=such")).to.deep.equal({ "a=none": "such" });
    expect(() => parseCarry("a=")).to.throw(UsageError, "INPUT=OUTPUT");
  });

  it("bindingsOfFiles_withOneBeginning_areAllKept", () => {
    const bind = Object.fromEntries(["a=b=r.npy", "a=c=t.npy", "d=/x/p=q.npy"].map(parseBinding));
    expect(bindingsByName(["a=b", "a=c", "d"], bind)).to.deep.equal([
      ["a=b", "r.npy"],
      ["a=c", "t.npy"],
      ["d", "/x/p=q.npy"],
    ]);
  });

  it("sizesThatNoTensorHas_areRefusedAsTheyAreWritten", () => {
    for (const size of ["4294967296", "99999999999999999999"]) {
      expect(() => parseShape(`x=1,${size}`)).to.throw(UsageError, `the size ${size} is 2^32 or more`);
      expect(() => parseDrawn(`x[${size}]=0:1`)).to.throw(UsageError, `the size ${size} is 2^32 or more`);
    }
  });

  it("pathsInAModelsFile_areRelativeToTheFile", () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-"));
    const file = join(folder, "models.json");
    writeFileSync(file, JSON.stringify([{ path: "m/a.onnx", bind: { x: "x.npy", n: 3 } }, { path: "/b.onnx" }]));
    const [first, second] = readModels(relative(process.cwd(), file));
    rmSync(folder, { recursive: true });
    expect(first).to.deep.include({ path: join(folder, "m/a.onnx"), bind: { x: join(folder, "x.npy"), n: 3 } });
    expect(second).to.have.property("path", "/b.onnx");
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
