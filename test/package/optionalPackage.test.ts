import { expect } from "chai";
import { createRequire } from "node:module";
import {
  MissingPackageError,
  requirePackages,
  withPackages,
  withPackagesSync,
} from "../../src/base/optionalPackage.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("optional packages", function () {
  const require = createRequire(import.meta.url);
  const missing: string = "onnxruntime-missing";

  it("allMissingPackages_areNamedInOneError_withOneCommand", () => {
    expect(() => requirePackages(["hardhat", missing, "typescript", "@refute/none"], "this test")).to.throw(
      MissingPackageError,
      `this test needs the packages ${missing}, @refute/none: npm install ${missing} @refute/none`,
    );
    expect(() => requirePackages(["hardhat", "onnxruntime-node"], "this test")).to.not.throw();
  });

  it("packageThatIsMissing_isNamed_withTheCommandThatInstallsIt", async function () {
    const error = await rejection(withPackages([missing, "hardhat"], "this test", () => import(missing)));
    expect(error).to.be.instanceOf(MissingPackageError);
    expect(error.message).to.match(
      /^this test needs the package onnxruntime-missing: npm install onnxruntime-missing$/,
    );
    expect(() => withPackagesSync([missing], "this test", () => require(`${missing}/a.js`) as unknown)).to.throw(
      MissingPackageError,
      "npm install onnxruntime-missing",
    );
  });

  it("otherFailures_areThrownAsTheyAre", async function () {
    const defect = new TypeError("a defect");
    expect(await rejection(withPackages([missing], "this test", () => Promise.reject(defect)))).to.equal(defect);
    const other = await rejection(withPackages(["hardhat"], "this test", () => import(missing)));
    expect(other).to.have.property("code", "ERR_MODULE_NOT_FOUND");
  });
});
