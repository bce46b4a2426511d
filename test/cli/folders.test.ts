import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { folderProblem, writeProblem } from "../../src/base/writable.ts";
import { writeWhole } from "../../src/base/writeWhole.ts";
import { cacheProblem } from "../../src/cli/folders.ts";
import { temporaryFolder } from "../../src/deploy/devnet/temporaryFolder.ts";
import { refute } from "./refute.ts";

const MODEL = "examples/iris/model/iris.onnx";

describe("folders that take no files", () => {
  const { path: folder, remove } = temporaryFolder("refute-folders-");
  /** A file where a folder should be: no user may make files in it, not even root. */
  const file = join(folder, "file");
  const below = join(file, "deep", "er");
  const manufacturer = join(folder, "manufacturer.json");
  const input = join(folder, "x.json");
  before(async () => {
    writeFileSync(file, "");
    writeFileSync(input, "[[5.1, 3.5, 1.4, 0.2]]");
    expect((await refute(["device", "stand-in-manufacturer", manufacturer])).status).to.equal(0);
  });
  after(() => remove());

  it("folderProblem_namesTheFolderAtFault_andNoneWhereAFolderCanBeMade", async () => {
    expect(folderProblem(join(folder, "new", "er"))).to.equal(undefined);
    expect(folderProblem(below)).to.equal(`${file} is no folder`);
    expect(writeProblem(join(folder, "x"), Object.assign(new Error(), { code: "ENOSPC" }))).to.match(/full disk/);
    expect(cacheProblem(below)).to.match(/^--cache .*is no folder: name another folder$/);
    if (existsSync("/proc/self/mounts") && /^\S+ \/sys \S+ ro/m.test(readFileSync("/proc/self/mounts", "utf8")))
      expect(folderProblem("/sys/new")).to.equal("the folder /sys lies on a file system that is read-only");
    const written = await writeWhole(join(below, "x"), ".tmp", (path) => writeFile(path, "")).catch((e: Error) => e);
    expect(written).to.include({ message: `${file} is no folder`, code: "ENOTDIR" });
  });

  const place = join(below, "y.npy");
  const iris = [MODEL, "--input", `features=${input}`];
  const commands: [words: string[], status: number][] = [
    [["run", ...iris, "--output", `probabilities=${place}`], 2],
    [["job", "pack", ...iris, "--out", place], 2],
    [["model", "calibrate", MODEL, "--out", place], 2],
    [["devnet", "--folder", below], 2],
    [["device", "stand-in", below, "--manufacturer", manufacturer], 2],
    [["device", "stand-in-manufacturer", place], 2],
    [["device", "dongle", below, "--manufacturer", manufacturer], 2],
    [["account", "key", "new", place], 2],
    [["text", "key", "me", "--keys", place], 2],
  ];
  for (const [words, expected] of commands)
    it(`${words.slice(0, 2).join(" ")}_namesTheFolder_andWhatToDo`, async () => {
      const { status, stderr } = await refute(words, { REFUTE_KEYSTORE_PASSWORD: "correct horse" });
      expect(status, stderr).to.equal(expected);
      expect(stderr)
        .to.include(`${file} is no folder`)
        .and.not.match(/ENO|EACC|EROFS|unexpected/);
    });
});
