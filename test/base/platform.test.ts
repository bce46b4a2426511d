import { expect } from "chai";
import { readFileSync } from "node:fs";
import {
  addonFailure,
  CannotRunHereError,
  FIRST_VERSIONS,
  requirePlatform,
  requireTriedPlatform,
  thisPlatform,
} from "../../src/base/platform.ts";
import type { Platform } from "../../src/base/platform.ts";

const GOOD: Platform = {
  ...{ node: "24.9.0", system: "linux", architecture: "x64", endianness: "LE" },
  ...{ webAssembly: true, vectors: true },
};

function refusal(other: Partial<Platform>): string | undefined {
  try {
    requirePlatform({ ...GOOD, ...other });
  } catch (error) {
    expect(error).to.be.instanceOf(CannotRunHereError).and.to.have.property("code", "CANNOT_RUN_HERE");
    return (error as Error).message;
  }
  return undefined;
}

describe("platform", () => {
  it("versionsOfNode_whoseAddonsTakeSharedMemory_areAccepted", () => {
    for (const node of ["22.21.0", "22.22.1", "24.9.0", "24.21.0", "25.0.0", "26.1.0"])
      expect(refusal({ node }), node).to.equal(undefined);
  });

  it("olderVersionsOfNode_areRefused_withTheVersionsThatServe", () => {
    for (const node of ["18.20.0", "20.20.2", "22.13.0", "22.20.9", "23.11.1", "24.8.0"])
      expect(refusal({ node }), node).to.match(new RegExp(`^Node ${node} .*22\\.21.*24\\.9`));
  });

  it("engines_inPackageJson_promisesTheSame", () => {
    const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { engines: { node: string } };
    const [[line, minor], [newest, first]] = FIRST_VERSIONS as [[number, number], [number, number]];
    expect(engines.node).to.equal(`^${line}.${minor}.0 || >=${newest}.${first}.0`);
  });

  it("thisMachine_isTaken_withItsVectors", () => {
    expect(thisPlatform()).to.include({ webAssembly: true, vectors: true });
  });

  it("machinesThatCannotCompute_areRefusedByName", () => {
    expect(refusal({ endianness: "BE" })).to.match(/big-endian/);
    expect(refusal({ webAssembly: false })).to.match(/--jitless/);
    expect(refusal({ vectors: false })).to.match(/vectors of 128 bits .* SSE 4\.1/);
    expect(refusal({ system: "freebsd" })).to.match(/no library for freebsd x64/);
    expect(refusal({ system: "darwin" })).to.match(/no library for darwin x64/);
    expect(refusal({ architecture: "s390x" })).to.match(/no library for linux s390x/);
  });

  it("systemsThatNobodyTried_areRefusedWhereMoneyIsAtStake", () => {
    requireTriedPlatform(GOOD, "no");
    for (const other of [{ architecture: "arm64" }, { system: "win32" }, { system: "darwin", architecture: "arm64" }]) {
      expect(refusal(other)).to.equal(undefined);
      expect(() => requireTriedPlatform({ ...GOOD, ...other }, "say so")).to.throw(
        CannotRunHereError,
        /not tried.*say so/,
      );
    }
  });

  it("aLibraryThatDoesNotLoad_isNamed_otherErrorsAreNot", () => {
    const musl = Object.assign(new Error("Error loading shared library ld-linux-x86-64.so.2: No such file\nmore"), {
      code: "ERR_DLOPEN_FAILED",
    });
    expect(addonFailure(musl)?.message).to.match(/onnxruntime cannot be loaded: .*No such file; .*glibc/);
    const missing = Object.assign(new Error("Cannot find module '../bin/napi-v6/linux/x64/onnxruntime_binding.node'"), {
      code: "MODULE_NOT_FOUND",
    });
    expect(addonFailure(missing)).to.be.instanceOf(CannotRunHereError);
    expect(addonFailure(Object.assign(new Error("Cannot find module 'viem'"), { code: "MODULE_NOT_FOUND" }))).to.equal(
      undefined,
    );
    expect(addonFailure(new SyntaxError("unexpected"))).to.equal(undefined);
  });
});
