import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { draw } from "../../../tools/verify/mutate/draw.ts";
import { nameOf } from "../../../tools/verify/mutate/verdicts.ts";
import { compiledIr, translate } from "../../../tools/verify/proofs/ir.ts";
import { modelledMutants, reasons } from "../../../tools/verify/proofs/mutants.ts";
import { FROM_IR, MODELLED } from "../../../tools/verify/proofs/modelled.ts";

const NAMES = new Map([
  ["1", "Library_double"],
  ["2", "Library_other"],
]);

/** What the translator says of functions. */
const translated = (code: string) => translate(["Library_double"], { code: `\n${code}`, names: NAMES });
const refusal = (body: string): string | undefined =>
  translated(`function fun_double_1(a, b) -> c { ${body} }`).refused["Library_double"];

describe("the translator of intermediate code", function () {
  this.timeout(120_000);

  it("functionsOfWords_areDefinedBehindTheirCallees", () => {
    const { text, defined, refused } = translated(`
      function fun_double_1(a) -> c { /// "a comment"
        if eq(a, 0x10) { c := half$of(a) leave }
        c := add(a, a)
      }
      function half$of(value) -> half { half := shr(1, value) }`);
    expect(refused).to.deep.equal({});
    expect(defined).to.deep.equal(["half$of", "Library_double"]);
    expect(text.replace(/\s+/g, " ")).to.include(
      "Definition half'of (value : Z) : Z := let half := 0 in let half := (shr 1 value) in half. " +
        "Definition Library_double (a : Z) : Z := let c := 0 in " +
        "if (eq a 16) =? 0 then let c := (add a a) in c else let c := (half'of a) in c.",
    );
  });

  it("branchesWithoutLeave_giveWhatTheyChange", () => {
    const { text } = translated(`function fun_double_1(a) -> c, d {
      let x := a
      switch a case 0 { let y := 7 x := y d := 1 } case 2 { x := 3 } default { }
      c := x
    }`);
    expect(text.replace(/\s+/g, " ")).to.include(
      "let '(x, d) := (if a =? 0 then let y := 7 in let x := y in let d := 1 in (x, d) " +
        "else if a =? 2 then let x := 3 in (x, d) else (x, d)) in let c := x in (c, d).",
    );
  });

  const refused: readonly (readonly [string, string])[] = [
    ["for { } lt(a, b) { } { c := a }", "the word for"],
    ["c := mload(a)", "the built-in function mload"],
    ["mstore(a, b) c := a", "a call of mstore without a result"],
    ["if a { revert(0, 0) }", "a call of revert without a result"],
    ["c := staticcall(gas(), 2, a, 64, 0, 32)", "the built-in function staticcall"],
    ['c := linkersymbol("a")', 'the text "a"'],
    ["c := sdiv(a, b)", "the built-in function sdiv"],
    ["c := fun_missing_3(a)", "the built-in function fun_missing_3"],
    ["c = a", "= where := stands"],
  ];
  for (const [body, reason] of refused) {
    it(`${body}_isRefused`, () => {
      expect(refusal(body)).to.include(reason);
    });
  }

  it("aFunctionThatCallsARefusedOne_isRefused", () => {
    const { defined, refused } = translated(`
      function fun_double_1(a) -> c { c := fun_other_2(a) }
      function fun_other_2(a) -> c { c := sload(a) }`);
    expect(defined).to.deep.equal([]);
    expect(refused["Library_double"]).to.equal("the built-in function sload in sload");
  });

  it("theContractsFunctions_areTranslated", () => {
    const wanted = Object.entries(FROM_IR).flatMap(([library, names]) => names.map((name) => `${library}_${name}`));
    const others = ["Float32_div", "Float_add", "Format_fractionBits", "ExactSum_addProducts"];
    const { defined, refused } = translate([...wanted, ...others], compiledIr());
    expect(defined).to.include.members(wanted);
    for (const name of others) expect(refused).to.have.property(name);
  });
});

describe("mutants of the modelled functions", () => {
  const copy = {
    files: () => globSync("contracts/{verifier,merkle}/*.sol"),
    read: (file: string) => readFileSync(file, "utf8"),
  };
  const all = modelledMutants(copy);

  it("libraries_haveMutantsOfTheModelledFunctionsAlone", () => {
    expect(all.flatMap(({ mutants }) => mutants)).to.have.length.of.at.least(600);
    for (const { file, source, mutants } of all) {
      const functions = Object.keys(MODELLED[/(\w+)\.sol$/.exec(file)![1]!]!);
      expect(mutants.length === 0, file).to.equal(functions.every((name) => name === "constants"));
      for (const { id } of mutants.slice(0, 5)) expect(source).to.match(new RegExp(`\\b(on|mutant\\w+)\\(${id}\\b`));
    }
  });

  it("survivors_areMutants", () => {
    const names = new Set(all.flatMap(({ mutants }) => mutants.map(nameOf)));
    for (const [name, reason] of Object.entries(reasons())) {
      expect(names).to.include(name);
      expect(reason).to.match(/^(equivalent|outside): /);
    }
  });

  it("aLargerDraw_hasTheMutantsOfASmallerOne", () => {
    const mutants = all.flatMap((each) => each.mutants);
    expect(draw(mutants, 200, 1)).to.include.members(draw(mutants, 50, 1));
  });
});
