import { readFileSync } from "node:fs";
import { expect } from "chai";
import { BaseError, ContractFunctionRevertedError } from "viem";
import { Circuit } from "../../../src/circuits/circuit.ts";
import { CircuitRefusalError, SpanError } from "../../../src/circuits/errors.ts";
import type { Fixed } from "../../../src/circuits/fixed.ts";
import { roundToFloat32 } from "../../../src/circuits/rounding.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";
import { bytesByBuild, bytesLine, bytesSentence, codeOf, keptBytes } from "../../../tools/verify/proofs/bytes.ts";
import type { Call } from "../../../tools/verify/proofs/compared.ts";
import { hasHole } from "../../../tools/verify/proofs/prove.ts";
import { changedStatements, STATEMENTS } from "../../../tools/verify/proofs/statements.ts";
import { changedFunctions, FROM_IR, MODELLED } from "../../../tools/verify/proofs/modelled.ts";
import { SENTENCE, THEOREMS } from "../../../tools/verify/proofs/theorems.ts";
import { asText, GOLDEN, VECTORS, type ModelWords } from "../../../tools/verify/proofs/vectors.ts";

const flat = (text: string): string => text.replace(/\s+/g, " ");

describe("what is proven about the arithmetic", function () {
  this.timeout(120_000);

  const golden = JSON.parse(readFileSync(GOLDEN, "utf8")) as ModelWords;
  const open = async (): Promise<Call> => {
    const { viem } = await createCallChain();
    type Reader = { read: Record<string, (args: readonly unknown[]) => Promise<unknown>> };
    const reader = (contract: unknown): Reader => contract as Reader;
    const harnesses: Record<string, Reader> = {
      Float32Harness: reader(await viem.deployContract("Float32Harness")),
      FloatHarness: reader(await viem.deployContract("FloatHarness")),
      MerkleHarness: reader(await viem.deployContract("MerkleHarness")),
      ViewHarness: reader(await viem.deployContract("ViewHarness")),
    };
    return (contract, name, args) =>
      harnesses[contract]!.read[name]!(args).catch((error: unknown) => {
        const cause =
          error instanceof BaseError ? error.walk((each) => each instanceof ContractFunctionRevertedError) : null;
        if (cause === null) throw error;
        return undefined;
      });
  };

  it("bytecode_givesTheModelsWords", async () => {
    const call = await open();
    expect(Object.keys(golden)).to.deep.equal(Object.keys(VECTORS));
    for (const [name, { play }] of Object.entries(VECTORS))
      expect(asText(await play(call)), name).to.equal(golden[name]);
  });

  it("roundingsBeyondTheTheorem_areRefused", () => {
    const round = (length: number, unit: number, coarser?: number): Fixed => {
      const circuit = new Circuit(0);
      const linear = circuit.wire(() => 0n);
      const high = (1n << BigInt(length)) - 1n;
      return roundToFloat32(circuit, { linear, unit, low: 0n, high }, coarser === undefined ? coarser : unit + coarser);
    };
    for (const [length, unit, coarser] of [
      [138, -149, undefined],
      [225, -149, 174],
      [30, 97, undefined],
    ] as const)
      expect(round(length, unit, coarser).linear.size).to.be.greaterThan(0);
    for (const [length, unit, coarser] of [
      [139, -149, undefined],
      [225, -149, 173],
      [30, -150, undefined],
    ] as const)
      expect(() => round(length, unit, coarser), `${length}`).to.throw(SpanError);
    expect(() => round(30, 98)).to.throw(CircuitRefusalError);
  });

  it("vectors_haveEveryKindOfWord", () => {
    const sums = Object.keys(golden).filter((name) => name.startsWith("ExactSum"));
    for (const names of [sums, ...["mul", "add", "sub", "div"].map((each) => [`Float32.${each}`])]) {
      const words = names.flatMap((name) => golden[name]!.split(" ")).map((digits) => parseInt(digits, 16));
      const kinds = new Set(
        words.map((word) => [word >>> 31, Math.sign(((word >>> 23) & 0xff) - 255), word & 0x7f800000 ? 1 : 0].join()),
      );
      // numbers, subnormals and infinities of both signs; the zero and the NaN count with the positive ones
      expect(kinds.size, names.join()).to.equal(6);
      expect(words).to.include.members([0, 0x7fc00000]);
    }
  });

  it("functions_areThoseThatWereModelled", () => {
    expect(changedFunctions()).to.deep.equal([]);
  });

  for (const [library, functions] of Object.entries(MODELLED)) {
    it(`changeOf_${library}_isFound`, () => {
      for (const name of Object.keys(functions).filter((each) => each !== "constants")) {
        const edited = (path: string): string =>
          readFileSync(path, "utf8").replace(new RegExp(`((function ${name}\\(|struct ${name} )[^{]*\\{)`), "$1 ;");
        const found = changedFunctions((path) =>
          path.endsWith(`/${library}.sol`) ? edited(path) : readFileSync(path, "utf8"),
        );
        expect(found.join("\n"), name).to.match(new RegExp(`^${library}\\.${name} is \\w+, but \\w+ was modelled$`));
      }
    });
  }

  it("constants_areThoseThatWereModelled", () => {
    const edited = (path: string): string =>
      readFileSync(path, "utf8").replace(/(constant (FLOAT64|FAR|FLAG_NAN|FRACTION_BITS|INFINITY) =) /g, "$1 1 + ");
    expect(changedFunctions(edited).map((each) => each.split(" ")[0])).to.have.members(
      ["DType", "Float", "ExactSum", "Format", "Float32"].map((library) => `${library}.constants`),
    );
  });

  it("functionsFromIr_haveModelsAndTheorems", () => {
    const pinned = readFileSync(STATEMENTS, "utf8");
    for (const [library, names] of Object.entries(FROM_IR))
      for (const name of names) {
        expect(MODELLED[library], name).to.have.property(name);
        expect(pinned).to.match(new RegExp(`^Theorem ${name}_ir : .* ${library}_${name} .* = `, "m"));
        expect(pinned).to.match(new RegExp(`^Definition float32_ir := \\(.*\\b${name}_ir\\b`, "m"));
      }
  });

  it("statements_arePinned", () => {
    expect(changedStatements()).to.deep.equal([]);
  });

  const weaker: readonly (readonly [string, string, string])[] = [
    ["Dot", "length terms) <= 2 ^ 80 ->", "length terms) <= 2 ^ 8 ->"],
    [
      "Mul",
      "Theorem mul_correct : forall a b, is_word (a, b) ->",
      "Theorem mul_correct : forall a b, a = 0 -> is_word (a, b) ->",
    ],
    ["Format", "isFinite w = true /\\ realOf w = rounded x /\\ w <> SIGN", "isFinite w = true"],
    ["Format", "Definition isNaN (w : Z) : bool :=", "Definition isNaN (w : Z) : bool := true ||"],
    ["RoundTo", "Hypothesis Hmw' : mw <= 64.", "Hypothesis Hmw' : mw <= 6."],
    ["Products", "Definition is_word (t : Z * Z) : Prop :=", "Definition is_word (t : Z * Z) : Prop := fst t = 1 /\\"],
    ["Sum", "Notation real32 := (realOf 23 8 P23 P8 PM).", "Notation real32 := (fun _ => 0%R)."],
    ["Convert", "Theorem castInteger_correct", "Lemma castInteger_correct"],
    ["Merkle", "In ((a, b), (c, d)) (combine some others) /\\ ", ""],
    ["Bridge", "Float32_add a b = add32 a b.", "Float32_add a a = add32 a a."],
    ["Signed", "Definition slt (a b : Z) := b2z (int a <? int b).", "Definition slt (a b : Z) := b2z (a <? b)."],
    ["Evm", "Definition add (a b : Z) := (a + b) mod W.", "Definition add (a b : Z) := a + b."],
  ];
  for (const [file, from, to] of weaker) {
    it(`weakerStatement_${file}_${from.split(" ").slice(0, 2).join("_")}_isFound`, () => {
      const found = changedStatements((path) => {
        const text = readFileSync(path, "utf8");
        if (path !== `proofs/${file}.v`) return text;
        expect(text).to.include(from);
        return text.replace(from, () => to);
      });
      expect(found.join("\n")).to.include(STATEMENTS);
    });
  }

  it("proofs_areNotPinned", () => {
    const shorter = (path: string): string => {
      const text = readFileSync(path, "utf8");
      return path.startsWith("proofs/") ? text.replace(/Proof\. [^]*? Qed\./g, "Proof. trivial. Qed.") : text;
    };
    expect(changedStatements(shorter)).to.deep.equal([]);
  });

  it("holes_areFound", () => {
    expect(hasHole("Lemma a : 1 = 2. Admitted.")).to.equal(true);
    expect(hasHole("Axiom a : 1 = 2.")).to.equal(true);
    expect(hasHole("(* an Axiom of Coq *) Lemma a : 1 = 1. Proof. reflexivity. Qed.")).to.equal(false);
  });

  it("pages_haveTheTable", () => {
    const page = flat(readFileSync("docs/security.md", "utf8"));
    for (const { name, file, says } of THEOREMS) expect(page).to.include(`- \`${file}.${name}\`: ${says}`);
    const line = (library: string, names: readonly string[]): string =>
      `- \`${library}\`: ${names.map((name) => `\`${name}\``).join(", ")}`;
    for (const [library, functions] of Object.entries(MODELLED))
      expect(page).to.include(line(library, Object.keys(functions)));
    for (const [library, names] of Object.entries(FROM_IR)) expect(page).to.include(`${line(library, names)} Refused`);
    for (const [name, figures] of Object.entries(keptBytes())) expect(page).to.include(`- ${bytesLine(name, figures)}`);
    expect(flat(readFileSync("README.md", "utf8"))).to.include(`${SENTENCE} ${bytesSentence(keptBytes())}`);
  });

  it("bytes_areThoseOfTheDeployedVerifier", () => {
    const kept = keptBytes();
    for (const [name, { code }] of Object.entries(kept)) expect(code, name).to.equal(codeOf(name));
    // A checkout without a build of its own has no source maps.
    expect(bytesByBuild() ?? kept).to.deep.equal(kept);
  });
});
