import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { FileError, readRegularFile, withRegularFile } from "../../src/base/regularFile.ts";

describe("regular files", () => {
  let folder: string;
  const path = (name: string): string => join(folder, name);
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-file-"))));
  after(() => rmSync(folder, { recursive: true }));

  it("wholeFile_isRead", () => {
    writeFileSync(path("whole"), "abc");
    expect(Buffer.from(readRegularFile(path("whole"))).toString()).to.equal("abc");
  });

  it("linkToAFile_isRead", () => {
    writeFileSync(path("target"), "abc");
    symlinkSync(path("target"), path("link"));
    expect(readRegularFile(path("link"))).to.have.length(3);
  });

  it("missingFile_isRefused", () => {
    expect(() => readRegularFile(path("absent"))).to.throw(FileError, "is missing");
  });

  it("folder_isRefused", () => {
    expect(() => readRegularFile(folder)).to.throw(FileError, "is a folder, not a regular file");
  });

  // Nobody writes to the pipe: who opens it in the usual way waits for ever.
  it("pipe_isRefusedAtOnce", () => {
    execFileSync("mkfifo", [path("pipe")]);
    expect(() => readRegularFile(path("pipe"))).to.throw(FileError, "is a pipe");
  });

  it("device_isRefused", () => {
    for (const device of ["/dev/zero", "/dev/tty", "/dev/null"])
      expect(() => readRegularFile(device), device).to.throw(FileError);
  });

  it("socket_isRefused", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path("socket"), resolve));
    try {
      expect(() => readRegularFile(path("socket"))).to.throw(FileError, "is a socket");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("fileLargerThanAllowed_isRefused_beforeItIsRead", () => {
    writeFileSync(path("sparse"), "");
    truncateSync(path("sparse"), 60 * 2 ** 30);
    expect(() => readRegularFile(path("sparse"))).to.throw(FileError, "has 64424509440 bytes, at most 2147483648");
  });

  it("moreMemoryThanThereIs_isRefused", () => {
    writeFileSync(path("small"), "abc");
    const whole = (): Uint8Array => withRegularFile(path("small"), ({ read }) => read(0, 2 ** 52));
    expect(whole).to.throw(FileError, "bytes of memory");
  });

  it("fileThatBecomesShorter_isRefused", () => {
    writeFileSync(path("shrinking"), new Uint8Array(100));
    const read = (): Uint8Array =>
      withRegularFile(path("shrinking"), (file) => {
        truncateSync(path("shrinking"), 10);
        return file.read(0, file.size);
      });
    expect(read).to.throw(FileError, "ends at byte 10: it became shorter");
  });

  it("fileOutsideItsFolder_isRefused_behindLinksToo", () => {
    mkdirSync(path("inner"));
    writeFileSync(path("outside"), "abc");
    writeFileSync(path("inner/inside"), "abc");
    symlinkSync(path("outside"), path("inner/link"));
    symlinkSync(folder, path("inner/up"));
    const read = (name: string): number => withRegularFile(path(`inner/${name}`), ({ size }) => size, path("inner"));
    expect(read("inside")).to.equal(3);
    for (const name of ["link", "up/outside", "../outside"])
      expect(() => read(name), name).to.throw(FileError, "outside the folder");
  });
});
