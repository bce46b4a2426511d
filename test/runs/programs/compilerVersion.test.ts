import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { COMPILER_ROOMS, compilerVersion } from "../../../src/runs/programs/cacheKey.ts";

/** The rooms of `src` from which values are imported, directly or by way of others, types left out. */
function roomsBelow(...files: string[]): Set<string> {
  const seen = new Set<string>();
  for (const file of files) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)(?! type)[^;]*?from "(\.[^"]+)"/gm);
    for (const [, path] of imports) files.push(normalize(join(dirname(file), path!)));
  }
  return new Set([...seen].map((file) => file.split("/")[1]!));
}

describe("the version of the compiler, in the key of the cache of programs", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "refute-rooms-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it("changesWithEachRoomOfTheCompiler", () => {
    for (const room of COMPILER_ROOMS) {
      mkdirSync(join(folder, room, "inner"), { recursive: true });
      writeFileSync(join(folder, room, "inner", "code.ts"), `export const room = "${room}";\n`);
    }
    const root = pathToFileURL(`${folder}/`);
    const versions = new Set([compilerVersion(root)]);
    for (const room of COMPILER_ROOMS) {
      writeFileSync(join(folder, room, "inner", "code.ts"), "export const room = undefined;\n");
      versions.add(compilerVersion(root));
    }
    expect(versions.size).to.equal(COMPILER_ROOMS.length + 1);
  });

  it("hasEveryRoomThatTheCompilerImports", () => {
    const rooms = roomsBelow("src/compiler/compile.ts", "src/compiler/wraps/modelSpec.ts");
    expect([...rooms].sort()).to.deep.equal([...COMPILER_ROOMS].sort());
  });

  it("readsTheRoomsWhereTheyAre", () => {
    for (const room of COMPILER_ROOMS) expect(existsSync(join("src", room)), room).to.equal(true);
    const own = compilerVersion(pathToFileURL(`${process.cwd()}/src/`));
    const packed = compilerVersion(pathToFileURL(`${folder}/`));
    expect(own).not.to.equal(packed);
  });
});
