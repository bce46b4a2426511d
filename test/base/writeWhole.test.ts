import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { writeWholeSync } from "../../src/base/writeWhole.ts";

describe("files that are written whole or not at all", function () {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("newFile_andAnEarlierOne_areReplaced_withTheirMode_andNothingElseIsLeft", function () {
    const path = join(folder, "a");
    writeWholeSync(path, "one");
    chmodSync(path, 0o600);
    writeWholeSync(path, new Uint8Array([116, 119, 111]));
    expect(readFileSync(path, "utf8")).to.equal("two");
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder)).to.deep.equal(["a"]);
  });

  it("longestName_isWrittenToo", function () {
    const path = join(folder, "a".repeat(255));
    for (const text of ["one", "two"]) writeWholeSync(path, text);
    expect(readFileSync(path, "utf8")).to.equal("two");
    expect(readdirSync(folder)).to.have.length(1);
  });

  it("failure_leavesTheEarlierFile_andNoOther", function () {
    const path = join(folder, "a");
    writeFileSync(path, "one");
    // The file system refuses what is no data, as it does what finds no room.
    expect(() => writeWholeSync(path, { length: 1 } as unknown as Uint8Array)).to.throw();
    expect(readFileSync(path, "utf8")).to.equal("one");
    expect(readdirSync(folder)).to.deep.equal(["a"]);
    expect(() => writeWholeSync(join(folder, "no", "b"), "x")).to.throw(/ENOENT/);
  });

  it("link_goesOnToLeadToTheFile_andADeviceIsWrittenDirectly", function () {
    writeFileSync(join(folder, "a"), "one");
    symlinkSync(join(folder, "a"), join(folder, "link"));
    writeWholeSync(join(folder, "link"), "two");
    expect(readFileSync(join(folder, "a"), "utf8")).to.equal("two");
    writeWholeSync("/dev/null", "three");
    expect(statSync("/dev/null").isFile()).to.equal(false);
  });
});
