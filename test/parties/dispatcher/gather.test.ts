import { expect } from "chai";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cutBatch } from "../../../src/parties/dispatcher/batch.ts";
import { DispatchOutputError } from "../../../src/parties/dispatcher/errors.ts";
import { requireWritable } from "../../../src/parties/dispatcher/gather.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

describe("files of a batch's outputs", () => {
  const batch = cutBatch({ program: runProgram(), inputs: runInputBytes(2), items: 2, partItems: 2 });
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-gather-"))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const check = (path: string): void => requireWritable(batch, new Map([[0, path]]));

  it("whatCannotBecomeAFile_isRefusedBeforeAnythingIsPaid", () => {
    mkdirSync(join(folder, "taken.npy"));
    expect(() => check(join(folder, "taken.npy"))).to.throw(DispatchOutputError, /taken.npy.*no regular file/);
    const missing = join(folder, "missing", "y.npy");
    expect(() => check(missing)).to.throw(DispatchOutputError, /the folder .*missing is missing/);
  });

  it("theCheck_leavesNothingBehind_andTouchesNoOtherFile", () => {
    const [path, other] = [join(folder, "y.npy"), join(folder, "y.npy.partial")];
    for (const file of [path, other]) writeFileSync(file, "mine");
    check(path);
    check(join(folder, "new.npy"));
    expect(readdirSync(folder).sort()).to.deep.equal(["y.npy", "y.npy.partial"]);
    for (const file of [path, other]) expect(readFileSync(file, "utf8")).to.equal("mine");
    expect(existsSync(join(folder, "new.npy"))).to.equal(false);
  });
});
