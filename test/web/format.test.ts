import { expect } from "chai";
import { ago, amount, clock, counted, grouped, short, shown, time } from "../../web/format.ts";

describe("web: texts and figures", () => {
  it("textFromOutside_hasNoInvisibleCharacters", () => {
    expect(shown("a\u202eb\u0000c\nd\u200b\ud800")).to.equal("a\\u202eb\\x00c\\nd\\u200b\\ud800");
    expect(shown("<img src=x onerror=alert(1)>")).to.equal("<img src=x onerror=alert(1)>");
    expect(shown("x".repeat(1_000))).to.have.length(200);
  });

  it("whatIsNoHash_isEscapedToo", () => {
    expect(short("\u202e")).to.equal("\\u202e");
    expect(short(`0x${"ab".repeat(32)}`)).to.equal("0xababab…abab");
  });

  it("amounts_areGrouped_andNeverRoundedToNone", () => {
    const cases: [bigint, string][] = [
      [0n, "0"],
      [1n, "< 0.000001"],
      [10n ** 18n, "1"],
      [1_234_567n * 10n ** 18n + 5n * 10n ** 16n, "1,234,567.05"],
      [123_456_789_012n * 10n ** 7n, "1.234567"],
    ];
    for (const [units, text] of cases) expect(amount(units)).to.equal(text);
  });

  it("clocks_countInSecondsToDays", () => {
    const cases: [number, string][] = [
      [-5, "0:00"],
      [65, "1:05"],
      [3_661, "1:01:01"],
      [90_061, "1 d 01:01:01"],
    ];
    for (const [seconds, text] of cases) expect(clock(seconds)).to.equal(text);
  });

  it("ages_areInTheirLargestUnit", () => {
    expect([-1, 59, 60, 7_200, 86_400, 200_000].map(ago)).to.deep.equal([
      "0 s",
      "59 s",
      "1 min",
      "2 h",
      "1 day",
      "2 days",
    ]);
  });

  it("times_areInUtc_andImpossibleOnesAreNone", () => {
    expect(time(0n)).to.equal("1970-01-01 00:00:00");
    expect(time(2n ** 64n - 1n)).to.equal("never");
  });

  it("counts_haveTheirNoun", () => {
    expect([counted(1, "job"), counted(12_345, "job")]).to.deep.equal(["1 job", "12,345 jobs"]);
    expect(grouped(-1_234n)).to.equal("-1,234");
  });
});
