import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Loads onnxruntime and has the library refuse a model. */
const CODE = `
  const { nativeSession } = await import(${JSON.stringify(resolve("src/executor/engine/binding.ts"))});
  try { nativeSession(new Uint8Array(9), {}); } catch (error) { console.log(error.message); }`;

describe("onnxruntime", () => {
  it("reportsNothing_andWritesNoIdOfTheDevice", function () {
    const folder = mkdtempSync(join(tmpdir(), "refute-"));
    try {
      const names = ["CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS"];
      const inherited = Object.entries(process.env).filter(([name]) => !names.includes(name));
      const env = { ...Object.fromEntries(inherited), XDG_CACHE_HOME: folder, HOME: folder };
      const args = ["--input-type=module", "-e", CODE];
      const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      expect(stdout, stderr).to.match(/protobuf/);
      expect(readdirSync(folder)).to.not.include("Microsoft");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
