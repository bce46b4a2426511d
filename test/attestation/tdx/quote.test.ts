import { expect } from "chai";
import { QuoteFormError } from "../../../src/attestation/tdx/errors.ts";
import { splitQuote } from "../../../src/attestation/tdx/quote.ts";
import { realQuote } from "../../../testkit/tdx/realQuote.ts";

describe("quotes of Intel TDX", () => {
  it("splitQuote_refusesWhatIsNone_byName", () => {
    for (const bytes of [0, 10, 60, 700, 1_260, 3_000])
      expect(() => splitQuote(realQuote().subarray(0, bytes)), String(bytes)).to.throw(QuoteFormError);
    const behind = realQuote();
    behind[behind.length - 1] = 1;
    expect(() => splitQuote(behind)).to.throw(QuoteFormError, "behind its certificates");
  });
});
