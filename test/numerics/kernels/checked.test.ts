import { expect } from "chai";
import { checked, OtherKernelsError, VARIANT } from "../../../src/numerics/kernels/checked.ts";
import { KERNEL_HASHES } from "../../../src/numerics/kernels/kernelHashes.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { currentKernelHashes } from "../../../testkit/numerics/kernels/kernelHashes.ts";

describe("hashes of the kernels", function () {
  this.timeout(60_000);

  itAtLength("committedHashes_areThoseOfTheCode_inEachVariant", () => {
    // `npm run write -- kernels` writes them.
    expect(KERNEL_HASHES).to.deep.equal(currentKernelHashes());
  });

  it("otherBytes_areRefused_byTheNameOfThePart", () => {
    const other = (): unknown => checked("tables", new Uint8Array(8));
    expect(other).to.throw(OtherKernelsError, /tables.*not those that were tested.*install Refute again/);
    expect(other).to.throw(KERNEL_HASHES.tables[VARIANT]);
  });
});
