import { expect } from "chai";
import { printable, printableJson, stackLines, table } from "../../src/base/text.ts";

describe("text from outside", () => {
  it("whatATerminalDoesNotShow_standsAsAnEscape", () => {
    const shown: Record<string, string> = {
      "\x1b]52;c;aGk=\x07": "\\x1b]52;c;aGk=\\x07",
      "\x1b[2J": "\\x1b[2J",
      "a\r\nrefute: ok": "a\\r\\nrefute: ok",
      "\x00\x7f\x9b\t": "\\x00\\x7f\\x9b\\t",
      "\u202egnp\u2066\u200b\ufeff\u2028\u2029": "\\u202egnp\\u2066\\u200b\\ufeff\\u2028\\u2029",
      "\ud800 \u{e0041}": "\\ud800 \\u{e0041}",
    };
    for (const [text, expected] of Object.entries(shown)) expect(printable(text)).to.equal(expected);
  });

  it("whatItShows_remains", () => {
    for (const text of ["conv_1/Relu:0", "Größe 好 🙂 é", "C:\\path", ""]) expect(printable(text)).to.equal(text);
    expect(printable(printable("\x1b[2J"))).to.equal(printable("\x1b[2J"));
  });

  it("longText_isCut_withAnEllipsis", () => {
    expect(printable("x".repeat(10), 10)).to.equal("x".repeat(10));
    expect(printable("x".repeat(11), 10)).to.equal(`${"x".repeat(9)}…`);
    expect(printable("\x1b".repeat(1e6), 10)).to.have.length(10);
    expect(printable("x".repeat(1e6))).to.have.length.below(300_000);
  });

  it("json_staysTheSameValue_onItsLines", () => {
    const value = { name: "\x1b\x9b\u202e\u2028\n\u{e0041}", list: [1, 2] };
    const json = printableJson(JSON.stringify(value, null, 2));
    expect(JSON.parse(json)).to.deep.equal(value);
    expect(json).to.match(/^[\x20-\x7e\n]*$/);
    expect(json.split("\n")).to.have.length(7);
  });

  it("tableCell_takesOneLine_andIsCut", () => {
    const [row] = table([["a\nb", "x".repeat(1e5)]]);
    expect(row).to.match(/^a\\nb {2}x+…$/);
    expect(row).to.have.length.below(2_000);
  });

  it("stackLines_leaveTheMessageOut", () => {
    const lines = stackLines(new Error("first\nat forged (line)"));
    expect(lines.length).to.be.greaterThan(0);
    for (const line of lines)
      expect(line)
        .to.match(/^ {4}at /)
        .and.not.contain("forged");
  });
});
