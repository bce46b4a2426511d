import { expect } from "chai";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LogCache } from "../../src/chain/logCache.ts";

describe("LogCache", function () {
  let folder: string;
  let warnings: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    warnings = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const cacheOf = (owner = "watcher", content = "a model", inFolder = folder): LogCache<unknown> =>
    new LogCache({ folder: inFolder, owner: [owner], content: [content], warn: (reason) => warnings.push(reason) });
  const file = (): string => join(folder, readdirSync(folder)[0]!);
  const STATE = { seen: [{ number: 2n ** 70n, hash: "0xab" }], dropped: undefined, logs: [{ args: { data: "0x00" } }] };

  it("whatWasSaved_isLoaded", async function () {
    expect(await cacheOf().load()).to.equal(undefined);
    await cacheOf().save({ old: true });
    await cacheOf().save(STATE);
    expect(await cacheOf().load()).to.deep.equal(STATE);
    expect(readdirSync(folder)).to.have.length(1);
    expect(warnings).to.deep.equal([]);
  });

  it("folderThatIsMissing_isMade", async function () {
    const inner = join(folder, "a", "b");
    await cacheOf("watcher", "a model", inner).save(STATE);
    expect(await cacheOf("watcher", "a model", inner).load()).to.deep.equal(STATE);
  });

  it("stateThatCannotBeSerialised_isNoError_andLeavesTheOldOne", async function () {
    await cacheOf().save(STATE);
    await cacheOf().save(() => undefined);
    expect(warnings).to.have.length(1);
    expect(await cacheOf().load()).to.deep.equal(STATE);
  });

  it("othersFile_isNotUsed_andOneOfOtherContentIsReplaced", async function () {
    await cacheOf().save(STATE);
    expect(await cacheOf("worker").load()).to.equal(undefined);
    expect(await cacheOf("watcher", "two models").load()).to.equal(undefined);
    await cacheOf("watcher", "two models").save(STATE);
    expect(await cacheOf().load()).to.equal(undefined);
    expect(readdirSync(folder)).to.have.length(1);
    expect(warnings).to.deep.equal([]);
  });

  it("anyChangedByteAndAnyMissingEnd_areNoticed_withOneWarning", async function () {
    await cacheOf().save(STATE);
    const path = file();
    const bytes = readFileSync(path);
    for (let k = 0; k < bytes.length; k++) {
      const changed = Buffer.from(bytes);
      changed[k]! ^= 1 << (k % 8);
      for (const damaged of [changed, bytes.subarray(0, k)]) {
        writeFileSync(path, damaged);
        warnings = [];
        expect(await cacheOf().load(), `byte ${k}`).to.equal(undefined);
        expect(warnings).to.have.length(1);
      }
    }
    await cacheOf().save(STATE);
    expect(await cacheOf().load()).to.deep.equal(STATE);
  });

  it("folderThatIsNone_orMayNotBeWritten_givesOneWarningAndNoError", async function () {
    const none = join(folder, "file");
    writeFileSync(none, "");
    const noFolder = cacheOf("watcher", "a model", none);
    expect(await noFolder.load()).to.equal(undefined);
    for (let k = 0; k < 3; k++) await noFolder.save(STATE);
    expect(warnings).to.have.length(1);
    // What is in the file's place cannot be replaced.
    await cacheOf().save(STATE);
    const path = join(
      folder,
      readdirSync(folder).find((name) => name !== "file")!,
    );
    rmSync(path);
    mkdirSync(join(path, "full"), { recursive: true });
    warnings = [];
    const cache = cacheOf();
    expect(await cache.load()).to.equal(undefined);
    for (let k = 0; k < 3; k++) await cache.save(STATE);
    expect(warnings).to.have.length(1);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).to.deep.equal([]);
  });

  it("writersAtOnce_leaveOneWholeState", async function () {
    const states = Array.from({ length: 20 }, (_, k) => ({ text: String(k).repeat(100_000) }));
    await Promise.all(states.map((state) => cacheOf().save(state)));
    expect(states).to.deep.include(await cacheOf().load());
    expect(readdirSync(folder)).to.have.length(1);
    expect(warnings).to.deep.equal([]);
  });

  it("halfWrittenFilesOfKilledProcesses_areRemoved_whenTheyAreOld", async function () {
    await cacheOf().save(STATE);
    const [old, recent] = [`${file()}.1.tmp`, `${file()}.2.tmp`];
    for (const path of [old, recent]) writeFileSync(path, "half");
    utimesSync(old, 0, 0);
    expect(await cacheOf().load()).to.deep.equal(STATE);
    expect([existsSync(old), existsSync(recent)]).to.deep.equal([false, true]);
  });

  it("file_isOnlyForItsOwner", async function () {
    await cacheOf().save(STATE);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
  });
});
