import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { networkBytes } from "../../testkit/circuits/networks.ts";
import { refute } from "./refute.ts";

describe("refute zk", () => {
  let folder: string;
  const file = (name: string, data: Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, data);
    return path;
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("check_smallNetwork_saysWhatAProofTakes_exit0", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    const { status, output } = await refute(["zk", "check", path]);
    expect(status).to.equal(0);
    expect(output)
      .to.match(/constraints +\d{4}, in 4096 rows/)
      .and.match(/public values +4: context/)
      .and.match(/h0: 0, or from 2\^-20 on and below 2\^1, of either sign; others have no proof/)
      .and.not.match(/but/);
  });

  it("check_rangeAndBinades_nameTheDomain", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    const { output } = await refute(["zk", "check", path, "--range", "h0=0:255", "--binades", "8", "--json"]);
    const report = JSON.parse(output) as { inputs: string[]; constraints: number };
    expect(report.inputs).to.deep.equal(["h0: 0, or from 2^0 on and below 2^8; others have no proof"]);
    expect(report.constraints).to.be.above(1_000);
  });

  it("check_threeLayers_saysThatRareInputsHaveNoProof", async () => {
    const path = file("deep.onnx", networkBytes([8, 6, 4, 3]));
    const { status, output } = await refute(["zk", "check", path]);
    expect(status).to.equal(0);
    expect(output).to.match(/rare inputs have no proof/);
  });

  it("check_programWithoutACircuit_isRefusedByStep_exit1", async () => {
    const { status, output } = await refute(["zk", "check", file("mlp.onnx", mlpBytes())]);
    expect(status).to.equal(1);
    expect(output).to.match(/no circuit: step \d+ \(Softmax.*circuits do not know exp of float32 yet/);
  });

  it("check_rangeOfNoInput_isRefused", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    expect((await refute(["zk", "check", path, "--range", "y=0:1"])).output).to.include("the model has no input y");
    expect((await refute(["zk", "check", path, "--range", "h0=0:0"])).output).to.include("a range of 0 alone");
  });
});
