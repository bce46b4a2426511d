import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { refute } from "./refute.ts";

const PAGE = readFileSync("docs/quickstart.md", "utf8");

/** What other tests execute: `npm run verify -- system package` the audit and a devnet, test/cli quotes and jobs. */
const ELSEWHERE = ["model", "devnet", "job", "submit"];

describe("docs/quickstart.md", () => {
  const folder = mkdtempSync(join(tmpdir(), "quickstart-"));
  after(() => rmSync(folder, { recursive: true }));

  it("commandsThatNeedNoChain_doWhatThePageSays", async () => {
    copyFileSync("examples/model.onnx", join(folder, "model.onnx"));
    const [, input] = /^ {4}echo '(.+)' > x\.json$/m.exec(PAGE)!;
    writeFileSync(join(folder, "x.json"), input!);
    const commands = [...PAGE.matchAll(/^ {4}npx refute-ml (.+)$/gm)].map(([, line]) => line!.split(" "));
    const here = commands.filter(([name]) => !ELSEWHERE.includes(name!));
    expect(here.map(([name]) => name)).to.deep.equal(["check", "run"]);
    for (const args of here) {
      const paths = args.map((arg) => arg.replace(/[\w.]+\.(?:onnx|json)$/, (file) => join(folder, file)));
      const { status, output } = await refute(paths);
      expect(status, output).to.equal(0);
    }
  });
});
