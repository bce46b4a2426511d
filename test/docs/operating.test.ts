import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { irisBytes } from "../../testkit/models/iris.ts";
import { refute } from "../cli/refute.ts";

describe("docs/operating.md", () => {
  const page = readFileSync("docs/operating.md", "utf8");
  let folder: string;
  before(() => void (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("tinyModelAndItsInput_areThereByItsLines_andRun", async () => {
    const [lines] = /(?<=\n\n) {4}cp [^]*?(?=\n\n)/.exec(page)!;
    execFileSync("sh", ["-c", lines.replaceAll("node_modules/refute-ml", process.cwd())], { cwd: folder });
    const at = (name: string) => join(folder, name);
    expect(readFileSync(at("model.onnx")).equals(irisBytes("x", "y"))).to.equal(true);
    const { status, output } = await refute(["run", at("model.onnx"), "--input", `x=${at("x.json")}`, "--json"]);
    expect(status, output).to.equal(0);
    const { outputs } = JSON.parse(output) as { outputs: { values: number[][] }[] };
    const [setosa, ...others] = outputs[0]!.values.flat();
    expect(setosa).to.be.above(0.9);
    expect(others).to.have.length(2);
  });

  it("settingsOfTheService_areThoseOfAWorker", async () => {
    const [text] = /(?<=\n\n) {4}\{\n {6}"rpcUrl"[^]*?\n {4}\}/.exec(page)!;
    const file = join(folder, "worker.json");
    writeFileSync(file, text.replace("0x...", `0x${"11".repeat(20)}`));
    const { status, output } = await refute(["config", "worker", "--config", file]);
    expect(status, output).to.equal(0);
    expect(output).to.contain(join(folder, "worker-key.json"));
  });

  for (const role of ["worker", "watcher", "executor"])
    it(`unit_startsTheCommandOfAnInstalledPackage (${role})`, async () => {
      const unit = readFileSync(`operations/systemd/refute-${role}.service`, "utf8");
      const [, words] = /^ExecStart=\/usr\/bin\/node node_modules\/\.bin\/refute (.*) --config /m.exec(unit)!;
      const { status, output } = await refute([...words!.split(" "), "--help"]);
      expect(status, output).to.equal(0);
      expect(output).to.contain("--models");
    });
});
